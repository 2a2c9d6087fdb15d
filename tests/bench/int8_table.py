#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One small convolutional network in fp32 and int8, layer by layer: the demo's digits.

    dev bench --int8-table [--rounds N] [--round-seconds S] [--markdown results/DATE-CPU-int8.md --json results/DATE-CPU-int8.json]

Calibrated on some of the demo's labelled digits, evaluated on the others. The page has the accuracy, the time of the quantized layers and of
the whole network, the number of int8 convolutions, and their kernels. Nothing else should run on the machine.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy

from int8_document import add_files, command_of, common, write
from evaluation import cpu_facts
from measure import say, wait_for_quiet
from programs import HERE, program, run

MODE = "--int8-table"
DEMO = HERE.parent / "demo" / "models"
CALIBRATED = 100  # digits; the others are evaluated
CONTRACTIONS = ("conv", "matmul", "gemm")
INT8_TYPES = ("u8", "s8")


def parse(arguments):
    parser = argparse.ArgumentParser(prog=f"dev bench {MODE}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="of each file (default: 10)")
    parser.add_argument("--round-seconds", type=float, default=0.6, help="of timed inference (default: 0.6)")
    add_files(parser)
    return parser.parse_args(arguments)


def split(folder):
    arrays = numpy.load(DEMO / "digits_nchw.npz")
    paths = folder / "calibration.npz", folder / "evaluation.npz"
    numpy.savez(paths[0], **{key: arrays[key][:CALIBRATED] for key in arrays})
    numpy.savez(paths[1], **{key: arrays[key][CALIBRATED:] for key in arrays})
    return paths


def is_contraction(node):
    return node["op"].split("+")[0] in CONTRACTIONS


def is_int8(node):
    return node["src_type"] in INT8_TYPES and node["weights_type"] in INT8_TYPES


def base(name):
    """The node name without the suffix that quantization adds: the same in all files."""
    return name.split("/quant")[0]


def rows_of(report):
    """The part's numbers out of report.json. Errors: KeyError, StopIteration if it is not a report with fp32 and int8."""
    fp32, int8 = (next(v for v in report["variants"] if v["precision"] == precision) for precision in ("fp32", "int8"))
    quantized = [node for node in int8["nodes"] if is_contraction(node) and is_int8(node)]
    before = {base(node["name"]): node for node in fp32["nodes"]}
    layers = [{"name": node["name"], "op": node["op"], "int8_us": node["median_us"], "int8_kernel": node["kernel"],
               "types": f"{node['src_type']} x {node['weights_type']} -> {node['dst_type']}",
               "fp32_us": before.get(base(node["name"]), {}).get("median_us"), "fp32_kernel": before.get(base(node["name"]), {}).get("kernel", "")}
              for node in quantized]
    convolutions = [node for node in int8["nodes"] if node["op"].split("+")[0] == "conv"]
    benchmark = int8.get("benchmark") or {}
    return {"layers": layers, "convolutions": len(convolutions), "int8_convolutions": sum(map(is_int8, convolutions)), "int8_share": int8["int8_share"],
            "top1": {"fp32": fp32["top1_accuracy"], "int8": int8["top1_accuracy"]}, "evaluated": int8["labelled_samples"],
            "whole_ms": {"fp32": (fp32.get("benchmark") or {}).get("median_ms"), "int8": benchmark.get("median_ms")},
            "speedup": benchmark.get("speedup"), "valid": benchmark.get("valid"), "why_invalid": benchmark.get("invalid_reasons", [])[:2],
            "vnni": report["environment"].get("native_int8")}


def measure(options):
    with tempfile.TemporaryDirectory(prefix="halftone-int8-") as name:
        folder = pathlib.Path(name)
        calibration, evaluation = split(folder)
        wait_for_quiet()
        run([program("halftone"), "optimize", DEMO / "digits.onnx", "--precision", "int8", "--calibration", calibration, "--eval", evaluation, "--rounds",
             options.rounds, "--round-seconds", options.round_seconds, "--out", folder / "out", "--quiet"], "halftone optimize digits.onnx")
        return rows_of(json.loads((folder / "out" / "report.json").read_text()))


def main(arguments):
    options = parse(arguments)
    if options.page:
        write(options, {})
        return 0
    found = measure(options)
    say(f"{found['int8_convolutions']} of {found['convolutions']} convolutions in int8, {found['whole_ms']}")
    part = {**common(command_of(MODE, arguments), [found], [], cpu_facts()), "calibrated": CALIBRATED}
    write(options, {"table": part})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
