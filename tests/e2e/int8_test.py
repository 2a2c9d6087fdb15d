#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The variant int8 through the command line: calibration, files, evaluation, measurement, reuse of ranges, flags, gates."""

import csv
import io
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, variant  # noqa: E402

ONNX = DEMO / "digits.onnx"
NUMPY, FILES = ("numpy",), ("numpy", "onnx")
INT8 = ("--precision", "int8", "--no-bench")


def numpy():
    import numpy
    return numpy


def split_digits(t, layout="nchw", calibration=100):
    """The first samples for calibration, the others with their labels for evaluation."""
    data = dict(numpy().load(DEMO / f"digits_{layout}.npz"))
    ours, others = t.folder / f"calibration_{layout}.npz", t.folder / f"judge_{layout}.npz"
    numpy().savez(ours, **{name: array[:calibration] for name, array in data.items() if name != "labels"})
    numpy().savez(others, **{name: array[calibration:] for name, array in data.items()})
    return ours, others


def file_of(out, kind):
    return next(out.glob(f"*.{kind}.*"))


@case("the report has the source of the ranges, and a job with --ranges writes the same file", needs=NUMPY)
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
    _, third = t.optimize(ONNX, *INT8, "--calibration", calibration, "--no-ranges-cache")
    t.equal(file_of(third, "int8").read_bytes() == file_of(out, "int8").read_bytes(), True, "two runs differ")


@case("several files and folders of samples make one calibration", needs=NUMPY)
def _(t):
    data = numpy().load(DEMO / "digits_nchw.npz")
    name = next(n for n in data.files if n != "labels")
    folder = t.folder / "folder"
    folder.mkdir()
    for i, path in enumerate((t.folder / "a.npz", folder / "b.npz", folder / "c.npz")):
        numpy().savez(path, **{name: data[name][10 * i: 10 * i + 7]})
    report, _ = t.optimize(ONNX, *INT8, "--calibration", t.folder / "a.npz", "--calibration", folder)
    t.equal((report["calibration"]["samples"], len(report["calibration"]["inputs"])), (21, 3))


@case("without samples there is a warning in the table and in the report")
def _(t):
    run = t.halftone("optimize", ONNX, *INT8, "--out", "out")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "calibration: RANDOM DATA")
    report = json.loads((t.folder / "out" / "report.json").read_text())
    t.equal((report["calibration"]["source"], report["calibration"]["synthetic"]), ("synthetic", True))
    t.check(any("RANDOM inputs" in w for w in report["warnings"]), f"{report['warnings']}")
    t.equal(json.loads((t.folder / "out" / "digits.ranges.json").read_text())["synthetic"], True)


@case("capabilities name int8")
def _(t):
    run = t.halftone("capabilities", "--json")
    t.equal(run.returncode, 0, run.stderr)
    capabilities = json.loads(run.stdout)
    t.check("int8" in capabilities["precisions"], capabilities["precisions"])
    t.check(isinstance(capabilities["environment"]["native_int8"], bool), capabilities["environment"])


# --- Flags


# Flags, the field of the policy's int8, and what it must be there.
FLAGS = [
    (("--calibration-method", "percentile"), "calibration_method", "percentile"),
    (("--percentile", "99.5"), "percentile", 99.5),
    (("--activations", "s8"), "activations", "s8"),
    (("--symmetric",), "symmetric", True),
    (("--per-tensor-weights",), "per_tensor_weights", True),
    (("--fallback-precision", "bf16"), "fallback_precision", "bf16"),
    (("--quant-format", "qoperator"), "quant_format", "qoperator"),
    (("--no-bias-correction",), "no_bias_correction", True),
    (("--no-equalization",), "no_equalization", True),
    (("--smooth-quant",), "smooth_quant", True),
    (("--clip-weights",), "clip_weights", True),
    (("--reduce-range",), "reduce_range", True),
    (("--trim-ranges", "2"), "trim_ranges", 2),
    (("--accuracy-goal", "top1-drop=0.5,sqnr=1", "--accuracy-goal", "cosine=0.1"), "accuracy_goal", {"top1_drop": 0.5, "sqnr": 1, "cosine": 0.1}),
    (("--budget", "60"), "budget_seconds", 60),
    (("--no-config-search",), "no_config_search", True),
]


@case("every flag has its effect on report and files", needs=FILES)
def _(t):
    import onnx
    from onnx import numpy_helper
    calibration, judge = split_digits(t)
    flags = [word for words, _, _ in FLAGS for word in words]
    with t.server() as server:
        report, out = t.optimize(ONNX, *INT8, "--calibration", calibration, "--eval", judge, "--allow-emulation", *flags, "--server", server.address)
        (name,) = re.findall(r"jobs/[0-9a-f]{32}", t.halftone("jobs", "list", "--server", server.address).stdout)
        job = json.loads(t.halftone("jobs", "show", name, "--server", server.address).stdout)
    policy = job["spec"]["optimize"]["policy"]["int8"]
    t.equal({field: policy.get(field) for _, field, _ in FLAGS}, {field: value for _, field, value in FLAGS})
    t.equal(report["calibration"]["calibration_method"], "percentile")
    ranges = json.loads((out / "digits.ranges.json").read_text())
    t.equal([ranges[key] for key in ("calibration_method", "percentile", "type", "symmetric")], ["percentile", 99.5, "s8", True])
    goal = variant(report, "int8")["goal"]
    t.equal(goal["met"], True, goal)
    for part in ("at most 0.5000", "at least 1.0)", "at least 0.100000"):
        t.contains(goal["text"], part)
    t.check(any(d["precision"] == "int8" for d in variant(report, "int8")["decisions"]), "nothing is int8")
    model = onnx.load(file_of(out, "int8"))
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    convolutions = [node for node in model.graph.node if node.op_type == "QLinearConv"]
    t.check(convolutions, f"{[node.op_type for node in model.graph.node]}")
    for node in convolutions:
        t.equal(arrays[node.input[4]].size, 1, f"scales of the weights of {node.name}")
        for zero_point in (arrays[node.input[2]], arrays[node.input[7]]):
            t.equal((str(zero_point.dtype), int(zero_point)), ("int8", 0), node.name)


@case("nodes that a policy keeps out of int8 run in the fallback precision bf16", needs=NUMPY)
def _(t):
    calibration, _ = split_digits(t)
    policy = t.folder / "policy.yaml"
    policy.write_text("precisions: [int8]\nallow_emulation: true\nint8: {fallback_precision: bf16}\nnodes:\n  - {op: Conv, min_precision: bf16}\n")
    report, _ = t.optimize(ONNX, "--policy", policy, "--no-bench", "--calibration", calibration)
    decisions = variant(report, "int8")["decisions"]
    kept = {d["precision"] for d in decisions if d["op"].startswith("conv")}
    t.equal(kept, {"bf16"}, f"{decisions}")
    t.check(any(d["precision"] == "int8" for d in decisions), "nothing is int8")
    t.check(0 < variant(report, "int8")["int8_share"] < 0.5, variant(report, "int8")["int8_share"])


@case("where int8 misses the accuracy goal, nodes fall back until it holds; the budget ends the search", needs=NUMPY)
def _(t):
    calibration, judge = split_digits(t)
    flags = (ONNX, *INT8, "--calibration", calibration, "--eval", judge)
    free, _ = t.optimize(*flags)
    decibels = variant(free, "int8")["fidelity"][0]["sqnr_db"]
    report, _ = t.optimize(*flags, "--accuracy-goal", f"sqnr={decibels + 3:.2f}", "--no-config-search")
    int8 = variant(report, "int8")
    t.equal(int8["goal"]["met"], True, int8["goal"])
    t.check(int8["goal"]["fallback_nodes"] > 0 and int8["fidelity"][0]["sqnr_db"] >= decibels + 2.99, f"{int8['goal']}, {int8['fidelity']}")
    t.check(any(d["rule"] == "int8.accuracy" for d in int8["decisions"]), f"{int8['decisions']}")
    t.equal([r["config"] for r in int8["goal"]["configs"]], ["min-max"])
    report, _ = t.optimize(*flags, "--accuracy-goal", "sqnr=200", "--budget", "0.001")
    t.equal(variant(report, "int8")["goal"]["met"], False)
    for part in ("at its budget of 0.001 s", "NOT met"):
        t.check(any(part in w for w in report["warnings"]), f"no {part!r} in {report['warnings']}")


@case("other configurations come before fallback nodes: the table has each, ranges and report are of the chosen one", needs=NUMPY)
def _(t):
    calibration, judge = split_digits(t)
    samples = ("--calibration", calibration, "--eval", judge)

    # More than int8 can: every configuration is tried, and nodes fall back from the nearest.
    run = t.halftone("optimize", ONNX, *INT8, *samples, "--accuracy-goal", "sqnr=200", "--out", "out")
    t.equal(run.returncode, 0, run.stderr)
    report = json.loads((t.folder / "out" / "report.json").read_text())
    goal = variant(report, "int8")["goal"]
    tried = {r["config"]: r["sqnr_db"] for r in goal["configs"]}
    t.equal(goal["configs"][0]["config"], "min-max")
    t.check({"mse", "percentile", "entropy"} <= {name.split(",")[0] for name in tried}, tried)
    t.equal(tried[goal["config"]], max(tried.values()), f"{goal}")
    for name, sqnr in tried.items():
        star = re.escape("*") if name == goal["config"] else " "
        t.check(re.search(rf"^  {star} +{sqnr:.1f} dB  top-1 drop .*  cosine [\d.]+  missed +{re.escape(name)}$", run.stdout, re.M),
                f"{name} is not in\n{run.stdout}")
    t.contains(run.stdout, f"; configuration {goal['config']}")
    t.equal(report["calibration"]["calibration_method"], goal["config"].split(",")[0])
    t.equal(json.loads((t.folder / "out" / "digits.ranges.json").read_text())["calibration_method"], report["calibration"]["calibration_method"])

    # The first that does it is taken, whole; and a run that is asked for it makes the same.
    own, better = tried["min-max"], next((r["config"] for r in goal["configs"] if r["sqnr_db"] > tried["min-max"] + 0.01), None)
    if better is not None:
        between = f"{(own + tried[better]) / 2:.4f}"
        report, out = t.optimize(ONNX, *INT8, *samples, "--accuracy-goal", f"sqnr={between}")
        goal = variant(report, "int8")["goal"]
        t.equal((goal["met"], goal["config"], goal["fallback_nodes"]), (True, better, 0), f"{goal}")
        flags = ["--calibration-method", better.split(",")[0], *(f"--{word.strip()}" for word in better.split(",")[1:])]
        _, again = t.optimize(ONNX, *INT8, *samples, *flags)
        t.equal((out / "digits.ranges.json").read_bytes() == (again / "digits.ranges.json").read_bytes(), True, "other ranges")

    # What the user names stays, and so do ranges of a file.
    report, _ = t.optimize(ONNX, *INT8, *samples, "--accuracy-goal", "sqnr=200", "--calibration-method", "entropy")
    t.equal({r["config"].split(",")[0] for r in variant(report, "int8")["goal"]["configs"]}, {"entropy"})
    _, out = t.optimize(ONNX, *INT8, *samples)
    ranges, wide = json.loads((out / "digits.ranges.json").read_text()), t.folder / "wide.json"
    for row in ranges["values"].values():
        row.update(min=row["min"] * 4, max=row["max"] * 4)
    wide.write_text(json.dumps(ranges))
    report, out = t.optimize(ONNX, *INT8, "--ranges", wide, "--eval", judge, "--accuracy-goal", "sqnr=200")
    t.equal({r["config"].split(",")[0] for r in variant(report, "int8")["goal"]["configs"]}, {"min-max"})
    ends = lambda path: {n: numpy().float32([v["min"], v["max"]]).tolist() for n, v in json.loads(path.read_text())["values"].items()}
    t.equal(ends(out / "digits.ranges.json"), ends(wide))


# --- Gates


def gated(t, *flags):
    """Exit code and what was printed of an int8 run whose files must be there in any case."""
    out = pathlib.Path(tempfile.mkdtemp(dir=t.folder))
    run = t.halftone("optimize", ONNX, "--precision", "int8", "--out", out, *flags)
    t.check((out / "digits.int8.onnx").exists(), run.stderr)
    return run.returncode, run.stdout + run.stderr


@case("a gate of accuracy passes with exit code 0 and fails with 4; the files are written anyway", needs=NUMPY)
def _(t):
    calibration, judge = split_digits(t)
    _, out = t.optimize(ONNX, *INT8, "--calibration", calibration)
    ranges = json.loads((out / "digits.ranges.json").read_text())
    for row in ranges["values"].values():  # all but nothing of each value is cut off
        row.update(min=row["min"] / 4096, max=row["max"] / 4096)
    path = t.folder / "narrow.json"
    path.write_text(json.dumps(ranges))
    for gate in ("--min-top1-agreement", "--min-sqnr", "--max-top1-drop"):
        limit = {"--min-top1-agreement": "int8=0.95", "--min-sqnr": "int8=10", "--max-top1-drop": "int8=0.02"}[gate]
        code, said = gated(t, "--no-bench", "--calibration", calibration, "--eval", judge, gate, limit)
        t.equal(code, 0, said)
        t.contains(said, f"PASS {gate[2:]} int8")
        code, said = gated(t, "--no-bench", "--ranges", path, "--eval", judge, gate, limit)
        t.equal(code, 4, said)
        t.contains(said, f"FAIL {gate[2:]} int8")


@case("a gate of speed: a limit that nothing reaches fails, a low one passes also on a noisy machine", needs=NUMPY)
def _(t):
    calibration, _ = split_digits(t)
    quick = ("--calibration", calibration, "--rounds", "3", "--round-seconds", "0.05")
    code, said = gated(t, *quick, "--min-speedup", "int8=1000")
    t.equal(code, 4, said)
    t.contains(said, "FAIL min-speedup int8")
    code, said = gated(t, *quick, "--min-speedup", "int8=0.001")
    t.equal(code, 0, said)
    t.contains(said, "PASS min-speedup int8")
    run = t.halftone("optimize", ONNX, *INT8, "--min-speedup", "int8=0.001")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "--min-speedup needs a measurement")


@case("run --fuse computes an int8 file in integers; without --fuse a note says that it does not", needs=NUMPY)
def _(t):
    np = numpy()
    calibration, _ = split_digits(t)
    _, out = t.optimize(ONNX, *INT8, "--calibration", calibration)
    np.save(t.folder / "x.npy", np.load(DEMO / "digits_nchw.npz")["image"][:7])

    def run(model, *flags):
        ran = t.halftone("run", model, "--input", f"image={t.folder / 'x.npy'}", "--out", t.folder / "outputs", "--quiet", *flags)
        t.equal(ran.returncode, 0, ran.stderr)
        return np.load(ran.stdout.split()[0]), ran.stderr

    (plain, note), (fused, no_note) = run(file_of(out, "int8")), run(file_of(out, "int8"), "--fuse")
    t.check(re.search(r"int8: .* in f32 between \d+ quantizations; fused \(--fuse\)", note), note)
    t.equal((no_note, run(ONNX)[1], run(file_of(out, "fp32"))[1]), ("", "", ""))
    # Some values round to the neighbouring integer: a smaller difference than that of quantization itself.
    t.check(np.abs(plain - fused).max() < np.abs(plain - run(ONNX)[0]).max(), "integers and f32 between quantizations differ")


# --- Measuring


@case("bench measures int8 beside the unmodified model and the fused one", needs=NUMPY)
def _(t):
    calibration, judge = split_digits(t)
    short = ("--rounds", "3", "--round-seconds", "0.05", "--allow-noisy", "--quiet")
    flags = ("--precision", "int8", "--calibration", calibration, "--eval", judge, *short)
    run = t.halftone("bench", ONNX, *flags, "--out", "measured", "--export", "csv")
    t.equal(run.returncode, 0, run.stderr)
    report = json.loads((t.folder / "measured" / "report.json").read_text())
    t.equal([v["precision"] for v in report["variants"]], ["original", "fp32", "int8"])
    t.equal((report["calibration"]["source"], report["calibration"]["samples"]), ("samples", 100))
    int8 = variant(report, "int8")
    t.check(int8["int8_share"] > 0.9 and int8["summary"].count("int8") > 0, f"{int8['int8_share']}, {int8['summary']}")
    t.check(int8["benchmark"]["rounds"] == 3 and int8["benchmark"]["speedup"]["median"] > 0, f"{int8['benchmark']['speedup']}")
    t.check(any(n["src_type"] == "u8" and n["weights_type"] == "s8" for n in int8["nodes"]), f"{int8['nodes']}")
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    t.equal([row["variant"] for row in rows], ["original", "fp32", "int8"])


main()
