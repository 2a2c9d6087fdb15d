#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Invalid and unusual samples, weights and ranges of int8 jobs, sent to a server that must survive. The result is an error that names file,
array, node or field and leaves no files, or a valid file: every number in it is finite, every scale above 0."""

import contextlib
import json
import math
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, Failure, case, main, program, variant  # noqa: E402

NUMPY, FILES = ("numpy",), ("numpy", "onnx")
INT8 = ("--precision", "int8", "--no-bench")
CALIBRATORS = ("min-max", "moving-average", "percentile", "entropy", "mse")
FORMS = ("qdq", "qoperator")
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
# Two convolutions of 2 and 3 channels; the weights of the second channel of the first one are `W`.
NET = """net (float[N,2,4,4] x) => (float[N,3,4,4] y)
  <float[2,2,1,1] w = {0.5, -0.25, W, W}, float[2] b = {0.1, 0},
   float[3,2,3,3] v = {V}> {
    c = Conv(x, w, b)
    r = Relu(c)
    y = Conv<pads = [1, 1, 1, 1]>(r, v)
  }"""
DIMS = (6, 2, 4, 4)


def numpy():
    import numpy
    return numpy


def filled(number):
    return numpy().full(DIMS, number, "float32")


def usual_samples():
    return numpy().random.default_rng(1).standard_normal(DIMS).astype("float32")


def write_net(t, channel="0.75"):
    values = [f"{((7 * i) % 13 - 6) / 10}" for i in range(54)]
    source = t.folder / "net.txt"
    source.write_text("### net\n" + HEAD + NET.replace("W", channel).replace("{V}", "{" + ", ".join(values) + "}") + "\n")
    run = subprocess.run([program("text_to_onnx"), source, t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(run.stderr)
    return t.folder / "net.onnx"


def edited_net(t, channel=None, weights=None, one=None):
    """Replaces the weights of the second channel of the first convolution, all of the second one, or one of these."""
    import onnx
    from onnx import numpy_helper
    path = write_net(t)
    model = onnx.load(path)
    for initializer in model.graph.initializer:
        array = numpy_helper.to_array(initializer).copy()
        if initializer.name == "w" and channel is not None:
            array[1] = channel
        if initializer.name == "v" and weights is not None:
            array[:] = weights
        if initializer.name == "v" and one is not None:
            array[1, 0, 2, 1] = one
        initializer.CopyFrom(numpy_helper.from_array(array, initializer.name))
    onnx.save(model, path)
    return path


def write_samples(t, name="x", array=None, file="samples"):
    path = t.folder / f"{file}.npz"
    numpy().savez(path, **{name: usual_samples() if array is None else array})
    return path


@contextlib.contextmanager
def lasting_server(t):
    """A server that must still be serving when the block ends."""
    with t.server() as server:
        yield server
        run = t.halftone("health", "--server", server.address)
        t.equal(run.returncode, 0, run.stderr)


def refused(t, server, arguments, parts, code=3):
    out = t.folder / "refused"
    run = t.halftone("optimize", *arguments, "--out", out, "--quiet", "--server", server.address, timeout=120)
    t.equal(run.returncode, code, f"{arguments}: {run.stderr}")
    for part in parts:
        t.contains(run.stderr, part)
    t.check("MODEL_INVALID" not in run.stderr or "samples" not in run.stderr, run.stderr)
    t.check("crash" not in run.stderr and "signal" not in run.stderr, run.stderr)
    t.check(not out.exists() or not any(out.iterdir()), "files were left behind")


def arrays_of(path):
    """Initializers by name, and the names of those that are scales."""
    import onnx
    from onnx import numpy_helper
    model = onnx.load(path)
    onnx.checker.check_model(model)
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    places = {"QuantizeLinear": (1,), "DequantizeLinear": (1,), "QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6)}
    scales = {node.input[i] for node in model.graph.node for i in places.get(node.op_type, ())}
    return arrays, scales & set(arrays)


def check_numbers(t, path, what, already=0):
    """`already`: NaN and infinities that the model itself has."""
    if path.suffix == ".pb":
        run = t.halftone("inspect", path, "--text", "--quiet")
        t.equal(run.returncode, 0, run.stderr)
        t.check(not re.search(r"(?<![\w.])-?(nan|inf)(?![\w.])", run.stdout), f"{what}: {run.stdout[:2000]}")
        return
    arrays, scales = arrays_of(path)
    bad = sum(int((~numpy().isfinite(a)).sum()) for a in arrays.values() if a.dtype.kind == "f")
    t.check(bad <= already, f"{what}: {bad} numbers are NaN or infinite")
    for name in scales:
        t.check((arrays[name] > 0).all() and numpy().isfinite(arrays[name]).all(), f"{what}: scale {name}: {arrays[name]}")


def no_constant(word):
    raise Failure(f"{word} in a JSON file")


def sound(t, server, model, *flags, what):
    report, out = t.optimize(model, *INT8, *flags, "--server", server.address)
    fidelity = variant(report, "int8")["fidelity"]
    t.check(fidelity, f"{what}: nothing was compared")
    for row in fidelity:
        for key in ("sqnr_db", "max_abs_error", "top1_agreement"):
            t.check(isinstance(row[key], (int, float)) and math.isfinite(row[key]), f"{what}: {row}")
    json.loads(next(out.glob("*.ranges.json")).read_text(), parse_constant=no_constant)
    check_numbers(t, next(out.glob("*.int8.*")), what)
    return report, out


# --- Samples


@case("samples with NaN and infinities are refused with file, array, sample and value", needs=NUMPY)
def _(t):
    model, np = write_net(t), numpy()
    with lasting_server(t) as server:
        for bad, word in (("nan", "NaN"), ("inf", "inf"), ("-inf", "-inf")):
            array = filled(0)
            array[4, 1, 2, 3] = float(bad)
            samples = write_samples(t, array=array)
            refused(t, server, (model, *INT8, "--calibration", samples), ("samples.npz", f"'x' holds {word} in sample 4"))
        too_large = np.zeros(DIMS, "float64")
        too_large[2, 0, 0, 0] = 1e300
        samples = write_samples(t, array=too_large)
        refused(t, server, (model, *INT8, "--calibration", samples), ("samples.npz", "'x' holds inf in sample 2"))
        # Of two files the second one, whichever it is.
        good, bad = write_samples(t, file="a"), write_samples(t, array=filled("nan"), file="b")
        refused(t, server, (model, *INT8, "--calibration", good, "--calibration", bad), ("b.npz", "sample 6"))
        refused(t, server, (model, *INT8, "--calibration", bad, "--calibration", good), ("b.npz", "sample 0"))


@case("samples of the wrong name, shape or type, and empty ones, are refused", needs=NUMPY)
def _(t):
    model, np = write_net(t), numpy()
    with lasting_server(t) as server:
        for name, array, parts in (("z", None, ("samples.npz", "'x'", "'z'")), ("x", np.zeros((6, 3, 4, 4), "float32"), ("'x'", "[6,3,4,4]")),
                                   ("x", np.zeros((6, 2), "float32"), ("'x'", "[6,2]")), ("x", np.float32(1), ("samples.npz", "'x'")),
                                   ("x", np.zeros((0, 2, 4, 4), "float32"), ("samples.npz", "no samples")),
                                   ("x", np.array(["text"] * 6), ("samples.npz", "x")), ("x", np.array([{}] * 6), ("samples.npz", "x")),
                                   ("x", np.zeros(DIMS, "complex64"), ("samples.npz", "x"))):
            refused(t, server, (model, *INT8, "--calibration", write_samples(t, name, array)), parts)


@case("files that are not samples are refused with their names", needs=NUMPY)
def _(t):
    model, np = write_net(t), numpy()
    good = write_samples(t)
    folders = {name: t.folder / name for name in ("empty", "mixed")}
    for folder in folders.values():
        folder.mkdir()
    (folders["mixed"] / "a.npz").write_bytes(good.read_bytes())
    (folders["mixed"] / "b.npz").write_bytes(good.read_bytes()[:-40])
    broken = {"broken": b"PK\x03\x04 and nothing", "cut": good.read_bytes()[:200], "text": b"no archive\n" * 50}
    for name, content in broken.items():
        (t.folder / f"{name}.npz").write_bytes(content)
    np.savez(t.folder / "nothing.npz")
    with lasting_server(t) as server:
        for name in broken:
            refused(t, server, (model, *INT8, "--calibration", t.folder / f"{name}.npz"), (f"{name}.npz",))
        refused(t, server, (model, *INT8, "--calibration", t.folder / "nothing.npz"), ("nothing.npz", "'x'", "none"))
        refused(t, server, (model, *INT8, "--calibration", folders["mixed"]), ("b.npz",))
        for path, why in ((folders["empty"], "no .npz file in this folder"), (t.folder / "none.npz", "no such file or folder")):
            refused(t, server, (model, *INT8, "--calibration", path), (str(path), why), code=2)


@case("an always-zero channel is named", needs=NUMPY)
def _(t):
    report, _ = t.optimize(write_net(t, "-0.75"), *INT8, "--calibration", write_samples(t, array=abs(usual_samples())))
    silent = report["calibration"]["always_zero_channels"]
    t.check(any(row["channels"] == 1 for row in silent), f"{silent}")


# --- Unusual, but valid


@case("channels of zeros, and weights too large or small for a scale, give valid files", needs=FILES)
def _(t):
    with lasting_server(t) as server:
        samples = write_samples(t)
        for numbers in ({"channel": 0}, {"weights": 0}, {"weights": 1e-38}, {"channel": 1e-38}, {"channel": 1e-38, "weights": 1e-38},
                        {"weights": 1e-42}):
            for form in FORMS:
                sound(t, server, edited_net(t, **numbers), "--calibration", samples, "--quant-format", form, what=f"{numbers} {form}")


@case("zeros, constants, the smallest and the largest numbers give valid files with every calibration method", needs=FILES)
def _(t):
    model = write_net(t)
    with lasting_server(t) as server:
        for number in (0, 3.5, -2, 1e-40, 1e37):
            samples = write_samples(t, array=filled(number))
            for calibrator in CALIBRATORS:
                sound(t, server, model, "--calibration", samples, "--calibration-method", calibrator, what=f"{number} {calibrator}")
            for flags in (("--quant-format", "qoperator"), ("--activations", "s8", "--symmetric"), ("--smooth-quant",)):
                sound(t, server, model, "--calibration", samples, *flags, what=f"{number} {flags}")
        tiny = write_samples(t, array=filled(1e-40))
        sound(t, server, edited_net(t, channel=1e-38, weights=1e-38), "--calibration", tiny, what="1e-40 times 1e-38")


@case("GraphDef files are valid, too", needs=NUMPY)
def _(t):
    data = numpy().load(DEMO / "digits_nhwc.npz")
    name = next(n for n in data.files if n != "labels")
    with lasting_server(t) as server:
        for number in (0, 3.5, 1e-40):
            samples = write_samples(t, name, numpy().full_like(data[name][:4], number))
            for form in FORMS:
                sound(t, server, DEMO / "digits.pb", "--calibration", samples, "--quant-format", form, what=f"{number} {form}")


# --- Weights


@case("weights that overflow, are NaN or infinite: the calibration names the node", needs=FILES)
def _(t):
    samples = write_samples(t)
    _, out = t.optimize(write_net(t), *INT8, "--calibration", samples)
    with lasting_server(t) as server:
        refused(t, server, (edited_net(t, weights=3e38), *INT8, "--calibration", samples), ("samples.npz", "node 'y'", "inf"))
        for bad in ("nan", "inf", "-inf"):
            model = edited_net(t, one=float(bad))
            refused(t, server, (model, *INT8, "--calibration", samples), ("samples.npz", "node 'y'"))
            # With --ranges the weights are not run: the node with invalid weights stays fp32.
            target = t.folder / f"by-ranges-{bad}"
            run = t.halftone("optimize", model, *INT8, "--ranges", out / "net.ranges.json", "--out", target, "--quiet", "--server", server.address)
            t.equal(run.returncode, 0, run.stderr)
            check_numbers(t, target / "net.int8.onnx", bad, already=1)
            arrays, _ = arrays_of(target / "net.int8.onnx")
            t.check(any(a.shape == (3, 2, 3, 3) and a.dtype.kind == "f" for a in arrays.values()), f"weights with {bad} became integers")


# --- Ranges


def good_ranges(t):
    """(model, samples, folder of results, the content of net.ranges.json)"""
    model, samples = write_net(t), write_samples(t)
    _, out = t.optimize(model, *INT8, "--calibration", samples)
    return model, samples, out, json.loads((out / "net.ranges.json").read_text())


@case("broken ranges, and those of another model, are refused with the file and the field", needs=NUMPY)
def _(t):
    model, samples, out, good = good_ranges(t)
    value = next(iter(good["values"]))
    path, whole = t.folder / "bad.json", (out / "net.ranges.json").read_text()

    def edited(**fields):
        copy = json.loads(json.dumps(good))
        copy["values"][value].update(fields)
        return json.dumps(copy)

    foreign = dict(good, values={f"other_{name}": row for name, row in good["values"].items()})
    texts = [("[]", ()), ("{}", ("format",)), ("no ranges at all\n", ()), (edited(min=5, max=1), (f"values.{value}.min",)),
             (edited(min="low"), (f"values.{value}.min",)), (edited(max=None), (f"values.{value}.max",)), (edited(extra=1), ("extra",)),
             (edited(max=float("inf")), ()), (edited(min=float("nan")), ()), (edited(max=1e39), (f"values.{value}.max",)),
             (edited(channel_magnitudes=[1, "two"]), (f"values.{value}.channel_magnitudes[1]",)),
             (json.dumps(dict(good, values={})), ("none of its 0 ranges",)), (json.dumps(foreign), ("none of its", "other_")),
             (json.dumps(dict(good, version=99)), ("version",)), (";c__print__;__requant_min_max:[nan][10.5]\n", ("bad.json:1", "node 'c'"))]
    texts += [(whole[: len(whole) * i // 8], ()) for i in range(1, 8)]
    with lasting_server(t) as server:
        for text, parts in texts:
            path.write_text(text)
            refused(t, server, (model, *INT8, "--ranges", path), ("bad.json", *parts))
        path.write_bytes(whole.encode()[:100] + b"\xff\x00\xfe" + whole.encode()[100:])
        refused(t, server, (model, *INT8, "--ranges", path), ("bad.json",))
        path.write_text("")
        refused(t, server, (model, *INT8, "--ranges", path), ("the file is empty",), code=2)
        refused(t, server, (model, *INT8, "--ranges", out / "net.ranges.json", "--calibration", samples), ("give one of the two",), code=2)
        refused(t, server, (model, "--no-bench", "--ranges", out / "net.ranges.json"), ("--ranges needs --precision int8",), code=2)


@case("ranges of another file of the same model are used with a warning", needs=NUMPY)
def _(t):
    model, _, _, good = good_ranges(t)
    path = t.folder / "other.json"
    path.write_text(json.dumps(dict(good, model_sha256="a" * 64)))
    report, _ = t.optimize(model, *INT8, "--ranges", path)
    t.check(any("other.json" in w and "another model file" in w for w in report["warnings"]), f"{report['warnings']}")


@case("ranges of width zero, the smallest and the largest ranges give valid files", needs=FILES)
def _(t):
    model, _, _, good = good_ranges(t)
    path = t.folder / "strange.json"
    with lasting_server(t) as server:
        for low, high in ((0, 0), (5, 5), (-3, -3), (-3.4e38, 3.4e38), (0, 3.4e38), (0, 1e-45), (-1e-45, 1e-45)):
            values = {name: dict(row, min=low, max=high) for name, row in good["values"].items()}
            path.write_text(json.dumps(dict(good, values=values)))
            for flags in ((), ("--quant-format", "qoperator"), ("--activations", "s8", "--symmetric")):
                sound(t, server, model, "--ranges", path, *flags, what=f"[{low}, {high}] {flags}")


main()
