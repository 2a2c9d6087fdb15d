#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planners, rules for nodes, float16, and the precision of each node with its reason, through the command line."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, variant  # noqa: E402

ONNX, GRAPHDEF = DEMO / "digits.onnx", DEMO / "digits.pb"
QUICK = ("--no-bench", "--allow-emulation")


def worst(row):
    return min(f["sqnr_db"] for f in row["fidelity"])


@case("placement plans both formats, with a decision for every node")
def _(t):
    for model in (ONNX, GRAPHDEF):
        report, _ = t.optimize(model, *QUICK, "--planner", "placement")
        bf16 = variant(report, "bf16")
        t.contains(bf16["summary"], "operators to bfloat16")
        t.check(worst(bf16) > 20, f"{model.name}: {worst(bf16)} dB")
        t.check(any(d["rule"] == "placement.marked" for d in bf16["decisions"]), f"{bf16['decisions']}")
        for decision in bf16["decisions"] + bf16["nodes"]:
            t.check("." in decision["rule"] and decision["reason"], f"{model.name}: {decision}")
        t.check(bf16["casts_planned"] > 0, "no casts")
        # Below AVX-512 oneDNN has no primitive of bf16 that could do the cast beside it.
        absorbs = "avx512" in report["environment"]["isa"]
        t.check(bf16["casts_run"] <= bf16["casts_in_file"] or not absorbs, f"{bf16['casts_run']} casts run, {bf16['casts_in_file']} in the file")


@case("--explain-precision prints what the report has")
def _(t):
    run = t.halftone("optimize", ONNX, *QUICK, "--explain-precision", "--out", "out")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "precision of each node of bf16:\n")
    t.contains(run.stdout, "lists.allow")
    report = json.loads((t.folder / "out" / "report.json").read_text())
    for decision in variant(report, "bf16")["decisions"]:
        t.contains(run.stdout, decision["rule"])
        t.contains(run.stdout, decision["reason"])


@case("--op-types must be a part of the planner's list")
def _(t):
    run = t.halftone("optimize", ONNX, "--planner", "placement", "--op-types", "conv2d,tanh", "--quiet")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "tanh is not on Paddle's list (paddle)")
    t.contains(run.stderr, "fused_matmul")
    run = t.halftone("optimize", ONNX, "--lists-version", "paddle", "--quiet")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "lists_version 'paddle': planner lists has tensorflow")


@case("the first and the last layer, a minimum and a maximum")
def _(t):
    report, _ = t.optimize(ONNX, *QUICK, "--keep-first", "--keep-last")
    rules = [d["rule"] for d in variant(report, "bf16")["decisions"]]
    t.check("policy.first-layer" in rules and "policy.last-layer" in rules, f"{rules}")
    policy = t.folder / "policy.yaml"
    policy.write_text("nodes:\n  - {op: Conv, min_precision: fp32}\n  - {op: Shape, max_precision: bf16}\n")
    report, _ = t.optimize(ONNX, *QUICK, "--policy", policy)
    kept = [d for d in variant(report, "bf16")["decisions"] if d["op"] == "conv"]
    t.check(kept and all(d["precision"] == "fp32" and d["rule"] == "policy.min-precision" for d in kept), f"{kept}")


@case("float16 is written everywhere, and run where the CPU has it or with --allow-emulation")
def _(t):
    for model in (ONNX, GRAPHDEF):
        report, out = t.optimize(model, "--no-bench", "--precision", "fp16")
        fp16 = variant(report, "fp16")
        t.check((out / fp16["artifact"]["path"].split("/")[-1]).stat().st_size > 0, "no file")
        t.check(bool(fp16["not_measured"]) != bool(fp16["fidelity"]), f"{fp16['not_measured']}, {fp16['fidelity']}")
        report, _ = t.optimize(model, *QUICK, "--precision", "fp16", "--planner", "placement")
        fp16 = variant(report, "fp16")
        t.equal(fp16["not_measured"], "")
        t.check(worst(fp16) > 45, f"{model.name}: {worst(fp16)} dB of 11 bits")


@case("inspect shows the plan of placement, for the fused graph")
def _(t):
    run = t.halftone("inspect", ONNX, "--precision-plan", "placement", "--json", "--quiet")
    t.equal(run.returncode, 0, run.stderr)
    plan = json.loads(run.stdout)
    t.contains(plan["summary"], "marked ")
    t.check(plan["rows"], "no rows")


@case("inspect plans with the flags of optimize")
def _(t):
    def plan(*flags):
        run = t.halftone("inspect", ONNX, "--json", "--quiet", *flags)
        t.equal(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["rows"]

    def values(rows, key):
        return sorted({row[key] for row in rows})

    lists, placement = ("--precision-plan", "lists"), ("--precision-plan", "placement")
    for planner in (lists, placement):
        t.equal(values(plan(*planner), "planned_type"), ["bf16", "f32"])
        t.check(not any(rule.startswith("policy.") for rule in values(plan(*planner), "rule")), "a rule of a policy that was not given")
        t.contains(values(plan(*planner, "--keep-first"), "rule"), "policy.first-layer")
        t.equal(values(plan(*planner, "--precision", "fp16"), "planned_type"), ["f16", "f32"])
    t.contains(values(plan(*lists, "--keep-last"), "rule"), "policy.last-layer")
    t.check("Relu" in values(plan(*lists), "op"), "no relu to rename")
    t.check("Relu" not in values(plan(*lists, "--pass", "rename_op(old=Relu,new=Elu)"), "op"), "they are still there")
    t.equal(values(plan(*placement, "--op-types", "fc"), "planned_type"), ["f32"])
    run = t.halftone("inspect", ONNX, *lists, "--op-types", "fc")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "op_types needs planner placement")


@case("layers in the bodies of If stay fp32, and a warning says so")
def _(t):
    branches = ", ".join(f"{name}_branch = {name} () => (float[2,8] {name}_y) {{ {name}_y = MatMul(x, w) }}" for name in ("then", "else"))
    weights = ", ".join(["1"] * 64)
    path = t.onnx("net", f"g (bool c, float[2,8] x) => (float[2,8] y) <float[8,8] w = {{{weights}}}> {{ y = If(c) <{branches}> }}")
    report, _ = t.optimize(path, *QUICK)
    t.contains(" ".join(report["warnings"]), "bf16: 2 of 2 layers stay fp32, because they are in bodies of If, Loop or Scan")


main()
