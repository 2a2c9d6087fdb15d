#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the backend tests of ONNX that ONNX Runtime passes, sorted, one name per line, for onnxruntime.txt.

    dev run --tier bench python3 tests/conformance/onnxruntime_passes.py >tests/conformance/onnxruntime.txt

Each test runs in its own process. A test passes if every output has the expected type, shape and, within ONNX's tolerance (1e-3
relative, 1e-7 absolute), values. Sequences, optionals, strings and float8 are left out, because Halftone does not support them.
"""

import multiprocessing
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from wire import fields, varints  # noqa: E402

ROOT = pathlib.Path(os.environ.get("HALFTONE_ONNX_TESTDATA", "/usr/share/libonnx-testdata/data"))
FOLDERS = ("node", "simple", "pytorch-converted", "pytorch-operator")


def read_tensor(path):
    """A TensorProto as an array; without the package onnx, which does not share a process with onnxruntime."""
    import numpy
    types = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
    dims, kind, raw, typed = [], 0, None, []
    for number, wire, value in fields(path.read_bytes()):
        if number == 1:
            dims += [value] if wire == 0 else list(varints(value))
        elif number == 2:
            kind = value
        elif number == 9:
            raw = value
        elif number == 4:
            typed += list(numpy.frombuffer(value, "<f4")) if wire != 0 else [value]
        elif number == 10:
            typed += list(numpy.frombuffer(value, "<f8"))
        elif number in (5, 7, 11):
            typed += [value] if wire == 0 else list(varints(value))
    if kind not in types:
        raise NotImplementedError(f"element type {kind}")
    if raw is not None:
        return numpy.frombuffer(raw, "<" + types[kind] if types[kind] != "?" else "?").reshape(dims)
    if kind == 10:
        return numpy.array(typed, "u2").view("f2").reshape(dims)
    return numpy.array(typed).astype(types[kind]).reshape(dims)


def passes(folder):
    import numpy
    import onnxruntime
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    for data in sorted(folder.glob("test_data_set_*")):
        def tensors(prefix, data=data):
            return [read_tensor(data / f"{prefix}_{i}.pb") for i in range(len(list(data.glob(f"{prefix}_*.pb"))))]

        feed = dict(zip((i.name for i in model.get_inputs()), tensors("input")))
        wanted = tensors("output")
        got = model.run(None, feed)
        if len(got) != len(wanted):
            return False
        for a, b in zip(got, wanted):
            if a.dtype != b.dtype or a.shape != b.shape:
                return False
            if b.dtype == bool:
                same = (a == b).all()
            else:
                same = numpy.allclose(a, b, rtol=1e-3, atol=1e-7, equal_nan=True)
            if not same:
                return False
    return True


def child(folder, result):
    try:
        result.send(bool(passes(folder)))
    except BaseException:  # noqa: BLE001: after any error the test does not pass
        result.send(False)


def main():
    for folder in sorted(p.parent for f in FOLDERS for p in (ROOT / f).glob("*/model.onnx")):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=child, args=(folder, there))
        process.start()
        there.close()
        try:
            passed = here.recv() if here.poll(60) else False
        except EOFError:
            passed = False
        process.kill()
        process.join()
        if passed:
            print(f"{folder.parent.name}/{folder.name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
