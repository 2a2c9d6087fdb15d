#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares models of one node with random attributes (peer_models.py) with ONNX Runtime, in every way of ways.h."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from harness import Failure, Skip, case, main, program  # noqa: E402


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


@case("every model has the outputs of ONNX Runtime")
def _(t):
    for module in ("numpy", "onnx", "onnxruntime"):
        if not has(module):
            raise Skip(f"no Python module {module}")
    with tempfile.TemporaryDirectory(prefix="halftone-peer-") as folder:
        for what in ("write", "run", "finish"):
            step = subprocess.run([sys.executable, HERE / "peer_models.py", what, folder], capture_output=True, text=True)
            if step.returncode != 0:
                raise Failure(f"peer_models.py {what}: {step.stderr[-1500:]}")
        run = subprocess.run([program("conformance"), "--data", folder], capture_output=True, text=True)
    failed = [line[:200] for line in run.stdout.splitlines() if line.startswith("FAIL")]
    summary = re.search(r"(\d+) of (\d+) pass", run.stdout)
    if summary is None or int(summary[2]) < 400:
        raise Failure(f"the models did not run: {run.stdout[-500:]} {run.stderr[-500:]}")
    t.check(not failed, f"{summary[0]}\n" + "\n".join(failed[:20]))


main()
