#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fusion on every real model of the folder of shared data: nodes before and after, fusions by rule, time and SQNR of the imported model
against its fused fp32 file. A page in Markdown:

    dev run --tier bench python3 tests/bench/model_fusions.py [--markdown results/DATE-CPU-model-fusions.md] [--preset standard] [WORD...]

WORD: only models whose path contains one of the words. --no-bench measures no times. --resume DIR saves the report of each model there and
reuses it. Nothing else should run on the machine. Exit code 1 where a model fails, or where the outputs of its fused file are less than 60 dB
from those of the imported model.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(os.environ.get("HALFTONE_SHARED", "")) / "data" / "models"
MIN_SQNR = 60
EXACT = 999
# Of dynamic dimensions after the first one.
FREE = 16
# Inputs of these names have no rank in their files.
RANKS = {"keep_prob": (), "X": (2, 784), "IteratorGetNext": (1, 96, 96, 1)}


def inspect(model):
    run = subprocess.run(["halftone", "inspect", model, "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)


def dims_of(value):
    """Dynamic dimensions are -1."""
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
        how = ["--no-bench"] if options.no_bench else ["--preset", options.preset]
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
    return min((row["sqnr_db"] for row in variant(report, "original")["fidelity"]), default=None)


def times(report):
    original, fp32 = variant(report, "original")["benchmark"], variant(report, "fp32")["benchmark"]
    if not original or not original["samples"]:
        return ["-", "-", "-"]
    # The report has time(fp32) / time(original); here it is the speed-up by fusion.
    speedup = original["speedup"]
    gain = "-"
    if speedup["median"] > 0:
        gain = f"{1 / speedup['median']:.2f} ({1 / speedup['high']:.2f} .. {1 / speedup['low']:.2f})"
    if not (original["valid"] and fp32["valid"]):
        gain += " INVALID"
    return [f"{original['median_ms']:.3f}", f"{fp32['median_ms']:.3f}", gain]


def row(name, report):
    fp32, sqnr = variant(report, "fp32"), worst_sqnr(report)
    accuracy = "-" if sqnr is None else "exact" if sqnr == EXACT else f"{sqnr:.0f} dB"
    return [name, str(fp32["nodes_before"]), str(fp32["nodes_after"]), str(fp32["nodes_written"]), *times(report), accuracy]


def table(header, rows, text_columns=(0,)):
    """`text_columns`: columns without numbers."""
    line = ["---" if i in text_columns else "---:" for i in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, line, *rows])


def page(reports, failures, options):
    environment = next(iter(reports.values()))["environment"] if reports else {}
    kinds = collections.Counter()
    equations, models_of = {}, collections.defaultdict(set)
    for name, report in reports.items():
        for fusion in variant(report, "fp32")["fusions"]:
            kinds[fusion["pass"]] += fusion["count"]
            equations.setdefault(fusion["pass"], fusion["equation"])
            if equations[fusion["pass"]] != fusion["equation"]:
                equations[fusion["pass"]] = ""
            models_of[fusion["pass"]].add(name)
    rows = [row(name, report) for name, report in reports.items()]
    by_rule = [[f"`{k}`", str(n), str(len(models_of[k])), f"`{equations[k]}`".replace("|", "\\|") if equations[k] else "several"] for k, n in kinds.most_common()]
    by_model = [[name, ", ".join(f"{f['count']} x {f['pass']}" for f in variant(report, "fp32")["fusions"]) or "nothing"]
                for name, report in reports.items()]
    lines = [
        "# Fusion on real models", "",
        f"Measured on {datetime.date.today()} by `tests/bench/model_fusions.py`" + (", without times." if options.no_bench else f", preset {options.preset}.")
        + " Nodes: computing nodes of the imported model, of the fused graph that runs, and of the portable file, which expresses fused nodes "
        "by standard ops. Times: one inference of one sample with one thread, of the imported model (run node by node) and of its fused fp32 "
        "file; speed-up with its 95 % interval. SQNR: outputs of the imported model against the fused file.",
        "", f"{environment.get('cpu', '')}, {environment.get('isa', '')}, oneDNN {environment.get('onednn_version', '')}.", "",
        table(["model", "nodes", "fused", "in the file", "original ms", "fp32 ms", "speed-up", "SQNR"], rows), "",
        "## By rule", "", table(["rule", "places", "models", "rewrite"], by_rule, text_columns=(0, 3)), "",
        "## By model", "", table(["model", "fusions"], by_model, text_columns=(0, 1)), ""]
    if failures:
        lines += ["## Failed", "", *(f"* {name}: {why.splitlines()[-1] if why else ''}" for name, why in failures.items()), ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file (default: print it)")
    parser.add_argument("--preset", default="quick", choices=["quick", "standard", "strict"])
    parser.add_argument("--no-bench", action="store_true", help="only nodes, fusions and SQNR")
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
                failures[name] = f"the outputs of the fused file differ: {sqnr:.1f} dB"
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
