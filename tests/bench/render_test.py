#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page that dev bench writes."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from render import count, markdown, text  # noqa: E402


def check(status, speed=1.1, **more):
    return {"ms": 34.5, "speed": speed, "low": speed - 0.02, "high": speed + 0.02, "sqnr_db": 104.2, "least_sqnr_db": 80, "target": 1.03, "limit": 1.08,
            "status": status, **more}


def result(fp32, bf16, profile, threads=1, scheduling="ordinary"):
    return {"name": f"resnet50-b1-t{threads}", "model": "resnet50", "setting": f"batch 1, {threads} threads", "scheduling": scheduling, "ort_ms": 37.1, "ort_version": "1.21",
            "checks": {"fp32": fp32, "bf16": bf16}, "profile": profile, "discarded_rounds": 1, "disturbed": {"2": ["ONNX Runtime fp32: 14 switches"]}, "round_medians_ms": {}}


PROFILE = {"whole_us": 18000, "steps_us": 17900, "isolated_us": 17000, "conversions_us": 300, "loss": "Most is lost in conv.",
           "steps": [{"name": f"conv{i}", "op": "conv+relu", "kernel": "brgconv:avx512_core_bf16", "median_us": 200 - i, "isolated_us": 150, "saving_us": 50 - i}
                     for i in range(20)],
           "checks": [{"name": "steps", "ok": True, "text": "steps are 99 %"}, {"name": "memory", "ok": False, "text": "memory is 1.4 x what is alive"}]}
RESULTS = [result(check("PASS"), check("FAIL?", 1.99, target=2.0, sqnr_db=45.0), {"fp32": {**PROFILE, "checks": []}, "bf16": PROFILE}),
           result(check("PASS?", limit=None), check("WRONG", 3.0, sqnr_db=-999.0), {"why_not": "no such subcommand"}, threads=2)]
RUN = {"date": "2026-01-01", "command": "./dev bench", "cpu": "CPU: X", "reference": "None.", "versions": "1", "preset": "quick",
       "rounds": 5, "round_seconds": 1, "seed": 1, "skipped": ["squeezenet-b1-t1: no file"], "results": RESULTS}


@case("the page has a table per setting, the steps of missed targets only, failed checks and what was skipped")
def _(t):
    page = markdown(RUN)
    for part in ("2 of 4 targets are met", "## batch 1, 1 threads", "## batch 1, 2 threads", "1.10 (1.08 .. 1.12)", "1.03 (1.08)", "104, none",
                 "**resnet50 bf16, batch 1, 1 threads**: 18.00 ms per inference", "| conv2 | conv+relu", "memory is 1.4 x", "1 of 2 engine checks passed",
                 "Not measured: squeezenet-b1-t1", "no such subcommand", "2 disturbed rounds were discarded", "2 disturbed rounds are in the results, e.g. resnet50-b1-t1, round 2: ONNX"):
        t.contains(page, part)
    t.check("resnet50 fp32, batch" not in page, "steps of a met target")
    t.check("conv3" not in page, "too many steps")
    t.check(all(line.count("|") == 12 for line in page.splitlines() if line.startswith("| resnet50")), "ragged table")


@case("each setting says how it was scheduled, where they differ")
def _(t):
    t.contains(markdown(RUN), "Preset quick; scheduling ordinary.")
    alone = result(check("PASS"), check("PASS"), {}, scheduling="real-time")
    t.contains(markdown({**RUN, "results": [alone, RESULTS[1]]}), "scheduling real-time: batch 1, 1 threads, ordinary: batch 1, 2 threads.")


@case("the terminal shows the same status, and the count ignores question marks")
def _(t):
    t.equal(count(RESULTS), "2 of 4 targets are met")
    for word in ("PASS?", "FAIL?", "WRONG"):
        t.contains(text(RESULTS), word)


main()
