# SPDX-License-Identifier: Apache-2.0
"""dev bench --kernels: all kernels that support a node against each other (kernel_microbenchmark.cc). Plans must select the fastest."""

import json
import os
import random
import subprocess

from cores import choose
from programs import BenchError, program
from microbenchmarks import MICROBENCHMARKS

TIE = 1.03  # within this ratio two kernels are equally fast


def measure(graph, seconds):
    """[(kernel, us)]; the first is the one that plans select."""
    core = int(choose(1))
    done = subprocess.run([program("kernel_microbenchmark"), "--seconds", str(seconds)], input=graph, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"), preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode != 0:
        raise BenchError(f"kernel_microbenchmark: exit code {done.returncode}: {done.stderr.strip()}\n{graph}")
    return [(k["kernel"], k["us"]) for k in json.loads(done.stdout)["kernels"]]


def status(kernels):
    if len(kernels) < 2:
        return "single"
    return "PASS" if kernels[0][1] <= TIE * min(us for _, us in kernels) else "FAIL"


def listed():
    for r in MICROBENCHMARKS:
        print(f"{r.name:36} {', '.join(r.types)}")


def run_all(seconds, seed, only="", bf16=True):
    """Prints a line per microbenchmark, in random order. Whether plans select the fastest kernel everywhere."""
    wanted = [(r, element) for r in MICROBENCHMARKS for element in r.types if only in r.name]
    todo, fine = [(r, element) for r, element in wanted if bf16 or element != "bf16"], True
    for r, element in random.Random(seed).sample(todo, len(todo)):
        kernels = measure(r.text(element), seconds)
        result = status(kernels)
        fine = fine and result != "FAIL"
        others = "  ".join(f"{name} {us:.2f} us" for name, us in kernels)
        print(f"{result:6} {r.name:36} {element:5} {others or 'only the reference function'}", flush=True)
    if len(todo) < len(wanted):
        print(f"left out: {len(wanted) - len(todo)} microbenchmarks in bfloat16, which this CPU only emulates")
    return fine
