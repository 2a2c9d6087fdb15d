#!/usr/bin/env python3
"""One round of ONNX Runtime's CPU provider, in a process of its own: onnxruntime_round.py MODEL.onnx SECONDS BATCH

One thread, pinned to the first core that this process may use, as Halftone pins its own rounds. Warm-up and timing are those of
runtime/benchmark.h: warm-up until three batches in a row differ by less than 2 % and 50 inferences are done, or for 2 s; then
SECONDS of inferences, each timed from numpy array to numpy array. Prints JSON.
"""
import json
import os
import resource
import sys
import time

import numpy
import onnxruntime

WARMUP_SECONDS = 2.0
WARMUP_INFERENCES = 50
SHORT_BATCH_SECONDS = 0.01  # shorter ones are mostly noise


def open_session(path, batch):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_free_dimension_override_by_name("N", batch)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


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


def main():
    path, seconds, batch = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    session = open_session(path, batch)
    generator = numpy.random.default_rng(1)
    feed = {i.name: generator.random([d if isinstance(d, int) else batch for d in i.shape], numpy.float32) for i in session.get_inputs()}

    def inference():
        session.run(None, feed)

    warm_up(inference)
    switches, samples, start = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, [], time.perf_counter()
    while not samples or time.perf_counter() - start < seconds:
        began = time.perf_counter()
        inference()
        samples.append((time.perf_counter() - began) * 1e3)
    wall = time.perf_counter() - start
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
    print(json.dumps({"samples_ms": samples, "switches_per_second": switches / wall, "version": onnxruntime.__version__}))


main()
