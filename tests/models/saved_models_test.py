#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SavedModels of TensorFlow 1 and 2, through the command line: unmodified, optimized, and damaged."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import case, main, shared, variant  # noqa: E402

NUMPY = ("numpy",)


def saved(name):
    return shared("models", "savedmodel", *name.split("/"))


def run_model(t, model, feed, *flags):
    import numpy
    arguments = []
    for name, array in feed.items():
        numpy.save(t.folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={t.folder / name}.npy"]
    run = t.halftone("run", model, *arguments, "--out", t.folder / "outputs", "--quiet", *flags)
    t.equal(run.returncode, 0, run.stderr)
    return {pathlib.Path(line).stem: numpy.load(line) for line in run.stdout.split()}


# The folder above the version, the version's, and a file of it.
for _path in ("half_plus_two", "half_plus_two/00000123", "half_plus_two_tf2", "half_plus_two_tf2/00000123/saved_model.pb"):

    @case(f"{_path}: y = x / 2 + 2", needs_shared=True, needs=NUMPY)
    def _(t, path=_path):
        import numpy
        x = numpy.array([[-4], [0], [1], [7]], numpy.float32)
        x = x if "tf2" not in path else x[0]  # of one number
        outputs = run_model(t, saved(path), {"x": x})
        t.equal(list(outputs), ["y"])
        t.equal(outputs["y"].ravel().tolist(), (x / 2 + 2).ravel().tolist())


@case("a signature is chosen by its name; an unknown one is refused, and the message lists the signatures", needs_shared=True, needs=NUMPY)
def _(t):
    import numpy
    x = numpy.array([[6]], numpy.float32)
    outputs = run_model(t, saved("half_plus_two"), {"inputs": x}, "--signature", "regress_x2_to_y3")
    t.equal({name: value.ravel().tolist() for name, value in outputs.items()}, {"outputs": [6 / 2 + 3]})
    run = t.halftone("inspect", saved("half_plus_two"), "--signature", "none")
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "no signature 'none'")
    t.contains(run.stderr, "serving_default")


@case("kws_ref_model is optimized, and its frozen file has the outputs of the folder", needs_shared=True, needs=NUMPY)
def _(t):
    import numpy
    model = saved("kws_ref_model")
    x = numpy.random.default_rng(3).standard_normal((1, 49, 10, 1)).astype(numpy.float32) * 20
    before = run_model(t, model, {"input_1": x})["dense"]
    t.equal(before.shape, (1, 12))
    t.check(abs(before.sum() - 1) < 1e-5, f"{before}")
    numpy.savez(t.folder / "samples.npz", input_1=numpy.repeat(x, 20, axis=0) * numpy.linspace(0.5, 2, 20, dtype=numpy.float32).reshape(-1, 1, 1, 1))
    report, out = t.optimize(model, "--precision", "fp32", "--precision", "int8", "--calibration", t.folder / "samples.npz",
                             "--eval", t.folder / "samples.npz", "--no-bench")
    t.check(variant(report, "int8")["int8_share"] > 0.9, f"{variant(report, 'int8')['int8_share']}")
    for file in ("kws_ref_model.fp32.pb", "kws_ref_model.int8.pb"):
        t.check((out / file).exists(), f"no {file} among {[p.name for p in out.iterdir()]}")
    after = run_model(t, out / "kws_ref_model.fp32.pb", {"input_1": x})["dense"]
    t.check(numpy.abs(after - before).max() < 1e-5, f"{before} {after}")


@case("a damaged SavedModel is an error that names the file", needs_shared=True)
def _(t):
    import shutil
    copy = t.folder / "copy"
    shutil.copytree(saved("kws_ref_model"), copy)
    data = copy / "variables" / "variables.data-00000-of-00001"
    for path in (copy, copy / "variables", data):
        path.chmod(0o755)
    bytes_ = bytearray(data.read_bytes())
    bytes_[100] ^= 1
    data.write_bytes(bytes_)
    run = t.halftone("inspect", copy)
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "is damaged: its checksum does not fit")
    data.unlink()
    run = t.halftone("inspect", copy)
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "the variables are in 1 files; 0 are there")


main()
