#!/usr/bin/env python3
"""The variant int8 through the command line: calibrated, written, judged and explained; ranges that come back; samples, models and ranges
that are hostile."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, Failure, case, main, program, variant  # noqa: E402

ONNX, GRAPHDEF = DEMO / "digits.onnx", DEMO / "digits.pb"
NUMPY, FILES = ("numpy",), ("numpy", "onnx")
INT8 = ("--precision", "int8", "--no-bench")
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
# Two convolutions of 2 and 3 channels; the weights of the second channel of the first one are `W`.
NET = """net (float[N,2,4,4] x) => (float[N,3,4,4] y)
  <float[2,2,1,1] w = {0.5, -0.25, W, W}, float[2] b = {0.1, 0},
   float[3,2,3,3] v = {V}> {
    c = Conv(x, w, b)
    r = Relu(c)
    y = Conv<pads = [1, 1, 1, 1]>(r, v)
  }"""


def numpy():
    import numpy
    return numpy


def split_digits(t, layout="nchw", calibration=100):
    """The first samples for calibration, the others with their labels for judging."""
    data = dict(numpy().load(DEMO / f"digits_{layout}.npz"))
    ours, others = t.folder / f"calibration_{layout}.npz", t.folder / f"judge_{layout}.npz"
    numpy().savez(ours, **{name: array[:calibration] for name, array in data.items() if name != "labels"})
    numpy().savez(others, **{name: array[calibration:] for name, array in data.items()})
    return ours, others


def file_of(out, kind):
    return next(out.glob(f"*.{kind}.*"))


def write_net(t, channel="0.75", values=None):
    values = values or ", ".join(f"{((7 * i) % 13 - 6) / 10}" for i in range(54))
    source = t.folder / "net.txt"
    source.write_text("### net\n" + HEAD + NET.replace("W", channel).replace("{V}", "{" + values + "}") + "\n")
    run = subprocess.run([program("text_to_onnx"), source, t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(run.stderr)
    return t.folder / "net.onnx"


def write_samples(t, name="x", array=None, file="samples"):
    if array is None:
        array = numpy().random.default_rng(1).standard_normal((6, 2, 4, 4)).astype("float32")
    path = t.folder / f"{file}.npz"
    numpy().savez(path, **{name: array})
    return path


def all_numbers_are_finite(t, path):
    import onnx
    from onnx import numpy_helper
    model = onnx.load(path)
    onnx.checker.check_model(model)
    for initializer in model.graph.initializer:
        array = numpy_helper.to_array(initializer)
        t.check(array.dtype.kind != "f" or numpy().isfinite(array).all(), f"{initializer.name}: {array}")
    scales = {node.input[1] for node in model.graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")}
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for name in scales & set(arrays):
        t.check((arrays[name] > 0).all(), f"scale {name}: {arrays[name]}")


def refused(t, arguments, parts, codes=(2, 3)):
    out = t.folder / "refused"
    run = t.halftone("optimize", *arguments, "--out", out, "--quiet", timeout=120)
    t.check(run.returncode in codes, f"exit code {run.returncode}: {run.stderr}")
    for part in parts:
        t.contains(run.stderr, part)
    t.check("crash" not in run.stderr and "signal" not in run.stderr, run.stderr)
    t.check(not out.exists() or not any(out.iterdir()), "files were left behind")


@case("the report says where the ranges came from, and the ranges give the same file", needs=NUMPY)
def _(t):
    calibration, _ = split_digits(t)
    report, out = t.optimize(ONNX, *INT8, "--calibration", calibration)
    facts = report["calibration"]
    t.equal((facts["source"], facts["samples"], facts["synthetic"]), ("samples", 100, False))
    t.equal(len(facts["inputs"]), 1)
    ranges = out / "digits.ranges.json"
    t.equal(facts["file"]["path"], str(ranges))
    t.equal(json.loads(ranges.read_text())["samples"], 100)
    again, given = t.optimize(ONNX, *INT8, "--ranges", ranges)
    t.equal((again["calibration"]["source"], again["calibration"]["samples"]), ("ranges", 100))
    t.equal(file_of(given, "int8").read_bytes() == file_of(out, "int8").read_bytes(), True, "the files differ")
    same, third = t.optimize(ONNX, *INT8, "--calibration", calibration)
    t.equal(file_of(third, "int8").read_bytes() == file_of(out, "int8").read_bytes(), True, "two runs differ")


@case("several files and folders of samples are one calibration", needs=NUMPY)
def _(t):
    data = numpy().load(DEMO / "digits_nchw.npz")
    name = next(n for n in data.files if n != "labels")
    folder = t.folder / "folder"
    folder.mkdir()
    for i, path in enumerate((t.folder / "a.npz", folder / "b.npz", folder / "c.npz")):
        numpy().savez(path, **{name: data[name][10 * i: 10 * i + 7]})
    report, _ = t.optimize(ONNX, *INT8, "--calibration", t.folder / "a.npz", "--calibration", folder)
    t.equal((report["calibration"]["samples"], len(report["calibration"]["inputs"])), (21, 3))


@case("without samples the warning is loud, in the table and in the report")
def _(t):
    run = t.halftone("optimize", ONNX, *INT8, "--out", "out")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "SYNTHETIC")
    report = json.loads((t.folder / "out" / "report.json").read_text())
    t.equal((report["calibration"]["source"], report["calibration"]["synthetic"]), ("synthetic", True))
    t.check(any("random inputs" in w.lower() for w in report["warnings"]), f"{report['warnings']}")
    t.equal(json.loads((t.folder / "out" / "digits.ranges.json").read_text())["synthetic"], True)


@case("capabilities name int8")
def _(t):
    run = t.halftone("capabilities", "--json")
    t.equal(run.returncode, 0, run.stderr)
    capabilities = json.loads(run.stdout)
    t.check("int8" in capabilities["precisions"], capabilities["precisions"])
    t.check(isinstance(capabilities["environment"]["native_int8"], bool), capabilities["environment"])


# --- Hostile: an error that names what is wrong, or a sound file.


@case("samples with NaN and infinities are refused with the sample and the value", needs=NUMPY)
def _(t):
    model = write_net(t)
    for bad in ("nan", "inf", "-inf"):
        array = numpy().zeros((6, 2, 4, 4), "float32")
        array[4, 1, 2, 3] = float(bad)
        refused(t, (model, *INT8, "--calibration", write_samples(t, array=array)), ("x", "4"), codes=(3,))


@case("samples of the wrong name, shape or type, and none at all, are refused", needs=NUMPY)
def _(t):
    model, np = write_net(t), numpy()
    for name, array, parts in (("z", None, ("'x'", "'z'")), ("x", np.zeros((6, 3, 4, 4), "float32"), ("'x'", "[6,3,4,4]")),
                               ("x", np.zeros((6, 2), "float32"), ("'x'", "[6,2]")), ("x", np.zeros((0, 2, 4, 4), "float32"), ("no samples",)),
                               ("x", np.array(["text"] * 6), ("samples.npz",))):
        refused(t, (model, *INT8, "--calibration", write_samples(t, name, array)), parts)
    (t.folder / "empty").mkdir()
    (t.folder / "broken.npz").write_bytes(b"PK\x03\x04 and nothing")
    refused(t, (model, *INT8, "--calibration", t.folder / "empty"), ("no .npz file in this folder",), codes=(2,))
    refused(t, (model, *INT8, "--calibration", t.folder / "none.npz"), ("no such file or folder",), codes=(2,))
    refused(t, (model, *INT8, "--calibration", t.folder / "broken.npz"), ("broken.npz",))


@case("channels that are zero, constant samples and tiny weights give sound files", needs=FILES)
def _(t):
    np = numpy()
    tiny = ", ".join(["2e-38"] * 54)
    for channel, values, array in (("0", None, None), ("0.75", ", ".join(["0"] * 54), None), ("0.75", tiny, None), ("2e-38", None, None),
                                   ("0.75", None, np.zeros((6, 2, 4, 4), "float32")), ("0.75", None, np.full((6, 2, 4, 4), 3.5, "float32")),
                                   ("0.75", None, np.full((6, 2, 4, 4), 1e-39, "float32")), ("0.75", None, np.full((6, 2, 4, 4), 1e37, "float32"))):
        report, out = t.optimize(write_net(t, channel, values), *INT8, "--calibration", write_samples(t, array=array))
        all_numbers_are_finite(t, file_of(out, "int8"))
        for fidelity in variant(report, "INT8")["fidelity"]:
            t.check(isinstance(fidelity["max_abs_error"], float) or fidelity["max_abs_error"] == 0, f"{channel}, {values}: {fidelity}")


@case("a channel that no sample reaches is named", needs=NUMPY)
def _(t):
    array = numpy().abs(numpy().random.default_rng(1).standard_normal((6, 2, 4, 4))).astype("float32")
    report, _ = t.optimize(write_net(t, "-0.75"), *INT8, "--calibration", write_samples(t, array=array))
    silent = report["calibration"]["silent_channels"]
    t.check(any(row["channels"] == 1 for row in silent), f"{silent}")


@case("broken and foreign ranges are refused with the file and the field", needs=NUMPY)
def _(t):
    model = write_net(t)
    samples = write_samples(t)
    _, out = t.optimize(model, *INT8, "--calibration", samples)
    good = json.loads((out / "net.ranges.json").read_text())
    value = next(iter(good["values"]))
    path = t.folder / "bad.json"

    def edited(**fields):
        copy = json.loads(json.dumps(good))
        copy["values"][value].update(fields)
        return json.dumps(copy)

    foreign = dict(good, values={f"other_{name}": row for name, row in good["values"].items()})
    for text, parts in (("{", ("bad.json",)), ("[]", ("bad.json",)), ("{}", ("bad.json",)), ("no ranges at all\n", ("bad.json",)),
                        (json.dumps(good)[:200], ("bad.json",)), (edited(min=5, max=1), ("bad.json", value)),
                        (edited(min="low"), ("bad.json", f"{value}.min")), (edited(extra=1), ("bad.json", "extra")),
                        (edited(max=float("inf")), ("bad.json",)), (json.dumps(foreign), ("bad.json",))):
        path.write_text(text)
        refused(t, (model, *INT8, "--ranges", path), parts)
    path.write_text("")
    refused(t, (model, *INT8, "--ranges", path), ("the file is empty",), codes=(2,))
    refused(t, (model, *INT8, "--ranges", out / "net.ranges.json", "--calibration", samples), ("give one of the two",), codes=(2,))
    refused(t, (model, "--no-bench", "--ranges", out / "net.ranges.json"), ("--ranges goes with --precision int8",), codes=(2,))


main()
