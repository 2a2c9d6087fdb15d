#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One round of ONNX Runtime's CPU execution provider in its own process. halftone_round.cc is the same for our engine.

usage: onnxruntime_round.py MODEL.onnx SAMPLES.npz --seconds S --samples N --batch N --cores 0,1 [--outputs OUT.npz]

One thread per core. Warm-up and timing are those of runtime/measure/benchmark.h: warm-up until three batches in a row differ by less than 2 %
and 50 inferences are done, or for 2 s; then S seconds of inferences, at least N, each timed from numpy array to numpy array. Prints
JSON. --outputs: no timing; writes the outputs of one inference.
"""
import argparse
import json
import os
import pathlib
import resource
import time

import numpy
import onnxruntime

WARMUP_SECONDS = 2.0
WARMUP_INFERENCES = 50
SHORT_BATCH_SECONDS = 0.01  # shorter ones are mostly noise
MAX_SWITCHES_PER_SECOND = 10  # involuntary, per thread: the limit of runtime/measure/benchmark.cc
MAX_STEAL_SHARE = 0.01


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("inputs")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--samples", dest="at_least", type=int, default=1)
    parser.add_argument("--cores", required=True)
    parser.add_argument("--outputs", type=pathlib.Path)
    options = parser.parse_args()
    options.cores = [int(core) for core in options.cores.split(",")]
    return options


def open_session(options):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = len(options.cores)
    settings.inter_op_num_threads = 1
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.add_free_dimension_override_by_name("N", options.batch)
    return onnxruntime.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"])


def warm_up(inference):
    start, done, batch, recent = time.monotonic(), 0, 1, []
    while time.monotonic() - start < WARMUP_SECONDS:
        began = time.monotonic()
        for _ in range(batch):
            inference()
        seconds = time.monotonic() - began
        done += batch
        recent = (recent + [seconds / batch])[-3:]
        if seconds < SHORT_BATCH_SECONDS:
            batch, recent = batch * 2, []
        if len(recent) == 3 and max(recent) < 1.02 * min(recent) and done >= WARMUP_INFERENCES:
            return


def steal():
    """Time of all cores, and the hypervisor's part of it."""
    with open("/proc/stat") as file:
        times = [float(x) for x in file.readline().split()[1:9]]
    return sum(times), times[7]


def measure(inference, options):
    warm_up(inference)
    switches, (machine, stolen) = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, steal()
    samples, start = [], time.perf_counter()
    while len(samples) < options.at_least or time.perf_counter() - start < options.seconds:
        began = time.perf_counter()
        inference()
        samples.append((time.perf_counter() - began) * 1e3)
    wall = time.perf_counter() - start
    switches = (resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches) / wall / len(options.cores)
    stolen = (steal()[1] - stolen) / max(1.0, steal()[0] - machine)
    noise = []
    if switches > MAX_SWITCHES_PER_SECOND:
        noise.append(f"{switches:.0f} involuntary context switches per second and thread (limit {MAX_SWITCHES_PER_SECOND})")
    if stolen > MAX_STEAL_SHARE:
        noise.append(f"the hypervisor took {stolen * 100:.1f} % of the CPU time (limit {MAX_STEAL_SHARE * 100:.0f} %)")
    print(json.dumps({"samples_ms": samples, "noise": noise, "version": onnxruntime.__version__}))


def main():
    options = parse()
    os.sched_setaffinity(0, options.cores)
    session = open_session(options)
    arrays = numpy.load(options.inputs)
    feed = {i.name: arrays[i.name] for i in session.get_inputs()}
    if options.outputs:
        numpy.savez(options.outputs, **dict(zip([o.name for o in session.get_outputs()], session.run(None, feed))))
        return
    measure(lambda: session.run(None, feed), options)


main()
