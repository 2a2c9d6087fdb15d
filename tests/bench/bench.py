#!/usr/bin/env python3
"""dev bench: Halftone against ONNX Runtime on the same model, one thread, one core.

    dev bench [--models resnet50,...] [--rounds N] [--round-seconds S] [--quick] [--seed N] [--json FILE] [--markdown FILE]

Each round runs every side once, in random order, each in fresh processes: ONNX Runtime (fp32), Halftone's fused fp32 file and
Halftone's bf16 file. A side's time in a round is the median of its inferences; times are compared within rounds, and the 95 %
interval of a ratio is bootstrapped over rounds. Weights are random, which changes no time. Ends with a line PASS or FAIL for each
bar of the model, and exit code 1 when one fails. Nothing else should run on the machine: disturbed rounds are done again.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import random
import sys
import tempfile
import time

from intervals import median, ratio_of_rounds
from render import markdown, table
from sides import BenchError, Halftone, OnnxRuntime, export, lower

ORT, FP32, BF16 = "ONNX Runtime fp32", "Halftone fp32 (fused)", "Halftone bf16"


@dataclasses.dataclass
class Model:
    """A network of torchvision, batch 1. A bar of None is not asked."""
    name: str
    fp32_at_most: float | None = None  # time of fused fp32 / time of ONNX Runtime
    bf16_at_least: float | None = None  # time of the faster fp32 side / time of bf16


MODELS = {m.name: m for m in [
    Model("resnet50", fp32_at_most=1.1, bf16_at_least=1.7),
    Model("mobilenet_v2"),
    Model("vgg16"),
]}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50", help=f"comma-separated, of {', '.join(MODELS)} (default: resnet50)")
    parser.add_argument("--rounds", type=int, default=9, help="default: 9")
    parser.add_argument("--round-seconds", type=float, default=1.0, help="timed inference of one side in one round (default: 1)")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.5 s: an indication, not a result")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the sides and the intervals (default: 1)")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured to this file")
    parser.add_argument("--markdown", type=pathlib.Path, help="write a page with the results to this file")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.round_seconds = 3, 0.5
    options.models = options.models.split(",")
    for name in options.models:
        if name not in MODELS:
            parser.error(f"no model '{name}'; there are {', '.join(MODELS)}")
    if options.rounds < 3:
        parser.error("--rounds: an interval needs at least 3")
    return options


def describe_cpu():
    """The kernel's words; "AMD EPYC" alone does not say which generation."""
    lines = (line.partition(":") for line in open("/proc/cpuinfo"))
    facts = {key.strip(): value.strip() for key, _, value in lines}
    amx = "AMX" if "amx_bf16" in facts.get("flags", "") else "no AMX"
    return f"{facts.get('model name', 'unknown')}, family {facts.get('cpu family')}, model {facts.get('model')}, {amx}"


def describe_scheduling():
    real_time = os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
    return "real-time (chrt), for both sides alike" if real_time else "ordinary"


def wait_for_quiet(limit_seconds=180):
    """Gives a build that is about to end the time to do so."""
    start = time.monotonic()
    while os.getloadavg()[0] > 0.75 * os.cpu_count() and time.monotonic() - start < limit_seconds:
        if time.monotonic() - start < 1:
            print(f"load average {os.getloadavg()[0]:.1f}: waiting up to {limit_seconds} s for a quiet machine", file=sys.stderr)
        time.sleep(2)


def measure(sides, options):
    """Rounds in random order: {side: [median of each round]}, and what disturbed the rounds that were thrown away.

    A round in which any side was disturbed is done again as a whole, so that no side is favoured; after as many of these as
    options.rounds, disturbed rounds count too, and stay in the list of what is wrong with the result.
    """
    order, times, thrown, kept_noise = random.Random(options.seed), {s.name: [] for s in sides}, [], []
    while len(times[sides[0].name]) < options.rounds:
        of_round, noise = {}, []
        for side in order.sample(sides, len(sides)):
            of_round[side.name], disturbed = side.round(options.round_seconds, batch=1)
            noise += [f"{side.name}: {reason}" for reason in disturbed]
        done = len(times[sides[0].name])
        print(f"  round {done + 1} of {options.rounds}  " + "  ".join(f"{name} {ms:.3f} ms" for name, ms in sorted(of_round.items())) +
              (f"  disturbed: {noise[0]}" if noise else ""), file=sys.stderr, flush=True)
        if noise and len(thrown) < options.rounds:
            thrown.append(noise)
            continue
        kept_noise += [f"round {done + 1}: {reason}" for reason in noise]
        for name, milliseconds in of_round.items():
            times[name].append(milliseconds)
    return times, thrown, kept_noise


def bar(text, ratio, good):
    value, low, high = ratio
    return {"bar": text, "value": value, "low": low, "high": high, "passed": good}


def judge(model, times, seed):
    fp32 = ratio_of_rounds(times[FP32], times[ORT], seed)
    faster = FP32 if median(times[FP32]) <= median(times[ORT]) else ORT
    bf16 = ratio_of_rounds(times[faster], times[BF16], seed)
    bars = []
    if model.fp32_at_most is not None:
        bars.append(bar(f"fused fp32 takes at most {model.fp32_at_most} x the time of ONNX Runtime", fp32, fp32[0] <= model.fp32_at_most))
    if model.bf16_at_least is not None:
        bars.append(bar(f"bf16 is at least {model.bf16_at_least} x as fast as the faster fp32 side ({faster})", bf16,
                        bf16[0] >= model.bf16_at_least))
    return bars


def bench(model, options, folder):
    path = export(model.name, pathlib.Path(os.environ.get("HALFTONE_CACHE", folder)) / "bench")
    fp32_file, bf16_file, sqnr_db = lower(path, 1, folder / model.name)
    sides = [OnnxRuntime(ORT, path), Halftone(FP32, fp32_file), Halftone(BF16, bf16_file)]
    wait_for_quiet()
    times, thrown, noise = measure(sides, options)
    rows = []
    for side in sides:
        speedup = ratio_of_rounds(times[ORT], times[side.name], options.seed)
        rows.append({"side": side.name, "version": side.version, "file_bytes": os.path.getsize(side.model), "median_ms": median(times[side.name]),
                     "min_round_ms": min(times[side.name]), "max_round_ms": max(times[side.name]), "speedup": speedup,
                     "round_medians_ms": times[side.name]})
    return {"model": model.name, "rows": rows, "bf16_sqnr_db": sqnr_db, "bars": judge(model, times, options.seed),
            "thrown_away": thrown, "disturbed": noise, "environment": sides[1].environment}


def main():
    options = parse(sys.argv[1:])
    result = {"date": datetime.date.today().isoformat(), "cpu": describe_cpu(), "scheduling": describe_scheduling(), "rounds": options.rounds,
              "round_seconds": options.round_seconds, "seed": options.seed, "models": []}
    with tempfile.TemporaryDirectory(prefix="halftone-bench-") as folder:
        for name in options.models:
            print(f"{name}: {options.rounds} rounds of {options.round_seconds} s a side", file=sys.stderr)
            result["models"].append(bench(MODELS[name], options, pathlib.Path(folder)))
            print(table(result["models"][-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(result))
    return 0 if all(b["passed"] for m in result["models"] for b in m["bars"]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"dev bench: {error}")
