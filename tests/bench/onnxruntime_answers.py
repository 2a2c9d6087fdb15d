#!/usr/bin/env python3
"""What ONNX Runtime answers to all samples, in a process of its own: the twin of halftone_answers.cc.

usage: onnxruntime_answers.py MODEL.onnx SAMPLES.npz [--threads N] [--as-written]

Samples are fed in batches of the size that the model fixes, else one by one. Prints JSON: the labels (empty without any), the class (place of
the largest element) of each sample's first output, and from the profile of one run how many nodes of each type were run after ONNX
Runtime's optimizations. --as-written: without those, node by node.
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
    if options.as_written:
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
    parser.add_argument("--as-written", action="store_true")
    options = parser.parse_args()
    session, arrays = open_session(options), dict(numpy.load(options.samples))
    feeds, first, classes = feeds_of(session, arrays), session.get_outputs()[0].name, []
    for feed in feeds:
        answer = session.run([first], feed)[0]
        classes += answer.reshape(len(next(iter(feed.values()))), -1).argmax(1).tolist()
    labels = arrays["labels"].tolist() if "labels" in arrays else []
    print(json.dumps({"labels": labels, "classes": classes, "nodes": nodes_run(options, feeds[0])}))


main()
