# SPDX-License-Identifier: Apache-2.0
"""dev bench --passes: time of the passes on large graphs of repeated transformer blocks (passes_bench.cc), one core, beside the time in
which ONNX Runtime optimizes the same file while it loads it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cores import choose
from programs import HERE, BenchError, program

# nodes: seconds at most. Memory may grow by MEMORY times the size of the file without weights.
TARGETS = {10_000: 0.4, 100_000: 4.0}
MEMORY = 3.0
REPEAT = 3
SLOW = 50_000  # from this number of nodes on ONNX Runtime takes a minute and loads the file only once


def alone(command, what):
    """Its JSON; on one core, with one thread."""
    core = int(choose(1))
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"),
                          preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode != 0:
        raise BenchError(f"{what}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.strip().splitlines()[-1] if what == "onnxruntime" else done.stdout)


def onnxruntime_seconds(path, repeat):
    """Fastest loads without optimization and with all of it, and how much memory the second took beyond the first."""
    loads = {level: [alone([sys.executable, HERE / "onnxruntime_load.py", path, level], "onnxruntime") for _ in range(repeat)]
             for level in ("none", "all")}
    seconds = {level: min(load["seconds"] for load in each) for level, each in loads.items()}
    memory = min(load["peak_bytes"] for load in loads["all"]) - min(load["peak_bytes"] for load in loads["none"])
    return seconds["none"], seconds["all"], memory


def measure(nodes):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "blocks.onnx"
        ours = alone([program("passes_bench"), "--nodes", nodes, "--repeat", REPEAT, "--write", path], "passes_bench")
        plain, optimized, memory = onnxruntime_seconds(path, REPEAT if nodes < SLOW else 1)
    return {**ours, "ort_load_s": plain, "ort_load_optimized_s": optimized, "ort_memory_bytes": memory}


def measure_all():
    """Prints a line per graph. Whether all targets are met."""
    fine = True
    print(f"{'nodes':>8} {'file':>9}   {'halftone: simplify, fuse, lower':34} {'memory':22} ONNX Runtime: load, load + optimize = optimization")
    for nodes, target in TARGETS.items():
        m = measure(nodes)
        seconds, grew, file = m["total_ms"] / 1e3, m["peak_growth_bytes"], m["file_bytes_without_weights"]
        time = "PASS" if seconds <= target else "FAIL"
        memory = "PASS" if grew <= MEMORY * file else "FAIL"
        fine = fine and time == memory == "PASS"
        print(f"{m['nodes']:>8} {file / 1e6:>6.1f} MB   {time} {seconds:6.3f} s of {target} s, {m['nodes_fused']} fused   "
              f"{memory} {grew / file:.2f} of {MEMORY:g} x file   {m['ort_load_s']:.3f} s, {m['ort_load_optimized_s']:.3f} s = "
              f"{m['ort_load_optimized_s'] - m['ort_load_s']:.3f} s, {m['ort_memory_bytes'] / file:.1f} x file", flush=True)
        for name, ms in m["slowest_passes_ms"].items():
            print(f"{'':12}{ms:9.1f} ms  {name}")
    return fine
