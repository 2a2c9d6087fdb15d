#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Classes that ONNX Runtime predicts for all samples, in its own process. halftone_outputs.cc is the same for our engine.

usage: onnxruntime_outputs.py MODEL.onnx SAMPLES.npz [--threads N] [--no-optimization]

Samples are fed in batches of the model's fixed batch size, else one by one. Prints JSON: the labels (empty where the samples have none), the
class (argmax) of the first output per sample, and the number of nodes per op type that one profiled run executed after ONNX Runtime's graph
optimizations. --no-optimization: without graph optimizations.
"""
import argparse
import collections
import json
import pathlib
import tempfile

import numpy
import onnxruntime


def open_session(options, profile_prefix=None):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = options.threads
    if options.no_optimization:
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if profile_prefix:
        settings.enable_profiling = True
        settings.profile_file_prefix = profile_prefix
    return onnxruntime.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"])


def feeds_of(session, arrays):
    sizes = {i.name: i.shape[0] if isinstance(i.shape[0], int) else 1 for i in session.get_inputs()}
    count = min(len(arrays[name]) // size for name, size in sizes.items())
    return [{name: arrays[name][i * size:(i + 1) * size] for name, size in sizes.items()} for i in range(count)]


def nodes_run(options, feed):
    """{op: nodes}"""
    with tempfile.TemporaryDirectory(prefix="onnxruntime-profile-") as folder:
        session = open_session(options, f"{folder}/profile")
        session.run(None, feed)
        events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    return collections.Counter(e["args"]["op_name"] for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("samples")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-optimization", action="store_true")
    options = parser.parse_args()
    session, arrays = open_session(options), dict(numpy.load(options.samples))
    feeds, first, classes = feeds_of(session, arrays), session.get_outputs()[0].name, []
    for feed in feeds:
        output = session.run([first], feed)[0]
        classes += output.reshape(len(next(iter(feed.values()))), -1).argmax(1).tolist()
    labels = arrays["labels"].tolist() if "labels" in arrays else []
    print(json.dumps({"labels": labels, "classes": classes, "nodes": nodes_run(options, feeds[0])}))


main()
