#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets of the cost of calibration, and the processes whose memory is measured."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from calibration_cost import FEW, MANY, NETS, descendants, evaluate, peak_of_worker, processes  # noqa: E402
from harness import case, main  # noqa: E402


def met(net, ratio, peaks):
    return [v["met"] for v in evaluate(NETS[net], {"ratio": ratio, "peaks": peaks})]


@case("each net has its own target for time; memory counts only where it was measured")
def _(t):
    t.equal(met("resnet50", 1.25, {}), [True])
    t.equal(met("resnet50", 1.26, {}), [False])
    t.equal(met("mobilenet_v2", 2.0, {FEW: 100, MANY: 105}), [True, True])
    t.equal(met("mobilenet_v2", 2.01, {FEW: 100, MANY: 106}), [False, False])
    t.equal(met("mobilenet_v2", 1, {FEW: 0, MANY: 0}), [True, False], "nothing was seen of the worker")


@case("all descendants of a process, and nothing else")
def _(t):
    parents = {2: (1, "a"), 3: (2, "b c) d"), 4: (3, "e"), 5: (9, "f"), 9: (1, "g")}
    t.equal(sorted(descendants(2, parents)), [3, 4])
    t.equal(sorted(descendants(1, parents)), [2, 3, 4, 5, 9])
    child = subprocess.Popen(["sleep", "60"])
    try:
        t.check(child.pid in descendants(os.getpid(), processes()), "a child of this process is not found")
        t.equal(peak_of_worker(os.getpid()), 0)
    finally:
        child.kill()
        child.wait()


main()
