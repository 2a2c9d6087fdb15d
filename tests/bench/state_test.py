#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resuming an interrupted run."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from state import State  # noqa: E402

KEY = {"the programs": "abc", "rounds": 5}


@case("--resume keeps what was measured with the same programs and settings")
def _(t):
    path = t.folder / "deep" / "state.json"
    State(path, KEY, resume=False).add("resnet50-b1-t1", {"ms": 1.5})
    t.equal(State(path, KEY, resume=True).results, {"resnet50-b1-t1": {"ms": 1.5}})
    t.equal(State(path, KEY, resume=False).results, {})


@case("results of other programs are not resumed, with the reason")
def _(t):
    path = t.folder / "state.json"
    State(path, KEY, resume=False).add("resnet50-b1-t1", {"ms": 1.5})
    new = State(path, dict(KEY, **{"the programs": "def"}), resume=True)
    t.equal(new.results, {})
    t.contains(new.why_new, "the programs")


@case("without a file, or with a broken one, the run starts anew")
def _(t):
    path = t.folder / "state.json"
    t.contains(State(path, KEY, resume=True).why_new, "nothing to resume")
    path.write_text('{"key": ')
    t.equal(State(path, KEY, resume=True).results, {})


main()
