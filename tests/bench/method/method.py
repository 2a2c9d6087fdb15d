#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dev bench-method: is the benchmark reliable?

    dev bench-method aa --count 10         A/A test: the interval of two equal variants must contain 1, and none may be called faster or slower
    dev bench-method slowdown --count 10   one of two equal variants waits 5 % longer: it must be called slower
    dev bench-method noise --count 4       other programs on the same cores, or half a CPU: the benchmark must report noise
    dev bench-method repeat --count 3      two benchmarks one after the other: their medians must agree

The two equal variants are fp32 and its self-check, which every benchmark measures in each round. Ends with one line, PASS or
FAIL, and exit code 0 or 1.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
from cores import is_real_time  # noqa: E402
from noise import burners, half_a_cpu  # noqa: E402

REPO = pathlib.Path(__file__).resolve().parents[3]
SLOW_SWITCH = "HALFTONE_TEST_SLOW_SELF_CHECK"  # percent
NOISY = 9  # exit code of a benchmark that noise leaves undecided
ATTEMPTS = 3  # per run, where the machine is noisy


class Run:
    """One `halftone bench`: its report and its exit code."""

    def __init__(self, arguments, seed, environment=None, prefix=()):
        command = [*prefix, "halftone", "bench", arguments.model, "--preset", arguments.preset, "--threads", arguments.threads, "--seed",
                   seed, "--json", "--quiet"]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, **(environment or {})})
        if done.returncode not in (0, NOISY):
            sys.exit(f"halftone bench: exit code {done.returncode}\n{done.stderr[-2000:]}")
        self.code = done.returncode
        self.report = json.loads(done.stdout)
        self.check = self.report["benchmark_run"]["self_check"]["speedup"]
        fp32 = next(v for v in self.report["variants"] if v["precision"] == "fp32")["benchmark"]
        self.fp32_ms = fp32["median_ms"]
        # The A/A test is what is tried here; everything else is noise from outside.
        noise = [*fp32["noise"], *self.report["benchmark_run"]["noise"]]
        self.disturbed = list(dict.fromkeys(r for r in [*fp32["invalid_reasons"], *noise] if not r.startswith("A/A test")))

    def text(self):
        c = self.check
        return f"{c['median']:.4f} ({c['low']:.4f} .. {c['high']:.4f}) {c['verdict'].lower()}"


def quiet_runs(arguments, environment=None):
    """As many runs as wanted. A run that was disturbed from outside is reported and repeated."""
    wanted, seed, disturbed = arguments.count, arguments.seed, 0
    while wanted > 0 and seed < arguments.seed + ATTEMPTS * arguments.count:
        run = Run(arguments, seed, environment)
        seed += 1
        noise = run.disturbed
        if noise and not arguments.any_machine:
            disturbed += 1
            print(f"  disturbed, repeated: {noise[0]}", flush=True)
            continue
        wanted -= 1
        print(f"  {run.text()}", flush=True)
        yield run
    if wanted > 0:
        print(f"  the machine is noisy: {disturbed} runs were disturbed, {wanted} are missing (--any-machine counts those too)")


def conclude(name, passed, text):
    print(f"{'PASS' if passed else 'FAIL'} {name}: {text}")
    return 0 if passed else 1


def aa(arguments):
    runs = list(quiet_runs(arguments))
    hold = sum(r.check["low"] <= 1 <= r.check["high"] for r in runs)
    wrong = sum(r.check["verdict"] in ("faster", "slower") for r in runs)
    n = len(runs)
    return conclude("aa", n == arguments.count and hold >= 0.9 * n and wrong <= 0.05 * n,
                    f"{hold} of {n} intervals contain 1 (at least 90 % should), {wrong} wrong results (at most 5 %)")


def slowdown(arguments):
    runs = list(quiet_runs(arguments, {SLOW_SWITCH: str(arguments.percent)}))
    seen = sum(r.check["verdict"] == "slower" for r in runs)
    n = len(runs)
    return conclude("slowdown", n == arguments.count and seen >= 0.95 * n,
                    f"{seen} of {n} times {arguments.percent} % were seen (at least 95 % should)")


def noise(arguments):
    kinds = {"burners": burners, "half a CPU": half_a_cpu}
    seen = {kind: [0, 0] for kind in kinds}
    for i in range(arguments.count):
        for kind, disturb in kinds.items():
            with disturb() as (prefix, why_not):
                if why_not:
                    if i == 0:
                        print(f"  {kind}: left out: {why_not}", flush=True)
                    continue
                run = Run(arguments, arguments.seed + i, prefix=prefix)
            found = any(v["benchmark"]["noise"] for v in run.report["variants"])
            seen[kind][0] += found
            seen[kind][1] += 1
            print(f"  {kind}: {'noisy' if found else 'not noticed'}: {run.disturbed[:2]}", flush=True)
    tried = {kind: counts for kind, counts in seen.items() if counts[1]}
    return conclude("noise", bool(tried) and all(a == b for a, b in tried.values()),
                    ", ".join(f"{kind}: {a} of {b} were detected" for kind, (a, b) in tried.items()))


def repeat(arguments):
    worst, pairs = 0, 0
    runs = quiet_runs(argparse.Namespace(**{**vars(arguments), "count": 2 * arguments.count}))
    for first, second in zip(runs, runs):
        worst = max(worst, abs(first.fp32_ms / second.fp32_ms - 1))
        pairs += 1
    return conclude("repeat", pairs == arguments.count and worst <= 0.05,
                    f"medians of {pairs} pairs differ by at most {100 * worst:.1f} % (5 % is allowed in a virtual machine)")


def main():
    parser = argparse.ArgumentParser(prog="dev bench-method", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {"aa": aa, "slowdown": slowdown, "noise": noise, "repeat": repeat}
    parser.add_argument("what", choices=commands)
    parser.add_argument("--count", type=int, default=10, help="benchmarks (default: 10)")
    parser.add_argument("--model", default=REPO / "tests/demo/models/digits.onnx")
    parser.add_argument("--preset", default="standard", choices=("quick", "standard", "strict"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the first one; each further has the next (default: 1)")
    parser.add_argument("--percent", type=float, default=5, help="of slowdown: how much (default: 5)")
    parser.add_argument("--any-machine", action="store_true", help="count runs that were disturbed from outside too")
    arguments = parser.parse_args()
    if arguments.count < 1:
        parser.error("--count is at least 1")
    if arguments.what == "noise" and is_real_time():
        parser.error("noise: not under chrt: a program with real-time scheduling that shares a core never lets the benchmark run")
    return commands[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
