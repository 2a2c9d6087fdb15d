#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of dev bench --int8: each part alone."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from int8_document import command_of  # noqa: E402
from int8_evaluation import INT8, ORT_INT8  # noqa: E402
from int8_page import page  # noqa: E402
from int8_table import rows_of  # noqa: E402
from sides import FP32, ORT  # noqa: E402

COMMON = {"date": "2026-01-01", "command": "./dev bench --int8", "cpu": "CPU: X", "versions": "1.0", "skipped": ["lstm: no such op"]}


def check(status, speed, target, limit=None):
    return {"speed": speed, "low": speed - 0.05, "high": speed + 0.05, "target": target, "limit": limit, "status": status}


SPEED = {**COMMON, "rounds": 5, "round_seconds": 1.0, "seed": 1, "results": [
    {"model": "squeezenet", "trained": True, "scheduling": "ordinary", "ms": {ORT: 6.4, ORT_INT8: 2.6, FP32: 6.2, INT8: 2.0}, "fastest": "qdq u8",
     "candidate_ms": {"qdq u8": 2.6, "qoperator s8": "InvalidGraph: no"}, "sqnr_db": 24.2, "int8_share": 0.985, "discarded_rounds": 2, "disturbed": {"3": ["x: stolen"]},
     "checks": {"fp32": check("PASS", 3.2, 3.1, 3.4), "int8": check("FAIL?", 1.08, 1.1)}}]}
ACCURACY = {**COMMON, "flags": [], "results": [
    {"model": "squeezenet", "samples": 100, "nodes_in_onnxruntime": {"MaxPool": 3, "QLinearConv": 26},
     "nodes_for_runtime": {"QLinearConv": 27}, "onnxruntime_spread": {"": 4, ", --target-runtime onnxruntime": None}, "failed": {"entropy s8": "out of memory"}, "rows": [
        {"file": "fp32", "engine": "ONNX Runtime", "correct": 62, "agreement": 1.0}, {"file": "int8", "engine": "Halftone", "correct": 60, "agreement": 0.97}],
     "checks": [{"what": "correct predictions lost", "value": 2, "target": 1, "met": False}, {"what": "agreement with fp32", "value": 0.97, "target": 0.96, "met": True},
                  {"what": "MACs in int8", "value": None, "target": 0.9, "met": False},
                  {"what": "different classes in ONNX Runtime, --target-runtime onnxruntime", "value": 1, "target": 1, "met": True}]}]}


def node(name, op, types, kernel, us):
    return {"name": name, "op": op, "src_type": types[0], "weights_type": types[1], "dst_type": types[0], "kernel": kernel, "median_us": us}


REPORT = {"environment": {"native_int8": True}, "variants": [
    {"precision": "fp32", "top1_accuracy": 0.99, "labelled_samples": 400, "benchmark": {"median_ms": 0.2, "valid": True, "speedup": {}},
     "nodes": [node("c1", "conv+bias+relu", ("f32", "f32"), "brg:avx512_core", 50.0), node("c2", "conv", ("f32", "f32"), "brg:avx512_core", 30.0)]},
    {"precision": "int8", "top1_accuracy": 0.9875, "labelled_samples": 400, "int8_share": 0.75,
     "benchmark": {"median_ms": 0.1, "valid": True, "speedup": {"median": 2.0, "low": 1.9, "high": 2.1}},
     "nodes": [node("q", "quantize_linear", ("f32", ""), "host", 1.0), node("c1", "conv+bias+relu", ("u8", "s8"), "brg:avx512_core_vnni", 20.0),
               node("c2", "conv", ("f32", "f32"), "brg:avx512_core", 30.0)]}]}


@case("speed: both targets with their status, the candidates, what was not measured")
def _(t):
    text = page({"speed": SPEED})
    for part in ("1 of 2 targets are met", "squeezenet (trained)", "3.20 (3.15 .. 3.25)", "3.1 (3.4)", "FAIL?", "98.5 %", "Not measured: lstm: no such op",
                 "qoperator s8: InvalidGraph", "2 disturbed rounds", "squeezenet, round 3: x: stolen"):
        t.contains(text, part)
    t.check(all(line.count("|") == 15 for line in text.splitlines() if line.startswith("| squeezenet (")), "ragged table")
    t.equal(text.count("Not measured yet."), 2)


@case("accuracy: targets beside values, files beside files")
def _(t):
    text = page({"accuracy": ACCURACY})
    for part in ("2 of 4 targets are met", "| squeezenet | correct predictions lost | 2 | <= 1 | MISSED |", "| agreement with fp32 | 0.9700 | >= 0.9600 | met |",
                 "| MACs in int8 | not known |", "|  | int8 | Halftone | 60 of 100 | 0.6000 | 0.9700 |", "entropy s8: out of memory",
                 "* squeezenet: 26 QLinearConv, 3 MaxPool", "* squeezenet, --target-runtime onnxruntime: 27 QLinearConv",
                 "| different classes in ONNX Runtime, --target-runtime onnxruntime | 1 | <= 1 | met |",
                 "with and without its graph optimizations, same file: squeezenet 4."):
        t.contains(text, part)


@case("the small network: quantized layers against the same in fp32, the whole, the kernels")
def _(t):
    found = rows_of(REPORT)
    t.equal((found["convolutions"], found["int8_convolutions"], [layer["name"] for layer in found["layers"]]), (2, 1, ["c1"]))
    text = page({"table": {**COMMON, "skipped": [], "calibrated": 100, "results": [found]}})
    for part in ("1 of 2 convolutions are int8, 75.0 %", "-0.25 points", "| the 1 quantized layers, us | 50.0 | 20.0 | 2.50 x |",
                 "2.00 x (1.90 .. 2.10)", "`brg:avx512_core_vnni`", "The CPU has VNNI."):
        t.contains(text, part)


@case("the command on the page does not say where results are kept")
def _(t):
    t.equal(command_of("--int8", ["--resume", "--state", "x", "--rounds", "5"]), "./dev bench --int8 --rounds 5")


main()
