"""One scenario: rounds in random order, disturbed rounds again."""

import os
import random
import sys
import time

QUIET_LOAD = 0.75  # of the cores


def wait_for_quiet(limit_seconds=60):
    """Gives a build that is about to end the time to do so."""
    start = time.monotonic()
    while running() > QUIET_LOAD * os.cpu_count() and time.monotonic() - start < limit_seconds:
        time.sleep(2)


def running():
    """Tasks that run or want to, this one not counted."""
    with open("/proc/stat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("procs_running")) - 1


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(scenario, sides, samples, options):
    """{side: [median of each round]}, what disturbed the rounds that were thrown away, and {round: reasons} for those that count.

    A round in which any side was disturbed is done again as a whole, so that no side is favoured; at most options.again times: after
    that disturbed rounds count too, and are said to.
    """
    order, times, thrown, disturbed = random.Random(f"{options.seed} {scenario.name}"), {s.name: [] for s in sides}, [], {}
    wait_for_quiet()
    while len(times[sides[0].name]) < options.rounds:
        of_round, noise = {}, []
        for side in order.sample(sides, len(sides)):
            of_round[side.name], reasons = side.round(scenario, samples, options.round_seconds)
            noise += [f"{side.name}: {reason}" for reason in reasons]
        done = len(times[sides[0].name])
        say(f"  round {done + 1} of {options.rounds}  " + "  ".join(f"{s.name} {of_round[s.name]:.3f} ms" for s in sides) +
            (f"  disturbed: {noise[0]}" if noise else ""))
        if noise and len(thrown) < options.again:
            thrown.append(noise)
            continue
        if noise:
            disturbed[done + 1] = noise
        for name, milliseconds in of_round.items():
            times[name].append(milliseconds)
    return times, thrown, disturbed
