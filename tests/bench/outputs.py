# SPDX-License-Identifier: Apache-2.0
"""Numerical accuracy of one batch: SQNR of our outputs against ONNX Runtime's. A fast file with wrong outputs must not pass."""

import math
import pathlib
import sys
import tempfile

import numpy

from cores import choose
from programs import HERE, program, run


EQUAL_DB, NONE_DB = 999.0, -999.0  # bit-exact; not comparable


def sqnr_db(reference, output):
    """10 log10(sum ref^2 / sum (ref - x)^2)"""
    if reference.shape != output.shape or not numpy.isfinite(output).all():
        return NONE_DB
    reference, output = reference.astype(numpy.float64), output.astype(numpy.float64)
    noise = numpy.square(reference - output).sum()
    return EQUAL_DB if noise == 0 else 10 * math.log10(max(numpy.square(reference).sum(), 1e-300) / noise)


def file_of(output):
    """The name that `halftone run` gives to the file of an output."""
    return "".join(c if c.isalnum() or c in ".-_" else "_" for c in output)


def of_onnx_runtime(model, samples, scenario, folder):
    out = folder / "onnxruntime.npz"
    run([sys.executable, HERE / "onnxruntime_round.py", model, samples, "--batch", scenario.batch, "--cores", choose(scenario.threads), "--outputs",
         out], f"outputs of ONNX Runtime, {scenario.name}")
    return {file_of(name): array for name, array in numpy.load(out).items()}


def of_halftone(model, samples, scenario, folder):
    inputs = []
    for i, (name, array) in enumerate(numpy.load(samples).items()):
        path = folder / f"input{i}.npy"
        numpy.save(path, array)
        inputs += ["--input", f"{name}={path}"]
    out = folder / model.stem
    run([program("halftone"), "run", model, *inputs, "--fuse", "--threads", scenario.threads, "--out", out,
         "--quiet"], f"outputs of {model.name}, {scenario.name}")
    return {path.stem: numpy.load(path) for path in out.glob("*.npy")}


def fidelity(model, files, samples, scenario):
    """The SQNR of the worst output, in dB, of each of our `files` against ONNX Runtime on `model`."""
    with tempfile.TemporaryDirectory(prefix="halftone-outputs-") as name:
        folder = pathlib.Path(name)
        reference = of_onnx_runtime(model, samples, scenario, folder)
        result = []
        for file in files:
            ours = of_halftone(file, samples, scenario, folder)
            result.append(min(sqnr_db(array, ours[output]) if output in ours else NONE_DB for output, array in reference.items()))
        return result
