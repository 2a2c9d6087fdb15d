#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PASS and FAIL of int8: speed and accuracy."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from int8_evaluation import INT8, ORT_INT8, agreement, counted, evaluate_accuracy, evaluate_speed  # noqa: E402
from int8_models import NETS, candidates, speed_nets, trained_nets  # noqa: E402
from sides import ORT  # noqa: E402

OTHER_CPU = {"vendor_id": "X"}
ZEN4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "avx512_bf16"}


def times(fp32, int8, ours, rounds=5):
    return {ORT: [fp32 + 0.001 * i for i in range(rounds)], ORT_INT8: [int8 + 0.001 * i for i in range(rounds)], INT8: [ours] * rounds}


@case("speed is compared with fp32 and with ONNX Runtime's own int8 file")
def _(t):
    net = NETS["resnet50"]
    v = evaluate_speed(net, times(74, 22, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["status"], v["int8"]["status"]), ("PASS", "PASS"))
    t.equal((v["fp32"]["target"], v["fp32"]["limit"], v["int8"]["target"]), (3.7, 4.04, 1.1))
    v = evaluate_speed(net, times(74, 21, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["status"], v["int8"]["status"]), ("PASS", "FAIL"))
    v = evaluate_speed(net, times(72, 23, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["status"], v["int8"]["status"]), ("FAIL", "PASS"))


@case("fast wrong outputs fail; trained nets are evaluated by their classes; a slow ONNX Runtime on the reference CPU is INVALID")
def _(t):
    wrong = evaluate_speed(NETS["resnet50"], times(74, 22, 15), 9.9, 1, OTHER_CPU)
    t.equal((wrong["fp32"]["status"], wrong["int8"]["status"]), ("WRONG", "WRONG"))
    t.equal(evaluate_speed(NETS["squeezenet"], times(6.4, 2.6, 2), 9.9, 1, OTHER_CPU)["fp32"]["status"], "PASS")
    t.equal(evaluate_speed(NETS["resnet50"], times(90, 22, 15), 20, 1, ZEN4)["fp32"]["status"], "INVALID")


def found(engine, peers, onnxruntime=None, share=0.95, for_runtime=None):
    labels = [0, 1, 2, 3] * 25
    return {"labels": labels, "fp32": labels, "engine": engine, "onnxruntime": onnxruntime, "engine_for_runtime": labels,
            "onnxruntime_for_runtime": for_runtime, "peers": peers, "int8_share": share}


def wrong_in(count):
    return [9] * count + ([0, 1, 2, 3] * 25)[count:]


def met(net, facts):
    return {v["what"]: v["met"] for v in evaluate_accuracy(net, facts)}


@case("one image of 100 may be lost; agreement must reach the best of the three methods; the share counts")
def _(t):
    net = NETS["mobilenet_v2"]
    peers = {"minmax": wrong_in(7), "entropy": wrong_in(1), "percentile": wrong_in(50)}
    others = "different classes in ONNX Runtime"
    good = met(net, found(wrong_in(1), peers, wrong_in(2), for_runtime=wrong_in(1)))
    t.equal(good, {"correct predictions lost": True, "agreement with fp32": True, "MACs in int8": True, others: True,
                   f"{others}, --target-runtime onnxruntime": True})
    bad = met(net, found(wrong_in(2), peers, wrong_in(4), share=0.89, for_runtime=wrong_in(2)))
    t.equal(bad, {key: False for key in good})
    t.equal(met(net, found(wrong_in(1), peers, None, share=None, for_runtime=wrong_in(1))),
            {**good, "MACs in int8": False, others: False})


@case("of 5000 digits 10 may be lost, and the quantizer need not be beaten")
def _(t):
    net, labels = NETS["mnist_cnn"], [1] * 5000
    for lost, expected in ((10, True), (11, False)):
        classes = [2] * lost + [1] * (5000 - lost)
        facts = {"labels": labels, "fp32": labels, "engine": classes, "onnxruntime": classes, "engine_for_runtime": classes,
                 "onnxruntime_for_runtime": classes, "peers": {}, "int8_share": 0.0}
        checks = evaluate_accuracy(net, facts)
        t.equal([v["what"] for v in checks], ["correct predictions lost", "MACs in int8", "different classes in ONNX Runtime",
                                                "different classes in ONNX Runtime, --target-runtime onnxruntime"])
        t.equal([v["met"] for v in checks], [expected, False, True, True], "a file that stayed fp32")
        t.equal(counted(checks), (2 + expected, 4))


@case("agreement is a share, and classes of another number of samples are refused")
def _(t):
    t.equal(agreement([1, 2, 3, 4], [1, 2, 3, 5]), 0.75)
    try:
        agreement([1, 2], [1])
    except ValueError:
        return
    t.check(False, "no error")


@case("each net has a target or labels; ONNX Runtime's files are QDQ and QOperator of both activation types, for an LSTM also dynamic")
def _(t):
    t.equal([n.name for n in speed_nets([])],
            ["resnet50", "vgg16", "bert_base", "mobilenet_v2", "squeezenet", "tiny_darknet", "shufflenet_v2_x1_0", "lstm"])
    t.equal([n.name for n in trained_nets([])], ["mobilenet_v2", "squeezenet", "tiny_darknet", "mnist_cnn"])
    t.equal(candidates(NETS["resnet50"]), [("qdq", "u8"), ("qdq", "s8"), ("qoperator", "u8"), ("qoperator", "s8")])
    t.equal(candidates(NETS["lstm"])[-1], ("dynamic", "u8"))


main()
