#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples for calibration, and our file as the report names it."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import numpy  # noqa: E402
from harness import case, main  # noqa: E402
from int8_files import Int8Files, read_ours, several  # noqa: E402
from int8_models import NETS  # noqa: E402
from programs import BenchError  # noqa: E402


def folder_with(report):
    folder = tempfile.TemporaryDirectory(prefix="halftone-int8-files-")
    pathlib.Path(folder.name, "report.json").write_text(json.dumps(report))
    return folder


@case("random calibration has whole batches: eight of one sample, two of a hundred steps")
def _(t):
    t.equal([several(dims) for dims in (("N", 3, 224, 224), (1, 3, 224, 224), (100, 50, 128))], [(8, 3, 224, 224), (8, 3, 224, 224), (200, 50, 128)])


@case("random calibration is kept, and is not what is timed")
def _(t):
    with tempfile.TemporaryDirectory(prefix="halftone-int8-files-") as cache:
        files, net = Int8Files(cache), NETS["bert_base"]
        first, second, timed = (numpy.load(path) for path in (files.calibration(net), files.calibration(net), files.timed(net)))
        t.equal(first["input_ids"].shape, (8, 128))
        t.check((first["input_ids"] == second["input_ids"]).all(), "another draw")
        t.equal(timed["input_ids"].shape, (1, 128))
        t.check((first["input_ids"][:1] != timed["input_ids"]).any(), "what is timed was calibrated on")
        t.check((first["attention_mask"] == 1).all(), "a mask with holes")


@case("our file is named after the model, its share is unknown where the report has none")
def _(t):
    for share, expected in ((0.97, 0.97), (-1, None)):
        with folder_with({"variants": [{"precision": "original"}, {"precision": "int8", "int8_share": share, "summary": "s"}]}) as folder:
            ours = read_ours(pathlib.Path(folder), pathlib.Path("/models/net.onnx"))
            t.equal((ours["file"].name, ours["fp32"].name, ours["int8_share"]), ("net.int8.onnx", "net.fp32.onnx", expected))


@case("a report without an int8 file is an error with the report's warnings")
def _(t):
    with folder_with({"variants": [{"precision": "fp32"}], "warnings": ["no ranges for 'x'"]}) as folder:
        try:
            read_ours(pathlib.Path(folder), pathlib.Path("net.onnx"))
        except BenchError as error:
            t.contains(str(error), "no ranges for 'x'")
            return
        t.check(False, "no error")


main()
