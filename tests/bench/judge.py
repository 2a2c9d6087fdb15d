"""The verdict on one scenario.

PASS and FAIL are about the median ratio; "?" behind one says that the 95 % interval reaches over the bar, so that another run may say
the opposite. WRONG: the answers are not near enough to ONNX Runtime's, whatever the time. VOID: ONNX Runtime was slower than it is on
this very CPU, so that beating it says nothing. NOISY: the interval reaches over the bar and too many rounds were disturbed; --resume measures again. (Where all cores are busy,
whatever else runs for a moment disturbs somebody: an interval on one side of the bar stands nevertheless.)
"""

import os

from intervals import median, ratio_of_rounds
from scenarios import FP32_SQNR_DB, REFERENCE_CPU, REFERENCE_FLAG, REFERENCE_SLACK
from sides import BF16, FP32, ORT

DISTURBED_SHARE = 1 / 3  # of the rounds: more of them, and an interval that reaches over the bar, is no result


def cpu_facts():
    """The kernel's words about the last core."""
    with open("/proc/cpuinfo") as file:
        lines = (line.partition(":") for line in file)
        return {key.strip(): value.strip() for key, _, value in lines if key.strip()}


def describe_cpu(facts):
    """The kernel's words; "AMD EPYC" alone does not say which generation."""
    amx = "AMX" if "amx_bf16" in facts.get("flags", "") else "no AMX"
    return (f"CPU: {facts.get('model name', 'unknown')}, family {facts.get('cpu family')}, model {facts.get('model')}, {amx}, "
            f"{os.cpu_count()} cores; kernel {os.uname().release}")


def has_bf16(facts):
    """Whether kernels of bfloat16 are more than an emulation, whose times say nothing."""
    return not {"avx512_bf16", "amx_bf16", "avx_ne_convert"}.isdisjoint(facts.get("flags", "").split())


def is_reference_cpu(facts):
    return all(facts.get(key) == value for key, value in REFERENCE_CPU.items()) and REFERENCE_FLAG in facts.get("flags", "").split()


def is_void(scenario, ort_ms, facts):
    """Whether ONNX Runtime was slower than its reference time allows. Only that CPU has one."""
    reference = scenario.reference_ms
    return bool(is_reference_cpu(facts) and reference and ort_ms > (1 + REFERENCE_SLACK) * reference)


def word(ratio, bar, right, void, disturbed):
    value, low, high = ratio
    if not right:
        return "WRONG"
    if void:
        return "VOID"
    unsure = low is None or low < bar <= high
    if unsure and disturbed:
        return "NOISY"
    return ("PASS" if value >= bar else "FAIL") + ("?" if unsure else "")


def judge(scenario, times, sqnr, seed, facts, disturbed_rounds=0):
    """{"fp32": {...}, "bf16": {...}}: the multiple of ONNX Runtime's speed, its interval, bar, limit and word."""
    asked = scenario.bar
    void = is_void(scenario, median(times[ORT]), facts)
    disturbed = disturbed_rounds > DISTURBED_SHARE * len(times[ORT])
    result = {}
    for key, side, least_sqnr in (("fp32", FP32, FP32_SQNR_DB), ("bf16", BF16, scenario.model.bf16_sqnr_db)):
        ratio = ratio_of_rounds(times[ORT], times[side], seed)
        right = sqnr[key] >= least_sqnr
        bar = getattr(asked, key) if asked else None
        result[key] = {"ms": median(times[side]), "speed": ratio[0], "low": ratio[1], "high": ratio[2], "sqnr_db": sqnr[key],
                       "least_sqnr_db": least_sqnr, "bar": bar, "limit": getattr(asked, key + "_limit") if asked else None,
                       "word": word(ratio, bar, right, void, disturbed) if bar else "" if right else "WRONG"}
    return result


def missed(verdict):
    return verdict["word"].rstrip("?") in ("FAIL", "WRONG", "VOID", "NOISY")


def is_noisy(result):
    """Whether --resume measures it again: it says nothing, or it does not count."""
    return any(v["word"] in ("NOISY", "VOID") for v in result["verdicts"].values())
