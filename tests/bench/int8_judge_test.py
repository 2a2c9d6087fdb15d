#!/usr/bin/env python3
"""The verdicts on int8: speed and accuracy."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from int8_judge import INT8, ORT_INT8, agreement, counted, judge_accuracy, judge_speed  # noqa: E402
from int8_models import NETS, candidates, speed_nets, trained_nets  # noqa: E402
from sides import ORT  # noqa: E402

OTHER_CPU = {"vendor_id": "X"}
ZEN4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "avx512_bf16"}


def times(fp32, int8, ours, rounds=5):
    return {ORT: [fp32 + 0.001 * i for i in range(rounds)], ORT_INT8: [int8 + 0.001 * i for i in range(rounds)], INT8: [ours] * rounds}


@case("speed is judged against fp32 and against ONNX Runtime's own int8 file")
def _(t):
    net = NETS["resnet50"]
    v = judge_speed(net, times(74, 22, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["word"], v["int8"]["word"]), ("PASS", "PASS"))
    t.equal((v["fp32"]["bar"], v["fp32"]["limit"], v["int8"]["bar"]), (3.7, 4.04, 1.1))
    v = judge_speed(net, times(74, 21, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["word"], v["int8"]["word"]), ("PASS", "FAIL"))
    v = judge_speed(net, times(72, 23, 19.9), 20, 1, OTHER_CPU)
    t.equal((v["fp32"]["word"], v["int8"]["word"]), ("FAIL", "PASS"))


@case("a fast wrong answer fails; trained nets are judged by their classes; a slow ONNX Runtime on the reference CPU is void")
def _(t):
    wrong = judge_speed(NETS["resnet50"], times(74, 22, 15), 9.9, 1, OTHER_CPU)
    t.equal((wrong["fp32"]["word"], wrong["int8"]["word"]), ("WRONG", "WRONG"))
    t.equal(judge_speed(NETS["squeezenet"], times(6.4, 2.6, 2), 9.9, 1, OTHER_CPU)["fp32"]["word"], "PASS")
    t.equal(judge_speed(NETS["resnet50"], times(90, 22, 15), 20, 1, ZEN4)["fp32"]["word"], "VOID")


def found(engine, peers, elsewhere=None, share=0.95, for_runtime=None):
    labels = [0, 1, 2, 3] * 25
    return {"labels": labels, "fp32": labels, "engine": engine, "elsewhere": elsewhere, "engine_for_runtime": labels,
            "elsewhere_for_runtime": for_runtime, "peers": peers, "int8_share": share}


def wrong_in(count):
    return [9] * count + ([0, 1, 2, 3] * 25)[count:]


def met(net, facts):
    return {v["what"]: v["met"] for v in judge_accuracy(net, facts)}


@case("one image of 100 may be lost; agreement must reach the best of the three methods; the share counts")
def _(t):
    net = NETS["mobilenet_v2"]
    peers = {"minmax": wrong_in(7), "entropy": wrong_in(1), "percentile": wrong_in(50)}
    others = "other classes in ONNX Runtime"
    good = met(net, found(wrong_in(1), peers, wrong_in(2), for_runtime=wrong_in(1)))
    t.equal(good, {"images lost": True, "agreement with fp32": True, "multiply-adds in int8": True, others: True,
                   f"{others}, --target-runtime onnxruntime": True})
    bad = met(net, found(wrong_in(2), peers, wrong_in(4), share=0.89, for_runtime=wrong_in(2)))
    t.equal(bad, {key: False for key in good})
    t.equal(met(net, found(wrong_in(1), peers, None, share=None, for_runtime=wrong_in(1))),
            {**good, "multiply-adds in int8": False, others: False})


@case("of 5000 digits 10 may be lost, and the quantizer need not be beaten")
def _(t):
    net, labels = NETS["mnist_cnn"], [1] * 5000
    for lost, expected in ((10, True), (11, False)):
        classes = [2] * lost + [1] * (5000 - lost)
        facts = {"labels": labels, "fp32": labels, "engine": classes, "elsewhere": classes, "engine_for_runtime": classes,
                 "elsewhere_for_runtime": classes, "peers": {}, "int8_share": 0.0}
        verdicts = judge_accuracy(net, facts)
        t.equal([v["what"] for v in verdicts], ["images lost", "multiply-adds in int8", "other classes in ONNX Runtime",
                                                "other classes in ONNX Runtime, --target-runtime onnxruntime"])
        t.equal([v["met"] for v in verdicts], [expected, False, True, True], "a file that stayed fp32")
        t.equal(counted(verdicts), (2 + expected, 4))


@case("agreement is a share, and answers of another number of samples are no answers")
def _(t):
    t.equal(agreement([1, 2, 3, 4], [1, 2, 3, 5]), 0.75)
    try:
        agreement([1, 2], [1])
    except ValueError:
        return
    t.check(False, "no error")


@case("each net of the issue has a bar or labels; ONNX Runtime's files are pairs and operators of both types, an LSTM's also dynamic")
def _(t):
    t.equal([n.name for n in speed_nets([])],
            ["resnet50", "vgg16", "bert_base", "mobilenet_v2", "squeezenet", "tiny_darknet", "shufflenet_v2_x1_0", "lstm"])
    t.equal([n.name for n in trained_nets([])], ["mobilenet_v2", "squeezenet", "tiny_darknet", "mnist_cnn"])
    t.equal(candidates(NETS["resnet50"]), [("qdq", "u8"), ("qdq", "s8"), ("operators", "u8"), ("operators", "s8")])
    t.equal(candidates(NETS["lstm"])[-1], ("dynamic", "u8"))


main()
