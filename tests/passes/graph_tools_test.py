#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graph_opt and graph_reduce as commands: a pass that fails leaves a reproducer, which fails again and is shrunk."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import case, main, program  # noqa: E402

# Without its cast, whose target type is not given, y adds floats to integers.
GRAPH = """graph format=graphdef layout=channels_last (x: f32[2,3]) {
  w = const f32[3,4]
  m = matmul(x, w) name="m"   r = relu "Relu" (m) name="r"   c = cast "Cast" (r) name="c"
  y = add "AddV2" (c, 3:s32) name="y"   z = tanh "Tanh" (m) name="z"
  return y, z
}
"""
FAILURE = "pass 'remove_nodes': made a graph that is not valid: node 'y' (add)"


def run(t, *command):
    return subprocess.run([program(command[0]), *map(str, command[1:])], cwd=t.folder, capture_output=True, text=True, timeout=120)


def failed(t):
    """The folder has graph.graph and, of a pass that fails on it, failure.graph."""
    (t.folder / "graph.graph").write_text(GRAPH)
    opt = run(t, "graph_opt", "--verify-passes", "--pipeline=remove_nodes(op=Cast)", "graph.graph")
    t.equal(opt.returncode, 1)
    t.check(FAILURE in opt.stderr and "graph_opt --reproduce failure.graph" in opt.stderr, opt.stderr)
    t.equal(opt.stdout, "")
    return (t.folder / "failure.graph").read_text()


def nodes(text):
    return text.count(" = ") - text.count(" = const")


@case("what a failed pass leaves says what failed on what, and fails again")
def _(t):
    text = failed(t)
    for line in ("# pipeline: remove_nodes(op=Cast)", "# pass: remove_nodes", "# seed: 1", "# origin: halftone "):
        t.check(line in text, f"no '{line}' in {text}")
    again = run(t, "graph_opt", "--reproduce", "failure.graph")
    t.equal(again.returncode, 1)
    t.check(FAILURE in again.stderr, again.stderr)


@case("a reproducer of a correct pass says that the failure is not reproduced")
def _(t):
    text = failed(t).replace("op=Cast", "op=Identity")
    (t.folder / "failure.graph").write_text(text)
    again = run(t, "graph_opt", "--reproduce", "failure.graph")
    t.equal(again.returncode, 0)
    t.check("the failure is not reproduced: pipeline 'remove_nodes(op=Identity)'" in again.stderr, again.stderr)
    reduced = run(t, "graph_reduce", "failure.graph")
    t.equal(reduced.returncode, 1)
    t.check("there is nothing to reduce" in reduced.stderr, reduced.stderr)


@case("a reproducer is shrunk to the two nodes that it needs, and fails as before")
def _(t):
    whole = failed(t)
    reduced = run(t, "graph_reduce", "failure.graph", "--out", "small.graph")
    t.equal(reduced.returncode, 0)
    small = (t.folder / "small.graph").read_text()
    t.check(nodes(small) == 2 < nodes(whole) and "cast" in small and "add" in small, small)
    again = run(t, "graph_opt", "--reproduce", "small.graph")
    t.equal(again.returncode, 1)
    t.check(FAILURE in again.stderr, again.stderr)


@case("--if: whatever a command fails on with the same code")
def _(t):
    (t.folder / "graph.graph").write_text(GRAPH)
    reduced = run(t, "graph_reduce", "--if", "grep -q Relu {} && exit 3", "graph.graph")
    t.equal(reduced.returncode, 0)
    t.check(nodes(reduced.stdout) == 1 and "relu" in reduced.stdout, reduced.stdout)
    fine = run(t, "graph_reduce", "--if", "grep -q Sigmoid {} && exit 3 || exit 0", "graph.graph")
    t.equal(fine.returncode, 1)
    t.check("the command does not fail on the whole graph" in fine.stderr, fine.stderr)


@case("files that are no reproducers are errors that say what is missing")
def _(t):
    (t.folder / "graph.graph").write_text(GRAPH)
    for command in (("graph_opt", "--reproduce"), ("graph_reduce",)):
        bad = run(t, *command, "graph.graph")
        t.equal(bad.returncode, 1)
        t.check("there is no line '# pipeline: NAME'" in bad.stderr, bad.stderr)
        t.check("nowhere.graph" in run(t, *command, "nowhere.graph").stderr, "the error names no file")


main()
