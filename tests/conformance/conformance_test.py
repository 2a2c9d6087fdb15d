#!/usr/bin/env python3
"""ONNX's backend tests: those that fail are the rows of exceptions.txt, no more and no fewer; docs/reference/conformance.md says so."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import table  # noqa: E402
from harness import Failure, Skip, case, main  # noqa: E402

NODE_BAR = 1050
AS_ONNXRUNTIME = ("simple/", "pytorch-converted/", "pytorch-operator/")  # all that it passes, we pass
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


@case(f"at least {NODE_BAR} node tests pass")
def _(t):
    passed = sum(result.passed for result in results() if result.folder == "node")
    t.check(passed >= NODE_BAR, f"only {passed}")


@case("all light nets pass, and what ONNX Runtime passes of PyTorch's and the simple ones")
def _(t):
    theirs = table.read_onnxruntime()
    missing = [f"{result.name}: {result.why}" for result in results() if not result.passed and
               (result.folder == "light" or (result.name in theirs and result.name.startswith(AS_ONNXRUNTIME)))]
    t.check(not missing, "\n".join(missing[:20]))


@case("docs/reference/conformance.md is what `dev conformance --update` writes")
def _(t):
    page = table.render(results(), table.read_exceptions(), table.read_onnxruntime())
    if table.PAGE.read_text() != page:
        raise Failure("it is not: call ./dev conformance --update")


main()
