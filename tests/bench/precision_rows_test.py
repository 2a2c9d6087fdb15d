#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a report to a row, and the targets."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from precision_rows import add_predictions, checks_of, counted, missed, row  # noqa: E402
from zoo import NO_TARGET, Target  # noqa: E402


def benchmark(ms, speedup=None, valid=True):
    return {"median_ms": ms, "samples": 50, "speedup": speedup or {"median": 1, "low": 1, "high": 1}, "valid": valid,
            "invalid_reasons": [] if valid else ["a busy core"]}


def fidelity(sqnr, agreement=1.0, rows=100, cosine=0.9999):
    return {"output": "y", "sqnr_db": sqnr, "cosine": cosine, "max_abs_error": 0.1, "top1_agreement": agreement, "rows": rows}


def report(bf16_fidelity, labelled=100, **more):
    one = {"summary": "", "emulated": False, "labelled_samples": labelled, "artifact": {"size_bytes": 100}, "fidelity": []}
    decisions = [{"node": f"n{i}", "precision": "bf16" if i < 3 else "fp32"} for i in range(5)]
    return {"evaluation_samples": 100, "environment": {}, "variants": [
        {**one, "precision": "original"},
        {**one, "precision": "fp32", "benchmark": benchmark(10), "top1_accuracy": 0.79},
        {**one, "precision": "bf16", "benchmark": benchmark(5, {"median": 2, "low": 1.9, "high": 2.1}), "top1_accuracy": 0.78, "fidelity": bf16_fidelity,
         "decisions": decisions, "casts_planned": 4, "casts_in_file": 3, "casts_run": -1, **more}]}


@case("a row has nodes, casts, times, the worst output and the changed classes")
def _(t):
    r = row(report([fidelity(41.5, 0.98), fidelity(38.0, 1.0, cosine=0.999)]), "lists")
    t.equal((r["bf16_nodes"], r["decided_nodes"]), (3, 5))
    t.equal(r["casts"], {"planned": 4, "in_file": 3, "run": None})
    t.equal((r["fp32_ms"], r["bf16_ms"], r["speed"]["median"], r["speed"]["valid"]), (10, 5, 2, True))
    t.equal((r["fidelity"]["sqnr_db"], r["fidelity"]["cosine"], r["fidelity"]["outputs"]), (38.0, 0.999, 2))
    t.equal((r["changed"], r["samples"], r["top1"]), (2, 100, {"fp32": 0.79, "bf16": 0.78}))


@case("without labels there are no classes, without a benchmark no times")
def _(t):
    r = row(report([fidelity(40)], labelled=0), "lists")
    t.equal((r["changed"], r["top1"]), (None, None))
    without = report([fidelity(40)])
    for v in without["variants"]:
        v["benchmark"] = None
    r = row(without, "lists")
    t.equal((r["fp32_ms"], r["bf16_ms"], r["speed"]), (None, None, None))
    for v in without["variants"]:
        v["benchmark"] = {"median_ms": 0, "samples": 0}
    r = row(without, "lists")
    t.equal((r["fp32_ms"], r["bf16_ms"], r["speed"]), (None, None, None))


@case("a report without bf16 is refused")
def _(t):
    broken = report([fidelity(40)])
    broken["variants"].pop()
    try:
        row(broken, "lists")
    except ValueError as error:
        t.contains(str(error), "original")
        return
    t.check(False, "no error")


@case("targets: as many changes as allowed are met, one more is missed; nothing measured is missed")
def _(t):
    two_of_100 = Target(changed_share=0.02)
    for changes, met in ((0, True), (2, True), (3, False), (None, False)):
        [v] = checks_of({"changed": changes, "samples": 100, "fidelity": None}, two_of_100)
        t.equal((v["target"], v["met"]), (2, met), changes)
    [v] = checks_of({"changed": 10, "samples": 10000, "fidelity": None}, Target(changed_share=0.001))
    t.equal((v["target"], v["met"]), (10, True))
    [v] = checks_of({"changed": 0, "samples": 0, "fidelity": None}, two_of_100)
    t.equal(v["met"], False, "no samples")
    clips = Target(changed_share=0, sqnr_db=30)
    met = [v["met"] for v in checks_of({"changed": 1, "samples": 4, "fidelity": {"sqnr_db": 30.0}}, clips)]
    t.equal(met, [False, True])
    met = [v["met"] for v in checks_of({"changed": 0, "samples": 4, "fidelity": {"sqnr_db": 29.99}}, clips)]
    t.equal(met, [True, False])
    t.equal(checks_of({"changed": 7, "samples": 4, "fidelity": None}, NO_TARGET), [])


@case("predictions of both files give the changes and the scores")
def _(t):
    r = row(report([fidelity(40)]), "placement")
    add_predictions(r, [0, 1, 1], [0, 1, 0], [0, 1, 1])
    t.equal(r["changed"], 1)
    t.equal((r["scores"]["fp32"]["accuracy"], r["scores"]["bf16"]["accuracy"]), (2 / 3, 1))
    t.equal(set(r["scores"]["fp32"]), {"accuracy", "precision", "recall", "f1"})


@case("missed targets are listed with number and bound, and counted")
def _(t):
    results = [{"model": "a.onnx", "planner": "lists", "checks": checks_of({"changed": 3, "samples": 100, "fidelity": None}, Target(changed_share=0.02))},
               {"model": "b.pb", "planner": "placement", "checks": checks_of({"changed": 0, "samples": 4, "fidelity": {"sqnr_db": 28.04}}, Target(0, 30))}]
    t.equal(missed(results), ["a.onnx, lists: 3 changed classes, at most 2", "b.pb, placement: 28.0 SQNR dB, at least 30"])
    t.equal(counted(results), (1, 3))


main()
