# SPDX-License-Identifier: Apache-2.0
"""precision_tables.py --headline: the networks of Paddle's and TensorFlow's tables with random weights, fp32 and bf16 files interleaved."""

from outputs import fidelity
from cores import describe_scheduling
from headline_numbers import NETS, OWN_BATCH, TITLES
from intervals import median, ratio_of_rounds
from measure import measure, say
from programs import BenchError
from scenarios import Scenario
from sides import BF16, FP32, halftone


def scenarios(nets, batches, threads):
    """The small ones first: what is interrupted has most of the table."""
    chosen = [(net, batch, t) for batch in sorted(batches) for t in sorted(threads) for net in nets if net not in OWN_BATCH]
    own = [(net, OWN_BATCH[net], t) for t in sorted(threads) for net in nets if net in OWN_BATCH]
    return chosen[:len(chosen) // max(1, len(batches))] + own + chosen[len(chosen) // max(1, len(batches)):]


def name_of(net, batch, threads):
    return f"{net}-b{batch}-t{threads}"


def fps(batch, milliseconds):
    return 1000 * batch / milliseconds


def result(net, batch, threads, times, disturbed, sqnr, seed):
    """`times`: {side: [ms per round]}; `disturbed`: {round: reasons}"""
    middle, low, high = ratio_of_rounds(times[FP32], times[BF16], seed)
    return {"net": TITLES[net], "batch": batch, "threads": threads, "scheduling": describe_scheduling(), "sqnr_db": sqnr,
            "ratio": {"median": middle, "low": low, "high": high, "valid": len(disturbed) * 3 <= len(times[FP32])},
            "fps": {"fp32": fps(batch, median(times[FP32])), "bf16": fps(batch, median(times[BF16]))}, "round_medians_ms": times,
            "disturbed": {str(key): value for key, value in disturbed.items()}}


def measure_one(net, batch, threads, options, files):
    model = NETS[net]
    scenario = Scenario(model, 1 if net in OWN_BATCH else batch, threads)
    fp32_file, bf16_file = files.lowered(scenario, options.planner)
    samples = files.samples(scenario)
    sides = [halftone(FP32, fp32_file), halftone(BF16, bf16_file)]
    times, _, disturbed = measure(scenario, sides, samples, options)
    one = Scenario(model, 1, threads)
    sqnr = fidelity(files.model(model), [bf16_file], files.samples(one), one)[0]
    if sqnr < model.bf16_sqnr_db:
        raise BenchError(f"{net}: the SQNR of the bf16 outputs against ONNX Runtime's is {sqnr:.1f} dB; at least {model.bf16_sqnr_db} is expected of such weights")
    return result(net, batch, threads, times, disturbed, sqnr, options.seed)


def run(options, files, state):
    """(results, skipped); what `state` has is not measured again, unless too many rounds were disturbed."""
    results, skipped = [], []
    todo = scenarios(options.nets, options.batches, options.threads)
    for i, (net, batch, threads) in enumerate(todo):
        name = name_of(net, batch, threads)
        if name not in state.results or not state.results[name]["ratio"]["valid"]:
            say(f"{i + 1} of {len(todo)}: {name}")
            try:
                state.add(name, measure_one(net, batch, threads, options, files))
            except BenchError as error:
                skipped.append(f"{name}: {str(error).splitlines()[-1]}")
                say(f"skipped: {skipped[-1]}")
                continue
            found = state.results[name]
            say(f"  {found['fps']['fp32']:.1f} -> {found['fps']['bf16']:.1f} fps, {found['ratio']['median']:.2f}")
        results.append(state.results[name])
    return results, skipped
