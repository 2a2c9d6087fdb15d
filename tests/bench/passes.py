"""dev bench --passes: how long the passes take on large graphs of repeated transformer blocks (passes_bench.cc), one core, beside what
ONNX Runtime takes to optimize the same file while it loads it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cores import choose
from programs import HERE, BenchError, program

# nodes: seconds at most. Memory may grow by MEMORY times the file without its weights.
BARS = {10_000: 0.4, 100_000: 4.0}
MEMORY = 3.0
REPEAT = 3
SLOW = 50_000  # nodes from which on ONNX Runtime, which takes a minute then, loads the file once


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
    """Prints a line a graph; whether all bars are met."""
    fine = True
    print(f"{'nodes':>8} {'file':>9}   {'halftone: simplify, fuse, lower':34} {'memory':22} ONNX Runtime: load, load + optimize = optimization")
    for nodes, bar in BARS.items():
        m = measure(nodes)
        seconds, grew, file = m["total_ms"] / 1e3, m["peak_growth_bytes"], m["file_bytes_without_weights"]
        word = "PASS" if seconds <= bar else "FAIL"
        memory = "PASS" if grew <= MEMORY * file else "FAIL"
        fine = fine and word == memory == "PASS"
        print(f"{m['nodes']:>8} {file / 1e6:>6.1f} MB   {word} {seconds:6.3f} s of {bar} s, {m['nodes_fused']} fused   "
              f"{memory} {grew / file:.2f} of {MEMORY:g} x file   {m['ort_load_s']:.3f} s, {m['ort_load_optimized_s']:.3f} s = "
              f"{m['ort_load_optimized_s'] - m['ort_load_s']:.3f} s, {m['ort_memory_bytes'] / file:.1f} x file", flush=True)
        for name, ms in m["slowest_passes_ms"].items():
            print(f"{'':12}{ms:9.1f} ms  {name}")
    return fine
