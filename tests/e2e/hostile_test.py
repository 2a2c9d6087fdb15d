#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Invalid models: one line that names file, node or field; exit code 3; no partial files; the server continues."""

import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main  # noqa: E402


def node(name, op, inputs=(), attributes=""):
    lines = "".join(f' input: "{i}"' for i in inputs)
    return f'node {{ name: "{name}" op: "{op}"{lines} {attributes} }}\n'


FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
X = node("x", "Placeholder", (), 'attr { key: "dtype" value { type: DT_FLOAT } } '
         'attr { key: "shape" value { shape { dim { size: 2 } } } }')


def constant(dims, content):
    sizes = "".join(f"dim {{ size: {d} }} " for d in dims)
    return node("c", "Const", (), 'attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT '
                f'tensor_shape {{ {sizes} }} tensor_content: "{content}" }} }} }}')


ONNX = (DEMO / "digits.onnx").read_bytes()
PB = (DEMO / "digits.pb").read_bytes()
# name of the file, its bytes, what the message must name
FILES = [
    ("truncated.onnx", ONNX[: len(ONNX) // 2], "truncated.onnx"),
    ("truncated.pb", PB[: len(PB) // 2], "truncated.pb"),
    ("empty.onnx", b"", "empty.onnx"),
    ("empty.pb", b"", "empty.pb"),
    ("random.onnx", random.Random(1).randbytes(10000), "random.onnx"),
    ("random.pb", random.Random(2).randbytes(10000), "random.pb"),
    ("model.txt", ONNX, "model.txt"),
    ("graph.onnx", PB, "graph.onnx"),
    ("onnx.pb", ONNX, "onnx.pb"),
    ("text.onnx", b"this is not a model\n" * 50, "text.onnx"),
    ("text.pbtxt", b"this is not a model\n" * 50, "text.pbtxt"),
    ("cycle.pbtxt", (X + node("a", "AddV2", ("x", "b"), FLOAT) + node("b", "Relu", ("a",), FLOAT)).encode(), "cycle"),
    ("missing.pbtxt", (X + node("a", "AddV2", ("x", "absent"), FLOAT)).encode(), "absent"),
    ("mismatch.pbtxt", (X + node("a", "Relu", ("x",), 'attr { key: "T" value { type: DT_INT32 } }')).encode(), "'a'"),
    ("short.pbtxt", (X + constant((2, 3), "\\000\\000\\000\\000") + node("a", "AddV2", ("x", "c"), FLOAT)).encode(), "'c'"),
    ("huge.pbtxt", (X + constant((4000000000, 4000000000), "") + node("a", "AddV2", ("x", "c"), FLOAT)).encode(), "'c'"),
    ("twice.pbtxt", (X + X + node("a", "Relu", ("x",), FLOAT)).encode(), "'x'"),
    ("shape.pbtxt", (X + constant((3,), "\\000" * 12) + node("a", "AddV2", ("x", "c"), FLOAT)).encode(), "'a'"),
]


@case("every hostile file is refused in one line, and the server continues")
def _(t):
    with t.server() as server:
        for name, content, part in FILES:
            path = t.folder / name
            path.write_bytes(content)
            out = t.folder / ("out-" + name)
            run = t.halftone("optimize", path, "--server", server.address, "--out", out, "--quiet", "--rounds", "3", timeout=60)
            t.equal(run.returncode, 3, (name, run.stderr))
            lines = run.stderr.strip().splitlines()
            t.equal(len(lines), 1, (name, lines))
            t.contains(lines[0], part)
            t.contains(lines[0], name)
            t.check(not out.exists() or not os.listdir(out), f"{name}: files were left behind")
            t.check(run.stdout == "", f"{name}: {run.stdout}")
        run = t.halftone("health", "--server", server.address)
        t.equal(run.returncode, 0, run.stderr)
        run = t.halftone("optimize", DEMO / "digits.pb", "--server", server.address, "--out", t.folder / "good", "--quiet", "--no-bench")
        t.equal(run.returncode, 0, run.stderr)


@case("a missing file and a folder are invalid models, too")
def _(t):
    for path in (t.folder / "absent.onnx", t.folder):
        run = t.halftone("optimize", path)
        t.equal(run.returncode, 3, run.stderr)
        t.equal(len(run.stderr.strip().splitlines()), 1, run.stderr)
        t.contains(run.stderr, str(path))


@case("flipped bits never crash: each mutation is refused or runs")
def _(t):
    mutate = random.Random(3)
    with t.server() as server:
        for i in range(int(os.environ.get("HALFTONE_MUTATIONS", "12"))):
            content = bytearray(ONNX if i % 2 else PB)
            for _ in range(mutate.randrange(1, 20)):
                content[mutate.randrange(3000)] ^= 1 << mutate.randrange(8)
            path = t.folder / f"m{i}{'.onnx' if i % 2 else '.pb'}"
            path.write_bytes(content)
            run = t.halftone("inspect", path, "--server", server.address, timeout=60)
            t.check(run.returncode in (0, 3), f"mutation {i}: exit code {run.returncode}: {run.stderr}")
            t.check("crash" not in run.stderr.lower() and "signal" not in run.stderr.lower(), f"mutation {i}: {run.stderr}")
        t.equal(t.halftone("health", "--server", server.address).returncode, 0)


main()
