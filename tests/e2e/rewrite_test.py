#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flags of graph rewriting: dialects, passes by name, --verify-passes and --explain-fusion."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, variant  # noqa: E402

ONNX, GRAPHDEF = DEMO / "digits.onnx", DEMO / "digits.pb"
QUICK = ("--precision", "fp32", "--no-bench")


def fused(report):
    return {f["pass"]: f["count"] for f in variant(report, "fp32")["fusions"]}


@case("a dialect of the other format is a usage error that lists the dialects of the model's format")
def _(t):
    for model, dialect, known in ((GRAPHDEF, "onnxruntime", "'portable', 'tensorflow', 'itex'"), (ONNX, "itex", "'portable', 'onnxruntime'")):
        run = t.halftone("optimize", model, "--dialect", dialect, "--quiet")
        t.equal(run.returncode, 2, run.stderr)
        t.contains(run.stderr, f"dialect '{dialect}': the model is ")
        t.contains(run.stderr, f"whose dialects are {known}")
    run = t.halftone("optimize", ONNX, "--dialect", "onnx-runtime")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "did you mean 'onnxruntime'?")


@case("the report, the notes and --details have the dialect, the numbers of nodes before and after, and the fusions by rule")
def _(t):
    for model, dialect in ((ONNX, "onnxruntime"), (GRAPHDEF, "tensorflow"), (GRAPHDEF, "itex")):
        report, _ = t.optimize(model, *QUICK, "--dialect", dialect)
        portable, _ = t.optimize(model, *QUICK)
        t.equal((report["dialect"], portable["dialect"]), (dialect, "portable"))
        mine, plain = variant(report, "fp32"), variant(portable, "fp32")
        t.equal((mine["nodes_before"], mine["nodes_after"]), (plain["nodes_before"], plain["nodes_after"]))
        t.check(mine["nodes_after"] <= mine["nodes_written"] < plain["nodes_written"],
                f"{dialect}: {mine['nodes_after']} nodes, {mine['nodes_written']} written, portable {plain['nodes_written']}")
        t.check(fused(report).get("fuse-activation", 0) > 0, f"{fused(report)}")
        t.check(all(row["sqnr_db"] > 80 for v in report["variants"] for row in v["fidelity"]), "the file's outputs differ")
    run = t.halftone("optimize", ONNX, *QUICK, "--dialect", "onnxruntime", "--details", "--out", "out")
    t.contains(run.stdout, "dialect: onnxruntime\n")
    t.contains(run.stdout, " x fuse-activation")


@case("a pass by name runs before the pipelines, and variants are made of its result")
def _(t):
    report, _ = t.optimize(ONNX, *QUICK, "--pass", "round_weights(num_steps=4)")
    t.check(fused(report)["round_weights(num_steps=4)"] > 0, f"{fused(report)}")
    worst = min(row["sqnr_db"] for row in variant(report, "original")["fidelity"])
    t.check(worst < 60, f"the weights changed, but the outputs agree: {worst} dB")


@case("an unknown pass is a usage error that lists the known ones")
def _(t):
    run = t.halftone("optimize", ONNX, "--pass", "round_wights", "--quiet")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "round_weights")
    run = t.halftone("optimize", ONNX, "--pass", "round_weights(num_step=4)", "--quiet")
    t.equal(run.returncode, 2, run.stderr)
    t.contains(run.stderr, "num_steps")


@case("dialect, passes and verify_passes of a policy file; flags override the file")
def _(t):
    policy = t.folder / "policy.yaml"
    policy.write_text("dialect: onnxruntime\npasses: [round_weights(num_steps=8)]\nverify_passes: true\n")
    report, _ = t.optimize(ONNX, *QUICK, "--policy", policy)
    t.equal(report["dialect"], "onnxruntime")
    t.check("round_weights(num_steps=8)" in fused(report), f"{fused(report)}")
    t.check(variant(report, "fp32")["passes_verified"] > 2, f"{variant(report, 'fp32')['passes_verified']}")
    report, _ = t.optimize(ONNX, *QUICK, "--policy", policy, "--dialect", "portable", "--pass", "merge_duplicate_nodes")
    t.equal(report["dialect"], "portable")
    t.check("round_weights(num_steps=8)" not in fused(report), f"{fused(report)}")


@case("--verify-passes works for every format and reports what it checked")
def _(t):
    for model in (ONNX, GRAPHDEF):
        run = t.halftone("optimize", model, "--no-bench", "--allow-emulation", "--verify-passes", "--details", "--out", "out")
        t.equal(run.returncode, 0, run.stderr)
        t.check(re.search(r"outputs before and after \d+ runs of passes agree", run.stdout), run.stdout)


@case("--explain-fusion names the rule, the node and the failed condition; the report has the same")
def _(t):
    run = t.halftone("optimize", ONNX, *QUICK, "--explain-fusion", "--out", "out")
    t.equal(run.returncode, 0, run.stderr)
    report = json.loads((t.folder / "out" / "report.json").read_text())
    rows = variant(report, "fp32")["unfused"]
    t.contains(run.stdout, "not applied in fp32 (rule, node, failed condition):" if rows else "not applied: none,")
    for row in rows:
        t.check(row["pass"] and row["node"] and row["reason"], f"{row}")
        t.contains(run.stdout, row["reason"])


main()
