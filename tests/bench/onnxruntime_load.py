#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds in which ONNX Runtime loads a file, and its peak memory, in a process of its own.

usage: onnxruntime_load.py MODEL.onnx none|all
"""
import json
import resource
import sys
import time

import onnxruntime

LEVELS = {"none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


def main():
    path, level = sys.argv[1:]
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    settings.graph_optimization_level = LEVELS[level]
    start = time.monotonic()
    onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    seconds = time.monotonic() - start
    print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
