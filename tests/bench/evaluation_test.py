#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PASS, FAIL, WRONG, INVALID and NOISY of dev bench, and the table of targets."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from evaluation import evaluate, is_noisy, is_reference_cpu, missed  # noqa: E402
from scenarios import MODELS, Scenario, all_scenarios  # noqa: E402
from sides import BF16, FP32, ORT  # noqa: E402

ZEN4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "fpu avx512_bf16 avx512_vnni"}
ZEN5 = dict(ZEN4, **{"cpu family": "26"})
ACCURATE = {"fp32": 110.0, "bf16": 45.0}
RESNET = Scenario(MODELS["resnet50"])  # fp32 1.03, bf16 2.0


def checks(fp32, bf16, sqnr=ACCURATE, ort=(50.0,) * 5, facts=ZEN5, scenario=RESNET, disturbed=0):
    times = {ORT: list(ort), FP32: [o / s for o, s in zip(ort, fp32)], BF16: [o / s for o, s in zip(ort, bf16)]}
    return evaluate(scenario, times, sqnr, 1, facts, disturbed)


@case("the median decides between PASS and FAIL, and a question mark says that the interval contains the target")
def _(t):
    v = checks(fp32=[1.1] * 5, bf16=[1.9] * 5)
    t.equal((v["fp32"]["status"], v["bf16"]["status"]), ("PASS", "FAIL"))
    v = checks(fp32=[1.0, 1.0, 1.05, 1.1, 1.1], bf16=[1.9, 1.9, 1.95, 2.1, 2.1])
    t.equal((v["fp32"]["status"], v["bf16"]["status"]), ("PASS?", "FAIL?"))
    t.equal((missed(v["fp32"]), missed(v["bf16"])), (False, True))


@case("a fast file with wrong outputs does not pass")
def _(t):
    v = checks(fp32=[9.0] * 5, bf16=[9.0] * 5, sqnr={"fp32": 60.0, "bf16": 12.0})
    t.equal((v["fp32"]["status"], v["bf16"]["status"]), ("WRONG", "WRONG"))
    t.check(missed(v["fp32"]), "WRONG counts as passed")


@case("too many disturbed rounds are no result where the interval contains the target")
def _(t):
    t.equal(checks([1.1] * 5, [3.0] * 5, disturbed=1)["fp32"]["status"], "PASS")
    t.equal(checks([1.1] * 5, [3.0] * 5, disturbed=5)["fp32"]["status"], "PASS")
    spread = [1.0, 1.0, 1.1, 1.2, 1.2]
    t.equal(checks(spread, [3.0] * 5, disturbed=1)["fp32"]["status"], "PASS?")
    v = checks(spread, [3.0] * 5, disturbed=2)
    t.equal((v["fp32"]["status"], missed(v["fp32"]), is_noisy({"checks": v})), ("NOISY", True, True))


@case("on the reference machine a slow ONNX Runtime makes the scenario INVALID; other machines have no reference times")
def _(t):
    slow = (74.7 * 1.2,) * 5
    t.equal(checks([3.0] * 5, [3.0] * 5, ort=slow, facts=ZEN4)["fp32"]["status"], "INVALID")
    t.equal(checks([3.0] * 5, [3.0] * 5, ort=(74.7,) * 5, facts=ZEN4)["fp32"]["status"], "PASS")
    t.equal(checks([3.0] * 5, [3.0] * 5, ort=slow, facts=ZEN5)["fp32"]["status"], "PASS")
    t.equal(is_reference_cpu(dict(ZEN4, flags="fpu avx2")), False, "Zen 3")


@case("every model has targets for one thread and, 0.95 times those, for two; a setting outside the table has none")
def _(t):
    names = [s.name for s in all_scenarios()]
    t.equal(len(names), len(set(names)))
    t.equal(len([s for s in all_scenarios() if s.batch == 1]), 2 * len(MODELS))
    t.equal(sorted(s.model.name for s in all_scenarios() if (s.batch, s.threads) == (16, 1)), ["mobilenet_v2", "resnet50"])
    for s in all_scenarios():
        if s.threads == 2:
            t.check(abs(s.target.fp32 - 0.95 * Scenario(s.model, s.batch).target.fp32) < 1e-9, s.name)
    t.equal(Scenario(MODELS["vgg16"], batch=16).target, None)
    v = checks([1.0] * 5, [1.0] * 5, scenario=Scenario(MODELS["resnet50"], batch=4))
    t.equal(v["fp32"]["status"], "")


main()
