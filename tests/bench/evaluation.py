# SPDX-License-Identifier: Apache-2.0
"""Compares one scenario with its targets. Pure.

PASS, FAIL     the median speed-up reaches the target or not. "?" after it: the 95 % interval contains the target, so another run may differ.
WRONG          the outputs are not close enough to ONNX Runtime's; the time does not matter.
INVALID        ONNX Runtime was slower than its reference time on this CPU, so a speed-up over it proves nothing.
NOISY          the interval contains the target and more than DISTURBED_SHARE of the rounds were disturbed. --resume measures again. An interval
               that does not contain the target is valid in spite of disturbed rounds.
"""

import os

from intervals import median, ratio_of_rounds
from scenarios import FP32_SQNR_DB, REFERENCE_CPU, REFERENCE_FLAG, REFERENCE_SLACK
from sides import BF16, FP32, ORT

DISTURBED_SHARE = 1 / 3  # of the rounds: with more, an interval that contains the target is no result


def cpu_facts():
    """/proc/cpuinfo of the last core."""
    with open("/proc/cpuinfo") as file:
        lines = (line.partition(":") for line in file)
        return {key.strip(): value.strip() for key, _, value in lines if key.strip()}


def describe_cpu(facts):
    """With family and model: "AMD EPYC" alone does not identify the generation."""
    amx = "AMX" if "amx_bf16" in facts.get("flags", "") else "no AMX"
    return (f"CPU: {facts.get('model name', 'unknown')}, family {facts.get('cpu family')}, model {facts.get('model')}, {amx}, "
            f"{os.cpu_count()} cores; kernel {os.uname().release}")


def has_bf16(facts):
    """Whether the CPU has bfloat16 instructions. Without them bfloat16 is emulated and its times mean nothing."""
    return not {"avx512_bf16", "amx_bf16", "avx_ne_convert"}.isdisjoint(facts.get("flags", "").split())


def is_reference_cpu(facts):
    return all(facts.get(key) == value for key, value in REFERENCE_CPU.items()) and REFERENCE_FLAG in facts.get("flags", "").split()


def is_invalid(scenario, ort_ms, facts):
    """Whether ONNX Runtime exceeded its reference time by more than the slack. Only the reference CPU has reference times."""
    reference = scenario.reference_ms
    return bool(is_reference_cpu(facts) and reference and ort_ms > (1 + REFERENCE_SLACK) * reference)


def status(ratio, target, accurate, invalid, disturbed):
    value, low, high = ratio
    if not accurate:
        return "WRONG"
    if invalid:
        return "INVALID"
    unsure = low is None or low < target <= high
    if unsure and disturbed:
        return "NOISY"
    return ("PASS" if value >= target else "FAIL") + ("?" if unsure else "")


def evaluate(scenario, times, sqnr, seed, facts, disturbed_rounds=0):
    """{"fp32": {...}, "bf16": {...}}: the multiple of ONNX Runtime's speed, its interval, target, limit and status."""
    asked = scenario.target
    invalid = is_invalid(scenario, median(times[ORT]), facts)
    disturbed = disturbed_rounds > DISTURBED_SHARE * len(times[ORT])
    result = {}
    for key, side, least_sqnr in (("fp32", FP32, FP32_SQNR_DB), ("bf16", BF16, scenario.model.bf16_sqnr_db)):
        ratio = ratio_of_rounds(times[ORT], times[side], seed)
        accurate = sqnr[key] >= least_sqnr
        target = getattr(asked, key) if asked else None
        result[key] = {"ms": median(times[side]), "speed": ratio[0], "low": ratio[1], "high": ratio[2], "sqnr_db": sqnr[key],
                       "least_sqnr_db": least_sqnr, "target": target, "limit": getattr(asked, key + "_limit") if asked else None,
                       "status": status(ratio, target, accurate, invalid, disturbed) if target else "" if accurate else "WRONG"}
    return result


def missed(check):
    return check["status"].rstrip("?") in ("FAIL", "WRONG", "INVALID", "NOISY")


def is_noisy(result):
    """Whether --resume measures it again."""
    return any(v["status"] in ("NOISY", "INVALID") for v in result["checks"].values())
