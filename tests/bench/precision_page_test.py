#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of dev bench --precision and --headline out of results; its rows."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import headline  # noqa: E402
from harness import case, main  # noqa: E402
from headline_numbers import CLAIMS, NETS, OWN_BATCH, TITLES  # noqa: E402
from precision_page import page, ratio  # noqa: E402
from precision_tables import command_of, parse  # noqa: E402
from sides import BF16, FP32  # noqa: E402
from zoo import FAMILIES, MODELS  # noqa: E402

SCORES = {"accuracy": 0.79, "precision": 0.8, "recall": 0.7, "f1": 0.75}
ROW = {"planner": "lists", "bf16_nodes": 3, "decided_nodes": 5, "emulated": False, "casts": {"planned": 4, "in_file": 3, "run": None}, "fp32_ms": 10.0, "bf16_ms": 5.0,
       "speed": {"median": 2.0, "low": 1.9, "high": 2.1, "valid": True, "why_invalid": []}, "fidelity": {"sqnr_db": 38.04, "cosine": 0.99987, "rows": 100, "outputs": 1},
       "samples": 100, "top1": {"fp32": 0.79, "bf16": 0.78}, "changed": 3, "scores": {"fp32": SCORES, "bf16": {**SCORES, "f1": 0.7123}}}
MISSED = [{"what": "changed classes", "value": 3, "target": 2, "met": False}]
MODEL = "imagenet/mobilenet_v2_fp32_dequantized.onnx"
PART = {"date": "2026-01-01", "command": "./dev bench --precision", "preset": "quick", "threads": 1, "cpu": "CPU: X", "versions": "halftone 1",
        "skipped": ["savedmodel/half_plus_two lists: a SavedModel: no"],
        "results": [{"model": MODEL, "planner": "lists", "row": ROW, "checks": MISSED},
                    {"model": MODEL, "planner": "placement", "row": {**ROW, "planner": "placement", "emulated": True, "changed": 0}, "checks": [{**MISSED[0], "value": 0, "met": True}]},
                    {"model": "superres/ESPCN_x2.pb", "planner": "lists", "checks": [],
                     "row": {**ROW, "top1": None, "changed": None, "scores": None, "speed": {**ROW["speed"], "valid": False}}}]}
TIMES = {FP32: [10.0, 11.0, 10.5], BF16: [5.0, 5.5, 5.25]}
HEADLINE = {**PART, "command": "./dev bench --headline", "rounds": 3, "round_seconds": 1, "planner": "lists", "skipped": [],
            "results": [headline.result("resnet50", 1, 1, TIMES, {}, 45.04, 1), headline.result("resnet50", 1, 2, TIMES, {2: ["x: stolen"], 3: ["y"]}, 45.04, 1),
                        headline.result("gru", 50, 1, TIMES, {}, 41.0, 1)]}


@case("the page has a row per model and planner, each target with its number, what is missed, what was skipped")
def _(t):
    text = page({"models": PART})
    for part in ("| lists | 3 of 5 | 4 / 3 / ? | 10 | 5 | 2.00 (1.90 .. 2.10) | 38.0 | 0.999870 | 0.79 -> 0.78 | 3 of 100 | MISSED (<= 2) |",
                 "placement (emulated)", "met (<= 2)", "**1 of 2 targets are met.**", f"MISSED: {MODEL}, lists: 3 changed classes, at most 2",
                 "Not measured: savedmodel/half_plus_two", "2.00 (1.90 .. 2.10) INVALID", "### ImageNet classifiers", "### pictures", "CPU: X; halftone 1"):
        t.contains(text, part)
    t.check("### keywords" not in text, "a table without rows")


@case("precision, recall and F1: fp32 once per model, bf16 once per planner")
def _(t):
    lines = [line for line in page({"models": PART}).splitlines() if line.startswith(f"| {MODEL} |") and "->" not in line]
    t.equal([line.split(" | ")[1] for line in lines], ["fp32", "bf16, lists", "bf16, placement"])
    t.contains(lines[0], "| 100 | 0.7900 | 0.8000 | 0.7000 | 0.7500 |")
    t.contains(lines[1], "0.7123")


@case("the headline table: fps, ratios, and what is published under the same conditions only")
def _(t):
    text = page({"headline": HEADLINE})
    t.contains(text, "| ResNet50 v1.5 | 1 | 1 | 95.24 | 190 | 2.00 (2.00 .. 2.00) | 45.0 | Paddle 1.85 |")
    t.contains(text, "| ResNet50 v1.5 | 1 | 2 | 95.24 | 190 | 2.00 (2.00 .. 2.00) INVALID | 45.0 | - |")
    t.contains(text, "2 disturbed rounds are in the results, e.g. ResNet50 v1.5, batch 1, 2 threads, round 2: x: stolen.")
    t.contains(text, "| GRU | 50 | 1 | 4762 | 9524 |")
    t.contains(text, "ONNX Runtime's; scheduling ordinary.")
    alone = {**HEADLINE["results"][0], "scheduling": "real-time"}
    mixed = page({"headline": {**HEADLINE, "results": [alone, *HEADLINE["results"][1:]]}})
    t.contains(mixed, "scheduling real-time: batch 1, 1 thread, ordinary: batch 1, 2 threads; batch 50, 1 thread.")
    t.contains(text, "| ResNet50 v2 | TensorFlow 2.4 | 1.70 (1313 -> 2239 fps) | Cooper Lake, batch 128 | - |")
    t.contains(text, "## Models with trained weights\n\nNot measured yet.")


@case("a page without results says so; all rows of a table have as many cells as its head")
def _(t):
    t.equal(page({}).count("Not measured yet."), 2)
    for block in page({"models": PART, "headline": HEADLINE}).split("\n\n"):
        counts = {line.count("|") for line in block.splitlines() if line.startswith("|")}
        t.check(len(counts) <= 1, f"ragged: {block}")


@case("a ratio without rounds is a dash")
def _(t):
    t.equal(ratio(None), "-")
    t.equal(ratio({"median": 0, "low": 0, "high": 0, "valid": False}), "-")


@case("every model is in a table; every net has a title and only known conditions")
def _(t):
    t.equal({m.family for m in MODELS.values()}, set(FAMILIES))
    t.equal(set(NETS), set(TITLES))
    t.check({c.net for c in CLAIMS} <= set(TITLES.values()), "a claim about no net")
    t.check(set(OWN_BATCH) <= set(NETS), "a batch of no net")


@case("every model has a program that makes its samples", needs=("numpy",))
def _(t):
    from zoo_samples import MAKERS
    t.check({m.samples for m in MODELS.values()} <= set(MAKERS), "no such maker")


@case("small scenarios come first; a net with a fixed batch is measured with that batch only")
def _(t):
    order = headline.scenarios(["resnet50", "gru"], [128, 1], [2, 1])
    t.equal(order, [("resnet50", 1, 1), ("resnet50", 1, 2), ("gru", 50, 1), ("gru", 50, 2), ("resnet50", 128, 1), ("resnet50", 128, 2)])


@case("the command on the page works for other users")
def _(t):
    t.equal(command_of(["--headline", "--resume", "--state", "/x", "--batches", "1"]), "./dev bench --headline --batches 1")
    t.equal(command_of(["--models", "audio", "--resume"]), "./dev bench --precision --models audio")


@case("flags: threads of both tables, invalid values")
def _(t):
    t.equal(parse([]).threads, [1])
    t.equal(parse(["--headline"]).threads, [1, 2])
    options = parse(["--headline", "--batches", "1,16", "--threads", "2", "--nets", "gru,resnet50"])
    t.equal((options.batches, options.threads, options.nets), ([1, 16], [2], ["gru", "resnet50"]))


main()
