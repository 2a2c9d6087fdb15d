#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Valid models with inputs that do not fit them: one line that names node and number; the server continues."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import case, main  # noqa: E402

NEEDED = ("numpy",)
HUGE = 1 << 20  # twice: 2^40 elements
# name, body in ONNX's text syntax, inputs {name: (type, values)}, what the message must name
CASES = [
    ("gather_of_a_constant_index", "g (float[3] x) => (float[1] pick) <int64[1] i = {7}> { pick = Gather(x, i) }",
     {"x": ("float32", [1, 2, 3])}, ["pick", "7"]),
    ("gather_of_an_index", "g (float[3] x, int64[2] i) => (float[2] pick) { pick = Gather(x, i) }",
     {"x": ("float32", [1, 2, 3]), "i": ("int64", [0, -4])}, ["pick", "-4"]),
    ("gather_nd", "g (float[3,2] x, int64[1,2] i) => (float[1] pick) { pick = GatherND(x, i) }",
     {"x": ("float32", [[1, 2], [3, 4], [5, 6]]), "i": ("int64", [[2, 2]])}, ["pick", "2"]),
    ("scatter", "g (float[3] x, int64[1,1] i, float[1] u) => (float[3] put) { put = ScatterND(x, i, u) }",
     {"x": ("float32", [1, 2, 3]), "i": ("int64", [[9]]), "u": ("float32", [5])}, ["put", "9"]),
    ("reshape", "g (float[2,3] x, int64[2] s) => (float[A,B] fold) { fold = Reshape(x, s) }",
     {"x": ("float32", [[1, 2, 3], [4, 5, 6]]), "s": ("int64", [4, 2])}, ["fold", "6", "8"]),
    ("product", "g (float[N,K] a, float[M,2] b) => (float[N,2] product) { product = MatMul(a, b) }",
     {"a": ("float32", [[1, 2, 3]]), "b": ("float32", [[1, 2], [3, 4]])}, ["product", "3", "2"]),
    ("addition", "g (float[N] a, float[M] b) => (float[N] total) { total = Add(a, b) }",
     {"a": ("float32", [1, 2, 3]), "b": ("float32", [1, 2])}, ["total", "3", "2"]),
    ("top_k", "g (float[3] x, int64[1] k) => (float[K] best, int64[K] i) { best, i = TopK(x, k) }",
     {"x": ("float32", [1, 2, 3]), "k": ("int64", [4])}, ["best", "4"]),
    ("split", "g (float[5] x, int64[2] s) => (float[A] part, float[B] rest) { part, rest = Split(x, s) }",
     {"x": ("float32", [1, 2, 3, 4, 5]), "s": ("int64", [2, 2])}, ["part", "5"]),
    ("a_huge_fill", "g (int64[2] s) => (float[A,B] fill) { fill = ConstantOfShape(s) }", {"s": ("int64", [HUGE, HUGE])}, ["fill", str(HUGE)]),
    ("a_huge_constant_fill", f"g (float[1] x) => (float[A,B] y) <int64[2] s = {{{HUGE}, {HUGE}}}> {{ fill = ConstantOfShape(s)\n y = Add(fill, x) }}",
     {"x": ("float32", [1])}, ["fill", str(HUGE)]),
    ("a_huge_range", "g (int64 n) => (int64[N] count) <int64 a = {0}, int64 d = {1}> { count = Range(a, n, d) }",
     {"n": ("int64", HUGE * HUGE)}, ["count", str(HUGE * HUGE)]),
    ("a_huge_tile", "g (float[4] x, int64[1] r) => (float[N] tile) { tile = Tile(x, r) }",
     {"x": ("float32", [1, 2, 3, 4]), "r": ("int64", [HUGE * HUGE // 4])}, ["tile", str(HUGE * HUGE)]),
    ("a_huge_expansion", "g (float[1] x, int64[2] s) => (float[A,B] grow) { grow = Expand(x, s) }",
     {"x": ("float32", [1]), "s": ("int64", [HUGE, HUGE])}, ["grow", str(HUGE)]),
    ("a_huge_pad", "g (float[1] x, int64[2] p) => (float[N] padded) { padded = Pad(x, p) }",
     {"x": ("float32", [1]), "p": ("int64", [HUGE * HUGE, 0])}, ["padded", str(HUGE * HUGE + 1)]),
    ("a_huge_one_hot", "g (int64[4] i, int64 d) => (float[A,B] hot) <float[2] v = {0, 1}> { hot = OneHot(i, d, v) }",
     {"i": ("int64", [0, 1, 2, 3]), "d": ("int64", HUGE * HUGE // 4)}, ["hot", str(HUGE * HUGE // 4)]),
    ("an_endless_loop", """g (float[1] x) => (float[1] forever) <int64 n = {4611686018427387904}, bool c = {1}> {
  forever = Loop(n, c, x) <body = b (int64 i, bool k, float[1] s) => (bool k_out, float[1] s_out) { k_out = Identity(k)\n s_out = Add(s, s) }>
}""", {"x": ("float32", [1])}, ["forever"]),
    ("inside_a_branch", """g (bool c, float[3] x, int64[1] i) => (float[1] y) {
  y = If(c) <then_branch = t () => (float[1] inner) { inner = Gather(x, i) }, else_branch = e () => (float[1] other) { other = Gather(x, i) }>
}""", {"c": ("bool", True), "x": ("float32", [1, 2, 3]), "i": ("int64", [5])}, ["inner", "5"]),
]


def flags_of(t, feed):
    import numpy
    flags = []
    for name, (kind, values) in feed.items():
        numpy.save(t.folder / f"{name}.npy", numpy.array(values, kind))
        flags += ["--input", f"{name}={t.folder / name}.npy"]
    return flags


def refused(t, run, parts):
    t.check(run.returncode not in (0, 1) and run.returncode > 0, f"exit code {run.returncode}: {run.stderr}")
    lines = run.stderr.strip().splitlines()
    t.equal(len(lines), 1, lines)
    for part in parts:
        t.contains(lines[0], part)
    t.check("crash" not in lines[0] and "signal" not in lines[0], lines[0])


for _name, _text, _feed, _parts in CASES:

    @case(f"{_name} is refused with the node and the number", needs=NEEDED)
    def _(t, name=_name, text=_text, feed=_feed, parts=_parts):
        path = t.onnx(name, text)
        with t.server() as server:
            out = t.folder / "out"
            run = t.halftone("run", path, *flags_of(t, feed), "--out", out, "--server", server.address, "--quiet", timeout=120)
            refused(t, run, parts)
            t.check(not out.exists() or not any(out.iterdir()), "files were left behind")
            t.equal(t.halftone("health", "--server", server.address).returncode, 0)


@case("inputs of the wrong name, type and rank are named", needs=NEEDED)
def _(t):
    path = t.onnx("model", "g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }")
    for feed, parts in (({"z": ("float32", [[1, 2, 3]])}, ["'x'", "'z'"]), ({"x": ("int64", [[1, 2, 3]])}, ["'x'", "f32", "s64"]),
                        ({"x": ("float32", [1, 2, 3])}, ["'x'", "[N,3]"]), ({"x": ("float32", [[1, 2]])}, ["'x'", "[1,2]"]), ({}, ["'x'", "missing"])):
        refused(t, t.halftone("run", path, *flags_of(t, feed), "--out", t.folder / "out", "--quiet"), parts)


main()
