#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a written ONNX file is beyond its outputs: opset, size, names and producer. ONNX Runtime loads each file and computes what it
computes of the model that it was made of."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from harness import Failure, case, main, program  # noqa: E402
from wire import fields  # noqa: E402

PEERS = ("numpy", "onnxruntime")


# --- Reading a file without the package onnx, which does not share a process with ONNX Runtime.


def all_of(message, number):
    return [value for n, _, value in fields(message) if n == number]


def text(message, number):
    return (all_of(message, number) or [b""])[-1].decode()


class File:

    def __init__(self, path):
        model = path.read_bytes()
        self.size = len(model)
        self.producer = (text(model, 2), text(model, 3))
        self.opsets = {text(opset, 1): all_of(opset, 2)[0] for opset in all_of(model, 8)}
        self.metadata = {text(entry, 1): text(entry, 2) for entry in all_of(model, 14)}
        graph = all_of(model, 7)[0]
        self.nodes = [(text(n, 4), text(n, 3), [v.decode() for v in all_of(n, 1)], [v.decode() for v in all_of(n, 2)]) for n in all_of(graph, 1)]
        self.initializers = [text(tensor, 8) for tensor in all_of(graph, 5)]


# --- Models and runs.


def floats(name, *dims):
    import numpy
    values = numpy.random.default_rng(len(name) + sum(name.encode())).standard_normal(dims)
    return f"float[{','.join(map(str, dims))}] {name} = {{{','.join(f'{v:.5g}' for v in values.ravel())}}}"


def constant(name, *dims):
    kind, numbers = floats(name, *dims).split(" = ")
    return f"{name} = Constant<value = {kind.split(' ')[0]} {numbers}>()"


def model(t, name, signature, weights, body, opset=17, ir_version=8, more=""):
    (t.folder / "cases.txt").write_text(f'### {name}\n<ir_version: {ir_version}, opset_import: ["" : {opset}]{more}>\nagraph {signature}\n'
                                        f"<{', '.join(weights)}>\n{{ {body} }}\n")
    run = subprocess.run([program("text_to_onnx"), t.folder / "cases.txt", t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{name}: {run.stderr}")
    return t.folder / f"{name}.onnx"


def outputs(path, feed):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feed)


def same(t, path, file, feed):
    import numpy
    for expected, actual in zip(outputs(path, feed), outputs(file, feed)):
        expected, actual = expected.astype(numpy.float64), actual.astype(numpy.float64)
        worst, largest = numpy.abs(actual - expected).max(), numpy.abs(expected).max()
        t.check(worst <= 2e-5 * max(largest, 1), f"{file.name}: max |a - b| = {worst:.3g}, max |b| = {largest:.3g}")


def row(*dims):
    import numpy
    return numpy.linspace(-1, 2, int(numpy.prod(dims)), dtype=numpy.float32).reshape(dims)


# --- Opsets.

LEGACY = """
s = ImageScaler<scale=0.5, bias=[0.1, -0.2, 0.3]>(x)  c = Conv<pads=[1,1,1,1]>(s, w)  r = Relu(c)
k = Crop<border=[1,1,1,1]>(r)  a = Affine<alpha=0.5, beta=0.25>(k)  p = Pad<pads=[0,0,0,0,0,0,1,1]>(a)  q = Max(p, p)
g = GlobalAveragePool(q)  f = Flatten(g)  wt = Transpose<perm=[1,0]>(v)  m = MatMul(f, wt)  y = Clip<min=-1.0, max=6.0>(m)
"""


@case("legacy operators of opset 7 are written in the opset in which they exist", needs=PEERS)
def _(t):
    path = model(t, "legacy", "(float[1,3,8,8] x, float[4,6] v) => (float[1,4] y)", [floats("w", 6, 3, 3, 3)], LEGACY, opset=7, ir_version=4)
    feed = {"x": row(1, 3, 8, 8), "v": row(4, 6)}
    for flags in ((), ("--int8-mode", "weight-only")):
        _, out = t.optimize(path, "--precision", "fp32,bf16,int8", "--no-bench", *flags)
        for precision in ("fp32", "bf16", "int8"):
            file = out / f"legacy.{precision}.onnx"
            t.equal(File(file).opsets, {"": 7}, precision)
            same(t, path, file, feed)


@case("a fusion that needs a newer opset than a legacy operator allows is not used", needs=PEERS)
def _(t):
    path = model(t, "mish", "(float[2,3] x) => (float[2,3] y)", [floats("unread", 1)],
                 "s = Softplus(x)  h = Tanh(s)  m = Mul(x, h)  y = Affine<alpha=0.5, beta=0.25>(m)", opset=7, ir_version=4)
    report, out = t.optimize(path, "--precision", "fp32", "--no-bench")
    t.equal(File(out / "mish.fp32.onnx").opsets, {"": 7})
    t.contains(" ".join(report["warnings"]), "fp32: not fused: node ")
    same(t, path, out / "mish.fp32.onnx", {"x": row(2, 3)})


# --- Sizes: weights of nested graphs.


def branch(prefix, weights, body, last):
    """A subgraph without inputs whose output is `last`."""
    return f"{prefix} () => (float[1,96] {last}) {{ {' '.join(weights)} {body} }}"


def nested(t, path, limit=1.02):
    import numpy
    _, out = t.optimize(path, "--precision", "fp32", "--no-bench")
    file = out / f"{path.stem}.fp32.onnx"
    t.check(File(file).size <= limit * File(path).size, f"{File(path).size} bytes became {File(file).size}")
    for c in (False, True):
        for d in (False, True):
            same(t, path, file, {"x": row(1, 96), "c": numpy.array(c), "d": numpy.array(d)})


SIGNATURE = "(float[1,96] x, bool c, bool d) => (float[1,96] y, bool e)"


@case("weights that branches read from around are in the file once", needs=PEERS)
def _(t):
    then = branch("t", [], "a1 = MatMul(x, w)  a = Relu(a1)", "a")
    other = branch("e", [], "b1 = MatMul(x, w)  b2 = Add(b1, v)  b = Tanh(b2)", "b")
    nested(t, model(t, "around", SIGNATURE, [floats("w", 96, 96), floats("v", 96)],
                    f"e = Not(d)  y1 = If(c) <then_branch = {then}, else_branch = {other}>  y = MatMul(y1, w)"))


@case("weights of a branch that branches inside read are in the file once", needs=PEERS)
def _(t):

    def outer(p):
        inner = (branch(p + "t", [], f"{p}1 = MatMul(x, {p}w)  {p}2 = Relu({p}1)", p + "2"),
                 branch(p + "e", [], f"{p}3 = MatMul(x, {p}v)  {p}4 = Tanh({p}3)", p + "4"))
        weights = [constant(p + "w", 96, 96), constant(p + "v", 96, 96)]
        return branch(p, weights, f"{p}5 = If(d) <then_branch = {inner[0]}, else_branch = {inner[1]}>  {p}6 = MatMul({p}5, {p}w)", p + "6")

    nested(t, model(t, "inside", SIGNATURE, [floats("unread", 1)],
                    f"e = Not(d)  y = If(c) <then_branch = {outer('p')}, else_branch = {outer('q')}>"))


@case("what two branches compute of one weight is in the file once", needs=PEERS)
def _(t):
    then = branch("t", [], "a1 = Transpose<perm=[1,0]>(w)  a2 = MatMul(x, a1)  a = Relu(a2)", "a")
    other = branch("e", [], "b1 = Transpose<perm=[1,0]>(w)  b2 = MatMul(x, b1)  b = Tanh(b2)", "b")
    nested(t, model(t, "computed", SIGNATURE, [floats("w", 96, 96)],
                    f"e = Not(d)  y = If(c) <then_branch = {then}, else_branch = {other}>"))


@case("a ConstantOfShape that branches read is no weight", needs=PEERS)
def _(t):
    then = branch("t", [], "a1 = MatMul(x, w)  a = Relu(a1)", "a")
    other = branch("e", [], "b1 = MatMul(x, w)  b = Tanh(b1)", "b")
    path = model(t, "filled", SIGNATURE, [floats("unread", 1)],
                 "s = Constant<value = int64[2] {96, 96}>()  w = ConstantOfShape<value = float[1] {0.5}>(s)  e = Not(d)  "
                 f"y = If(c) <then_branch = {then}, else_branch = {other}>")
    nested(t, path, limit=5)  # of less than a kilobyte; its producer and history come in addition


# --- Names.


@case("what int8 adds is named after the tensors and layers that it belongs to", needs=PEERS)
def _(t):
    import numpy
    path = model(t, "named", "(float[1,3,8,8] x) => (float[1,6,8,8] y)", [floats("w", 6, 3, 3, 3), floats("b", 6)],
                 "c = Conv<pads=[1,1,1,1]>(x, w, b)  y = Relu(c)", opset=13)
    numpy.savez(t.folder / "x.npz", x=row(1, 3, 8, 8))
    _, out = t.optimize(path, "--precision", "int8", "--no-bench", "--calibration", t.folder / "x.npz")
    file = File(out / "named.int8.onnx")
    ops = {}
    for op, name, inputs, made in file.nodes:
        ops.setdefault(op, []).append((name, inputs, made))
    t.equal(ops["QuantizeLinear"], [("x_QuantizeLinear", ["x", "x_scale", "x_zero_point"], ["x_QuantizeLinear"])])
    ((name, inputs, made),) = ops["Conv"]
    layer = name or made[0]
    t.equal(inputs, ["x_DequantizeLinear", f"{layer}_weights_DequantizeLinear", f"{layer}_bias_DequantizeLinear"])
    for what in ("weights_quantized", "weights_scale", "weights_zero_point", "bias_quantized", "bias_scale"):
        t.check(f"{layer}_{what}" in file.initializers, f"no {layer}_{what} among {file.initializers}")
    names = [name for _, name, _, _ in file.nodes if name]
    t.equal(len(set(names)), len(names), "names of nodes")
    outputs(out / "named.int8.onnx", {"x": row(1, 3, 8, 8)})  # ONNX Runtime loads and runs it


@case("the producer of a file is halftone; that of the model stays in the metadata", needs=PEERS)
def _(t):
    path = model(t, "produced", "(float[2] x) => (float[2] y)", [floats("w", 2)], "y = Add(x, w)",
                 more=', producer_name: "pytorch", producer_version: "2.1"')
    _, out = t.optimize(path, "--precision", "fp32", "--no-bench")
    file = File(out / "produced.fp32.onnx")
    t.equal(file.producer[0], "halftone")
    t.equal(file.metadata["halftone.version"], file.producer[1])
    t.equal(file.metadata["source_producer"], "pytorch 2.1")
    _, again = t.optimize(out / "produced.fp32.onnx", "--precision", "fp32", "--no-bench")
    t.equal(File(again / "produced.fp32.fp32.onnx").metadata["source_producer"], "pytorch 2.1")


main()
