# SPDX-License-Identifier: Apache-2.0
"""Measures one scenario: sides in random order per round; disturbed rounds are repeated."""

import os
import random
import sys
import time

QUIET_LOAD = 0.75  # of the cores


def wait_for_quiet(limit_seconds=60):
    """Waits until the load is low, at most `limit_seconds`: a build may be about to end."""
    start = time.monotonic()
    while running() > QUIET_LOAD * os.cpu_count() and time.monotonic() - start < limit_seconds:
        time.sleep(2)


def running():
    """Runnable tasks, without this one."""
    with open("/proc/stat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("procs_running")) - 1


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(scenario, sides, samples, options):
    """{side: [median per round]}, reasons of the discarded rounds, and {round: reasons} of disturbed rounds in the results.

    A round in which any side was disturbed is repeated as a whole, so that no side is favoured, at most options.again times. After that
    disturbed rounds stay in the results and are listed.
    """
    order, times, discarded, disturbed = random.Random(f"{options.seed} {scenario.name}"), {s.name: [] for s in sides}, [], {}
    wait_for_quiet()
    while len(times[sides[0].name]) < options.rounds:
        of_round, noise = {}, []
        for side in order.sample(sides, len(sides)):
            of_round[side.name], reasons = side.round(scenario, samples, options.round_seconds)
            noise += [f"{side.name}: {reason}" for reason in reasons]
        done = len(times[sides[0].name])
        say(f"  round {done + 1} of {options.rounds}  " + "  ".join(f"{s.name} {of_round[s.name]:.3f} ms" for s in sides) +
            (f"  disturbed: {noise[0]}" if noise else ""))
        if noise and len(discarded) < options.again:
            discarded.append(noise)
            continue
        if noise:
            disturbed[done + 1] = noise
        for name, milliseconds in of_round.items():
            times[name].append(milliseconds)
    return times, discarded, disturbed
