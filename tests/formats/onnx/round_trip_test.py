#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX files keep their outputs in a round trip: import -> text -> parse -> export, then ONNX Runtime on both, bit by bit.

usage: round_trip_test.py round_trip text_to_onnx [MODEL.onnx ...]

Without models: those of cases.txt, and every .onnx under $HALFTONE_SHARED/data/models if it is there. Each also at opset 13,
18 and 22 (there within rounding: ONNX Runtime may choose other kernels for newer operators). Prints PASS, FAIL and SKIP lines.
"""

import glob
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnxruntime
except ImportError as error:
    onnxruntime = None
    missing = str(error)

RAISED = (13, 18, 22)


def inputs_of(session, seed):
    types = {"tensor(float)": numpy.float32, "tensor(bool)": numpy.bool_, "tensor(int64)": numpy.int64, "tensor(uint8)": numpy.uint8, "tensor(int32)": numpy.int32}
    random = numpy.random.default_rng(seed)
    feed = {}
    for value in session.get_inputs():
        dims = [d if isinstance(d, int) and d > 0 else 3 + i for i, d in enumerate(value.shape)]
        kind = types[value.type]
        data = random.standard_normal(dims) if kind == numpy.float32 else random.integers(0, 2 if kind == numpy.bool_ else 100, dims)
        feed[value.name] = data.astype(kind)
    return feed


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def compare(before, after, exact):
    """Why the two models differ, or None."""
    names = lambda values: [(v.name, v.type, v.shape) for v in values]
    if names(before.get_inputs()) != names(after.get_inputs()):
        return f"inputs {names(before.get_inputs())} became {names(after.get_inputs())}"
    if [v.name for v in before.get_outputs()] != [v.name for v in after.get_outputs()]:
        return "other names of outputs"
    for seed in (1, 2):
        feed = inputs_of(before, seed)
        for value, x, y in zip(before.get_outputs(), before.run(None, feed), after.run(None, feed)):
            if x.dtype != y.dtype or x.shape != y.shape:
                return f"{value.name}: {x.dtype}{x.shape} became {y.dtype}{y.shape}"
            if exact and x.tobytes() != y.tobytes():
                return f"{value.name}: other bits, off by up to {numpy.abs(x.astype(float) - y.astype(float)).max()}"
            scale = max(1.0, float(numpy.abs(x.astype(float)).max())) if x.size else 1.0
            if not numpy.allclose(x, y, rtol=1e-3, atol=1e-3 * scale, equal_nan=True):
                return f"{value.name}: off by up to {numpy.abs(x.astype(float) - y.astype(float)).max()}"
    return None


CHECKER = "import onnx, sys; onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)"


def check_bf16(tool, model, name, folder):
    """ONNX's own checker (in another process: it clashes with ONNX Runtime) accepts the file in bf16."""
    out = os.path.join(folder, "out")
    run = subprocess.run([tool, model, out, "bf16"], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"PASS {name}@bf16 (refused)" if "UNIMPLEMENTED" in run.stderr else f"FAIL {name}@bf16: {run.stderr.strip()}")
        return
    run = subprocess.run([sys.executable, "-c", CHECKER, out], capture_output=True, text=True)
    why = run.stderr.strip().splitlines()[-1:] if run.returncode != 0 else ""
    print(f"FAIL {name}@bf16: {why}" if why else f"PASS {name}@bf16")


def check(tool, model, name, folder):
    before = open_session(model)
    for opset in (0,) + RAISED:
        label = name + (f"@{opset}" if opset else "")
        out = os.path.join(folder, "out")
        run = subprocess.run([tool, model, out, str(opset)], capture_output=True, text=True)
        if run.returncode != 0:
            refused = opset != 0 and "UNIMPLEMENTED" in run.stderr
            print(f"PASS {label} (refused: {run.stderr.strip()})" if refused else f"FAIL {label}: {run.stderr.strip()}")
            continue
        try:
            why = compare(before, open_session(out), exact=opset == 0)
        except Exception as error:  # ONNX Runtime's own
            why = str(error)
        print(f"FAIL {label}: {why}" if why else f"PASS {label}: {run.stdout.strip()}")
        sys.stdout.flush()


def main():
    tool, text_to_onnx, models = sys.argv[1], sys.argv[2], sys.argv[3:]
    shared = os.environ.get("HALFTONE_SHARED", "")
    if onnxruntime is None:
        print(f"SKIP onnx-round-trip: {missing}")
        return
    with tempfile.TemporaryDirectory() as folder:
        if not models:
            cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.txt")
            subprocess.run([text_to_onnx, cases, folder], check=True)
            models = sorted(glob.glob(os.path.join(folder, "*.onnx")))
            models += sorted(glob.glob(os.path.join(shared, "data/models/**/*.onnx"), recursive=True)) if shared else []
        for model in models:
            check(tool, model, os.path.basename(model), folder)
            check_bf16(tool, model, os.path.basename(model), folder)
        if not shared:
            print("SKIP onnx-real-models: no folder HALFTONE_SHARED")


main()
