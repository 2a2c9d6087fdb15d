#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPUs without bfloat16 instructions (simulated by ONEDNN_MAX_CPU_ISA): the plan stays fp32 with one warning. With --allow-emulation it is
bf16, and the report says that it is emulated."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, variant  # noqa: E402

ONNX, ONNX_EVAL = DEMO / "digits.onnx", DEMO / "digits_nchw.npz"
PB, PB_EVAL = DEMO / "digits.pb", DEMO / "digits_nhwc.npz"
WITHOUT = {"AVX2": "avx2", "AVX512_CORE": "avx512bw"}  # what ONEDNN_MAX_CPU_ISA holds oneDNN to, and who can be held to it
PLANNERS = ("lists", "placement")


def optimize(t, isa, model, samples, *flags):
    report, out = t.optimize(model, "--eval", samples, "--no-bench", *flags, env={"ONEDNN_MAX_CPU_ISA": isa})
    t.equal((report["environment"]["isa"], report["environment"]["native_bf16"]), (isa.lower(), False))
    return report, out


for _isa, _flag in WITHOUT.items():
    if _flag not in pathlib.Path("/proc/cpuinfo").read_text().split():
        print(f"left out: this CPU has no {_isa}")
        continue
    for _planner in PLANNERS:

        @case(f"{_isa}, {_planner}: every node stays fp32, for one reason that is printed once")
        def _(t, isa=_isa, planner=_planner):
            for model, samples in ((ONNX, ONNX_EVAL), (PB, PB_EVAL)):
                report, _ = optimize(t, isa, model, samples, "--planner", planner)
                bf16 = variant(report, "bf16")
                t.equal(bf16["emulated"], False)
                t.check(bf16["summary"].startswith("kept fp32: ") and "bfloat16 instructions" in bf16["summary"], bf16["summary"])
                t.equal([w for w in report["warnings"] if "bf16" in w], [f"bf16: {bf16['summary']}"])
                t.equal({n["precision"] for n in bf16["nodes"]}, {"fp32"})
                t.check(all("bf16" not in (n["src_type"], n["weights_type"], n["dst_type"]) for n in bf16["nodes"]), "a step in bf16")
                t.equal({d["precision"] for d in bf16["decisions"]}, {"fp32"})
                t.equal(bf16["fidelity"][0]["top1_agreement"], 1)
                t.equal(bf16["fidelity"][0]["sqnr_db"], 999)
                t.check(bf16["artifact"]["size_bytes"] > 0.9 * variant(report, "fp32")["artifact"]["size_bytes"], "a smaller file")

        @case(f"{_isa}, {_planner}: with --allow-emulation it is converted, has the outputs of bf16 and says that it is emulated")
        def _(t, isa=_isa, planner=_planner):
            for model, samples in ((ONNX, ONNX_EVAL), (PB, PB_EVAL)):
                report, _ = optimize(t, isa, model, samples, "--planner", planner, "--allow-emulation")
                bf16 = variant(report, "bf16")
                t.equal(bf16["emulated"], True)
                t.check(any("emulated" in w for w in report["warnings"]), f"{report['warnings']}")
                t.check(any(n["src_type"] == "bf16" for n in bf16["nodes"]), "no step in bf16")
                t.check(bf16["fidelity"][0]["top1_agreement"] >= 0.99 and 25 < bf16["fidelity"][0]["sqnr_db"] < 80, f"{bf16['fidelity']}")
                t.check(bf16["artifact"]["size_bytes"] < 0.55 * variant(report, "fp32")["artifact"]["size_bytes"], "not half as large")


@case("the table marks the emulated variant and says why")
def _(t):
    run = t.halftone("optimize", ONNX, "--eval", ONNX_EVAL, "--allow-emulation", "--rounds", "3", "--round-seconds", "0.05", "--out", t.folder / "out", env={"ONEDNN_MAX_CPU_ISA": "AVX2"})
    t.equal(run.returncode, 0, run.stderr)
    note = re.search(r"^\[(\d+)\] emulated: this CPU has no native instructions for it$", run.stdout, re.M)
    t.check(note and re.search(rf"^bf16 .*\[{note.group(1)}\]", run.stdout, re.M), run.stdout)


@case("allow_emulation of the policy is the same as the flag")
def _(t):
    policy = t.folder / "policy.yaml"
    policy.write_text("allow_emulation: true\n")
    report, _ = optimize(t, "AVX2", ONNX, ONNX_EVAL, "--policy", policy)
    t.equal(variant(report, "bf16")["emulated"], True)


@case("bfloat16 instructions are used without a warning where the CPU has them, and only there")
def _(t):
    native = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    report, _ = t.optimize(ONNX, "--eval", ONNX_EVAL, "--no-bench", env={"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"})
    bf16 = variant(report, "bf16")
    t.equal((report["environment"]["native_bf16"], bf16["emulated"]), (native, False))
    t.equal(any("emulated" in w or "kept fp32" in w for w in report["warnings"]), not native, f"{report['warnings']}")
    t.equal(any(n["src_type"] == "bf16" for n in bf16["nodes"]), native, "steps in bf16")


main()
