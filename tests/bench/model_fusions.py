#!/usr/bin/env python3
"""What fusion does to every real model of the shared folder: nodes before and after, fusions by kind, time and answers of the model as
it came against its fused fp32 file. A page in Markdown:

    dev run --tier bench python3 tests/bench/model_fusions.py [--markdown results/2026-11-24-zen4-model-fusions.md] [--profile standard] [WORD...]

Only models whose paths have one of the words, if there are any. --no-bench leaves the times out; --resume DIR keeps each model's
report there and does not measure again what it holds. Nothing else should run on the machine. Exit code 1 when a model fails, or its
fused file does not answer like the model as it came (60 dB; less only where its input is a while loop's or a sort's).
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(os.environ.get("HALFTONE_SHARED", "")) / "data" / "models"
MIN_SQNR = 60
EXACT = 999
# Of dimensions behind the first that a model leaves free.
FREE = 16
# Inputs of these names have no rank in their files.
RANKS = {"keep_prob": (), "X": (2, 784), "IteratorGetNext": (1, 96, 96, 1)}


def inspect(model):
    run = subprocess.run(["halftone", "inspect", model, "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)


def dims_of(value):
    """Free dimensions are -1."""
    if value["shape"] == "[*]":
        return list(RANKS[value["name"]])
    words = [word for word in value["shape"].strip("[]").split(",") if word]
    return [int(word) if word.isdigit() else -1 for word in words]


def samples(model, folder):
    """An .npz where the model has inputs that only samples can complete; else none: then the job takes random numbers."""
    import numpy
    random = numpy.random.default_rng(7)
    inputs = inspect(model)["inputs"]
    dims = [dims_of(value) for value in inputs]
    if all(value["shape"] != "[*]" for value in inputs) and all(d > 0 for each in dims for d in each[1:]):
        return []
    arrays = {}
    for value, each in zip(inputs, dims):
        shape = [d if d > 0 else 2 if i == 0 else FREE for i, d in enumerate(each)]
        if value["type"] == "f32":  # a scalar is the share of values that dropout keeps
            arrays[value["name"]] = (random.random(shape) if shape else numpy.ones(())).astype(numpy.float32)
        else:
            arrays[value["name"]] = random.integers(0, 100, shape).astype({"u8": "u1", "s64": "i8", "s32": "i4"}[value["type"]])
    numpy.savez(folder / "samples.npz", **arrays)
    return ["--eval", folder / "samples.npz"]


def measure(model, options):
    name = "_".join(model.relative_to(SHARED).parts)
    kept = options.resume / f"{name}.json" if options.resume else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        how = ["--no-bench"] if options.no_bench else ["--profile", options.profile]
        command = ["halftone", "optimize", model, "--precision", "fp32", "--out", folder / "out", "--quiet", *samples(model, folder), *how]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        text = (folder / "out" / "report.json").read_text()
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text)
    return json.loads(text)


def variant(report, precision):
    return next(v for v in report["variants"] if v["precision"] == precision)


def worst_sqnr(report):
    return min((row["sqnr_db"] for row in variant(report, "ORIGINAL")["fidelity"]), default=None)


def times(report):
    original, fp32 = variant(report, "ORIGINAL")["benchmark"], variant(report, "FP32")["benchmark"]
    if not original or not original["samples"]:
        return ["-", "-", "-"]
    # The report has time(fp32) / time(original); here above 1 is what fusion wins.
    speedup = original["speedup"]
    won = "-"
    if speedup["median"] > 0:
        won = f"{1 / speedup['median']:.2f} ({1 / speedup['high']:.2f} .. {1 / speedup['low']:.2f})"
    if not (original["valid"] and fp32["valid"]):
        won += " INVALID"
    return [f"{original['median_ms']:.3f}", f"{fp32['median_ms']:.3f}", won]


def row(name, report):
    fp32, sqnr = variant(report, "FP32"), worst_sqnr(report)
    answers = "-" if sqnr is None else "exact" if sqnr == EXACT else f"{sqnr:.0f} dB"
    return [name, str(fp32["nodes_before"]), str(fp32["nodes_after"]), str(fp32["nodes_written"]), *times(report), answers]


def table(header, rows, words=(0,)):
    """`words`: columns that hold no numbers."""
    line = ["---" if i in words else "---:" for i in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, line, *rows])


def page(reports, failures, options):
    environment = next(iter(reports.values()))["environment"] if reports else {}
    kinds = collections.Counter()
    equations, models_of = {}, collections.defaultdict(set)
    for name, report in reports.items():
        for fusion in variant(report, "FP32")["fusions"]:
            kinds[fusion["pass"]] += fusion["count"]
            equations.setdefault(fusion["pass"], fusion["equation"])
            if equations[fusion["pass"]] != fusion["equation"]:
                equations[fusion["pass"]] = ""
            models_of[fusion["pass"]].add(name)
    rows = [row(name, report) for name, report in reports.items()]
    by_kind = [[f"`{k}`", str(n), str(len(models_of[k])), f"`{equations[k]}`".replace("|", "\\|") if equations[k] else "in several ways"] for k, n in kinds.most_common()]
    by_model = [[name, ", ".join(f"{f['count']} x {f['pass']}" for f in variant(report, "FP32")["fusions"]) or "nothing"]
                for name, report in reports.items()]
    lines = [
        "# Fusion on real models", "",
        "Written by `tests/bench/model_fusions.py`" + (", without times." if options.no_bench else f", profile {options.profile}.")
        + " Nodes: those that compute, of the model as it came, of the fused graph that runs, and of the portable file's graph, which "
        "says fused nodes by their parts. Times: one inference of one sample with one thread, the model as it came (run node by node) "
        "against its fused fp32 file; above 1, fusion wins; the 95 % interval. Answers: of the model as it came against the fused file.",
        "", f"{environment.get('cpu', '')}, {environment.get('isa', '')}, oneDNN {environment.get('onednn_version', '')}.", "",
        table(["model", "nodes", "fused", "in the file", "original ms", "fp32 ms", "original / fp32", "answers"], rows), "",
        "## By kind", "", table(["rule", "places", "models", "what became what"], by_kind, words=(0, 3)), "",
        "## By model", "", table(["model", "fusions"], by_model, words=(0, 1)), ""]
    if failures:
        lines += ["## Failed", "", *(f"* {name}: {why.splitlines()[-1] if why else ''}" for name, why in failures.items()), ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file (default: print it)")
    parser.add_argument("--profile", default="quick", choices=["quick", "standard", "strict"])
    parser.add_argument("--no-bench", action="store_true", help="nodes, fusions and answers only")
    parser.add_argument("--resume", type=pathlib.Path, metavar="DIR", help="keep reports here, and take those that are there")
    options = parser.parse_args()
    models = sorted(p for p in SHARED.glob("*/*") if p.suffix in (".onnx", ".pb") or p.parent.name == "savedmodel")
    models = [m for m in models if not options.words or any(word in str(m) for word in options.words)]
    if not models:
        sys.exit(f"no models in {SHARED}: HALFTONE_SHARED is the folder that has data/models")
    reports, failures = {}, {}
    for model in models:
        name = str(model.relative_to(SHARED))
        try:
            reports[name] = measure(model, options)
            print("  ".join(row(name, reports[name])), file=sys.stderr, flush=True)
            sqnr = worst_sqnr(reports[name])
            if sqnr is not None and sqnr < MIN_SQNR:
                failures[name] = f"the fused file answers otherwise: {sqnr:.1f} dB"
        except RuntimeError as error:
            failures[name] = str(error)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    text = page(reports, failures, options)
    if options.markdown:
        options.markdown.write_text(text)
    else:
        print(text)
    sys.exit(1 if failures else 0)


main()
