"""dev bench --kernels: every kernel that takes a node against every other (race_kernels.cc): plans must choose the fastest."""

import json
import os
import random
import subprocess

from cores import choose
from programs import BenchError, program
from races import RACES

TIE = 1.03  # nearer to each other than that, both are the fastest


def race(graph, seconds):
    """[(kernel, us)], the one that plans choose first."""
    core = int(choose(1))
    done = subprocess.run([program("race_kernels"), "--seconds", str(seconds)], input=graph, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"), preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode != 0:
        raise BenchError(f"race_kernels: exit code {done.returncode}: {done.stderr.strip()}\n{graph}")
    return [(k["kernel"], k["us"]) for k in json.loads(done.stdout)["kernels"]]


def verdict(kernels):
    if len(kernels) < 2:
        return "alone"
    return "PASS" if kernels[0][1] <= TIE * min(us for _, us in kernels) else "FAIL"


def listed():
    for r in RACES:
        print(f"{r.name:36} {', '.join(r.types)}")


def race_all(seconds, seed, only="", bf16=True):
    """Prints a line a race, in random order; whether plans choose the fastest kernel everywhere."""
    wanted = [(r, element) for r in RACES for element in r.types if only in r.name]
    todo, fine = [(r, element) for r, element in wanted if bf16 or element != "bf16"], True
    for r, element in random.Random(seed).sample(todo, len(todo)):
        kernels = race(r.text(element), seconds)
        word = verdict(kernels)
        fine = fine and word != "FAIL"
        others = "  ".join(f"{name} {us:.2f} us" for name, us in kernels)
        print(f"{word:6} {r.name:36} {element:5} {others or 'only the reference function'}", flush=True)
    if len(todo) < len(wanted):
        print(f"left out: {len(wanted) - len(todo)} races in bfloat16, which this CPU only emulates")
    return fine
