#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's backend tests. Those that fail must be the rows of exceptions.txt, and docs/reference/conformance.md must be up to
date."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import table  # noqa: E402
from harness import Failure, Skip, case, main  # noqa: E402

LEAST_NODE_TESTS = 1050
AS_ONNXRUNTIME = ("simple/", "pytorch-converted/", "pytorch-operator/")  # every test that ONNX Runtime passes must pass
RESULTS = []


def results():
    if not table.DATA.is_dir():
        raise Skip(f"no backend tests in {table.DATA} (package libonnx-testdata)")
    if not RESULTS:
        RESULTS.extend(table.run())
    return RESULTS


@case("the backend tests that fail are those of exceptions.txt")
def _(t):
    wrong = table.problems(results(), table.read_exceptions())
    t.check(not wrong, "\n".join(wrong[:40]))


@case(f"at least {LEAST_NODE_TESTS} node tests pass")
def _(t):
    passed = sum(result.passed for result in results() if result.folder == "node")
    t.check(passed >= LEAST_NODE_TESTS, f"only {passed}")


@case("all light models pass, and all PyTorch and simple tests that ONNX Runtime passes")
def _(t):
    theirs = table.read_onnxruntime()
    missing = [f"{result.name}: {result.reason}" for result in results() if not result.passed and
               (result.folder == "light" or (result.name in theirs and result.name.startswith(AS_ONNXRUNTIME)))]
    t.check(not missing, "\n".join(missing[:20]))


@case("docs/reference/conformance.md is what `dev conformance --update` writes")
def _(t):
    page = table.render(results(), table.read_exceptions(), table.read_onnxruntime())
    if table.PAGE.read_text() != page:
        raise Failure("it is out of date: call ./dev conformance --update")


main()
