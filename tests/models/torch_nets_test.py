#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small networks as PyTorch exports them (torch_nets.py has the table), and models with quirks of the ONNX file format.

Our outputs, unmodified and fused, against PyTorch's; ONNX Runtime's outputs of our fused file against its outputs of PyTorch's file; the bf16
file against onnx.checker, and its outputs against those in f32.
"""

import atexit
import functools
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import Failure, case, main  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = ("numpy", "onnxruntime")  # PyTorch and onnx are asked for in processes of their own: they cannot share one with ONNX Runtime
TOLERANCE = 1e-4  # of the largest magnitude of an output
BF16_TOLERANCE = 0.06

NETS = ["conv1d", "conv3d", "dilated_grouped", "pad_constant", "pad_value", "pad_computed", "pad_reflect", "pad_negative", "max_pools",
        "average_pools", "adaptive_pools", "residual_with_two_users", "two_convs_added", "conv_plus_itself", "conv_is_an_output",
        "conv_and_vectors", "activations", "gelu_and_mish", "clips", "matmuls_and_bias", "linear_and_norm", "shared_weights", "softmaxes",
        "shapes", "upsamplings", "upsampling_to_the_input", "attention", "squeeze_and_excite", "an_output_is_an_input",
        "an_output_is_a_constant", "dropout", "in_place", "inception_block", "lstm", "lstm_both_ways", "gru", "gru_both_ways", "rnn_relu",
        "einsums"]


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


@functools.cache
def exported(script):
    """The folder into which a script of this folder writes its models; made once."""
    folder = tempfile.TemporaryDirectory(prefix="halftone-nets-")
    atexit.register(folder.cleanup)
    run = subprocess.run([sys.executable, HERE / script, folder.name], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{script}: {run.stderr[-1500:]}")
    return pathlib.Path(folder.name)


def session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def file_of(output):
    return "".join(c if c.isalnum() or c in ".-_" else "_" for c in output)


def close(t, actual, expected, tolerance, what):
    import numpy
    t.equal((actual.shape, actual.dtype), (expected.shape, expected.dtype), what)
    if actual.size == 0:
        return
    finite = numpy.isfinite(expected)
    t.check(numpy.array_equal(actual[~finite], expected[~finite], equal_nan=True), f"{what}: infinities or NaNs differ")
    worst = numpy.abs(actual - expected, where=finite, out=numpy.zeros_like(expected)).max()
    scale = numpy.abs(expected, where=finite, out=numpy.zeros_like(expected)).max()
    t.check(worst <= tolerance * scale, f"{what}: max |a - b| = {worst:.3g}, max |b| = {scale:.3g}")


def run_ours(t, path, feed, *flags):
    import numpy
    arguments = []
    for i, (name, array) in enumerate(feed.items()):
        numpy.save(t.folder / f"in{i}.npy", array)
        arguments += ["--input", f"{name}={t.folder / f'in{i}.npy'}"]
    out = t.folder / ("outputs" + "".join(flags))
    run = t.halftone("run", path, *arguments, "--out", out, "--quiet", *flags)
    if run.returncode != 0:
        raise Failure(f"{path.name} {flags}: {run.stderr}")
    return {f.stem: numpy.load(f) for f in out.glob("*.npy")}


def check(t, path, feed, expected=None):
    """`expected`: the outputs in order; None: ONNX Runtime's."""
    import numpy
    original = session(path)
    names = [output.name for output in original.get_outputs()]
    peer = original.run(None, feed)
    expected = peer if expected is None else expected
    for flags in ((), ("--fuse",)):
        ours = run_ours(t, path, feed, *flags)
        for name, value in zip(names, expected):
            close(t, ours[file_of(name)], value, TOLERANCE, f"{name} {flags}")
    samples = []
    if len({value.shape[:1] for value in feed.values()}) == 1 and all(value.ndim for value in feed.values()):
        numpy.savez(t.folder / "samples.npz", **feed)
        samples = ["--eval", t.folder / "samples.npz"]
    _, out = t.optimize(path, "--no-bench", "--allow-emulation", *samples)
    fused = session(out / f"{path.stem}.fp32.onnx")
    t.equal([output.name for output in fused.get_outputs()], names)
    for name, value, before in zip(names, fused.run(None, feed), peer):
        close(t, value, before, TOLERANCE, f"{name} of the fused file in ONNX Runtime")
    converted = out / f"{path.stem}.bf16.onnx"
    ours = run_ours(t, converted, feed)
    for name, value in zip(names, expected):
        close(t, ours[file_of(name)], value, BF16_TOLERANCE, f"{name} in bf16")
    if has("onnx"):
        code = "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)"
        run = subprocess.run([sys.executable, "-c", code, converted], capture_output=True, text=True)
        t.equal(run.returncode, 0, run.stderr[-1500:])


for _name in NETS:

    @case(f"PyTorch's {_name}", needs=NEEDED + ("torch",))
    def _(t, name=_name):
        import numpy
        folder = exported("torch_nets.py")
        arrays = dict(numpy.load(folder / f"{name}.npz"))
        expected = [arrays[f"out/{i}"] for i in range(len([key for key in arrays if key.startswith("out/")]))]
        path = folder / f"{name}.onnx"
        wanted = {i.name for i in session(path).get_inputs()}
        check(t, path, {key: value for key, value in arrays.items() if key in wanted}, expected)


@case("the table of PyTorch's networks is complete", needs=NEEDED + ("torch",))
def _(t):
    t.equal(sorted(path.stem for path in exported("torch_nets.py").glob("*.onnx")), sorted(NETS))


main()
