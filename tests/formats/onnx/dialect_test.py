#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the dialect "onnxruntime": ONNX Runtime computes the same outputs from them as from the unmodified model, and so do we after
reading them back; fused nodes are written as contrib ops (com.microsoft). The same models in the dialect "portable" have no contrib ops."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from harness import Failure, case, main, program, shared, variant  # noqa: E402
from wire import fields  # noqa: E402

PEERS = ("numpy", "onnxruntime")
TOLERANCE = 2e-5  # of the largest magnitude of an output; real models, whose sums are long: 1e-4
SQNR = 80  # dB, of the written file against the unmodified model, both run by us


# --- Reading a file: (domain, operator) of every node, subgraphs too, without the package onnx, which does not share a process with ONNX
# Runtime.


def nodes_of(path):
    graph = {number: value for number, _, value in fields(path.read_bytes())}[7]
    for number, _, node in fields(graph):
        if number == 1:
            named = {number: value for number, _, value in fields(node)}
            yield named.get(7, b"").decode(), named[4].decode()


def fused_ops(path):
    return {op for domain, op in nodes_of(path) if domain == "com.microsoft"}


# --- Running.


def session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed_of(path, scale=4, offset=-2):
    import numpy
    random = numpy.random.default_rng(5)
    feed = {}
    for value in session(path).get_inputs():
        dims = [d if isinstance(d, int) and d > 0 else 2 + 5 * i for i, d in enumerate(value.shape)]
        feed[value.name] = (random.random(dims) * scale + offset).astype(numpy.float32)
    return feed


def outputs_of(path, feed):
    opened = session(path)
    return dict(zip([o.name for o in opened.get_outputs()], opened.run(None, feed)))


def compare(t, path, file, feed, tolerance):
    import numpy
    expected, actual = outputs_of(path, feed), outputs_of(file, feed)
    t.equal(list(actual), list(expected))
    for name, value in expected.items():
        t.equal(actual[name].shape, value.shape, name)
        worst, largest = numpy.abs(actual[name] - value).max(), max(numpy.abs(value).max(), 1e-3)
        t.check(worst <= tolerance * largest, f"{file.name}: {name}: max |a - b| = {worst:.3g}, max |b| = {largest:.3g}")


def check_model(t, path, wanted, feed=None, tolerance=TOLERANCE, sqnr=SQNR, flags=("--verify-passes",)):
    """`wanted`: contrib ops (com.microsoft) that must be in the file; others may be."""
    import numpy
    feed = feed or feed_of(path)
    numpy.savez(t.folder / "x.npz", **feed)
    files = {}
    for dialect in ("onnxruntime", "portable"):
        report, out = t.optimize(path, "--dialect", dialect, "--precision", "fp32", "--no-bench", "--eval", t.folder / "x.npz", *flags)
        files[dialect] = out / f"{path.stem}.fp32.onnx"
        t.equal(report["dialect"], dialect)
        for row in variant(report, "original")["fidelity"]:
            t.check(row["sqnr_db"] >= sqnr, f"{dialect}: read back, {row}")
        compare(t, path, files[dialect], feed, tolerance)
    fused = fused_ops(files["onnxruntime"])
    t.check(wanted <= fused, f"no {sorted(wanted - fused)} among {sorted(fused)} of {files['onnxruntime'].name}")
    t.equal(fused_ops(files["portable"]), set())
    # The contrib ops of the file are written as standard ops again.
    report, out = t.optimize(files["onnxruntime"], "--precision", "fp32", "--no-bench", "--eval", t.folder / "x.npz")
    again = out / f"{files['onnxruntime'].stem}.fp32.onnx"
    t.equal(fused_ops(again), set())
    compare(t, path, again, feed, tolerance)


# --- Small models with odd sizes, in ONNX's text syntax. Weights are random numbers.


def model(t, name, inputs, outputs, weights, body, opset=17):
    import numpy
    random = numpy.random.default_rng(len(name))
    consts = []
    for weight, value in weights.items():
        if isinstance(value, (int, float, list)):
            array = numpy.asarray(value)
            kind = "int64" if array.dtype.kind == "i" else "float"
        else:
            kind, array = "float", random.standard_normal(value) / max(1, numpy.prod(value[1:])) ** 0.5
        dims = f"[{','.join(map(str, array.shape))}]" if array.shape else ""
        numbers = ",".join(str(int(v)) if kind == "int64" else f"{v:.7g}" for v in array.ravel())
        consts.append(f"{kind}{dims} {weight} = {{{numbers}}}")
    text = (f"### {name}\n<ir_version: 8, opset_import: [\"\" : {opset}]>\nagraph ({inputs}) => ({outputs})\n"
            f"<{', '.join(consts)}>\n{{ {body} }}\n")
    (t.folder / "cases.txt").write_text(text)
    run = subprocess.run([program("text_to_onnx"), t.folder / "cases.txt", t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{name}: {run.stderr}\n{text[:2000]}")
    return t.folder / f"{name}.onnx"


ACTIVATIONS = {"relu": "Relu({x})", "tanh": "Tanh({x})", "sigmoid": "Sigmoid({x})", "leaky": "LeakyRelu<alpha=0.3>({x})",
               "relu6": "Clip({x}, low, six)", "clip": "Clip({x}, part, whole)", "hard_sigmoid": "HardSigmoid<alpha=0.3, beta=0.4>({x})"}
BOUNDS = {"low": 0.0, "six": 6.0, "part": -0.25, "whole": 0.75}


def conv_case(title, name, dims, weights, attributes, residual="", activation="Relu({x})", wanted=("FusedConv",)):

    @case(title, needs=PEERS)
    def _(t):
        inputs = f"float[{dims}] x" + (f", float[{residual}] r" if residual else "")
        sum_ = "s = Add(c, r) " if residual else ""
        last = activation.format(x="s" if residual else "c")
        path = model(t, name, inputs, f"float[{','.join(f'd{i}' for i in range(len(weights)))}] y",
                     {"w": weights, "b": (weights[0],), **BOUNDS}, f"c = Conv{attributes}(x, w, b) {sum_}y = {last}")
        check_model(t, path, set(wanted))


for _name, _activation in ACTIVATIONS.items():
    conv_case(f"a convolution with {_name}", f"conv_{_name}", "2,3,7,5", (4, 3, 3, 2), "<pads=[1,0,0,1], strides=[2,1]>", activation=_activation)
    conv_case(f"a convolution with a residual and {_name}", f"conv_residual_{_name}", "2,3,7,5", (6, 1, 3, 3), "<group=3, pads=[1,1,1,1]>",
              residual="2,6,7,5", activation=_activation, wanted=())
# Numbers of channels for which ONNX Runtime uses a blocked layout.
conv_case("a convolution of 32 channels with a residual", "conv_blocks", "2,16,7,5", (32, 16, 3, 3), "<pads=[1,1,1,1]>", residual="2,32,7,5", wanted=())
conv_case("a convolution in one dimension with a residual", "conv1", "2,3,7", (4, 3, 3), "<dilations=[2]>", residual="2,4,3")
conv_case("a convolution in three dimensions with a residual", "conv3", "1,2,5,4,3", (3, 2, 2, 3, 1), "", residual="1,3,4,2,3")


for _name, _activation in {**ACTIVATIONS, "elu": "Elu<alpha=0.7>({x})"}.items():

    @case(f"gemm with {_name}", needs=PEERS)
    def _(t, name=_name, activation=_activation):
        path = model(t, f"gemm_{name}", "float[3,5] x", "float[3,7] y", {"w": (7, 5), "b": (7,), **BOUNDS},
                     f"g = Gemm<transB=1>(x, w, b) y = {activation.format(x='g')}")
        check_model(t, path, set() if name in ("relu6", "clip") else {"FusedGemm"})


@case("gelu, exact, by tanh and quick, with a bias and without", needs=PEERS)
def _(t):
    path = model(
        t, "gelus", "float[2,3,5] x", "float[2,3,7] a, float[2,3,5] f, float[2,3,5] q, float[2,3,5] g",
        {"w": (5, 7), "b": (7,), "root": 1.41421356, "one": 1.0, "half": 0.5, "cube": 3.0, "small": 0.044715, "pi": 0.7978845608, "quick": 1.702},
        """p = MatMul(x, w) s = Add(p, b) d = Div(s, root) e = Erf(d) e1 = Add(e, one) m = Mul(s, e1) a = Mul(m, half)
           k = Pow(x, cube) k1 = Mul(k, small) k2 = Add(x, k1) k3 = Mul(k2, pi) k4 = Tanh(k3) k5 = Add(k4, one) k6 = Mul(x, half) f = Mul(k6, k5)
           z = Mul(x, quick) z1 = Sigmoid(z) q = Mul(x, z1)
           u = Div(x, root) u1 = Erf(u) u2 = Add(u1, one) u3 = Mul(x, u2) g = Mul(u3, half)""")
    check_model(t, path, {"BiasGelu", "FastGelu", "QuickGelu", "Gelu"})


@case("layer norm of a matmul with bias and a residual", needs=PEERS)
def _(t):
    path = model(t, "skip_layer_norm", "float[2,3,5] x, float[2,3,7] r", "float[2,3,7] y",
                 {"w": (5, 7), "b": (7,), "s": (7,), "o": (7,)},
                 "p = MatMul(x, w) q = Add(p, b) t = Add(q, r) y = LayerNormalization<axis=-1, epsilon=0.001>(t, s, o)")
    check_model(t, path, {"SkipLayerNormalization"})


ATTENTION = """
q0 = MatMul(x, wq) q1 = Add(q0, bq) q2 = Reshape(q1, cut) q = Transpose<perm=[0,2,1,3]>(q2)
k0 = MatMul(z, wk) k1 = Add(k0, bk) k2 = Reshape(k1, cut) k = Transpose<perm=[0,2,3,1]>(k2)
v0 = MatMul(z, wv) v1 = Add(v0, bv) v2 = Reshape(v1, cut) v = Transpose<perm=[0,2,1,3]>(v2)
p = MatMul(q, k) d = Div(p, root) {mask}s = Softmax<axis=-1>({scores})
a = MatMul(s, v) a1 = Transpose<perm=[0,2,1,3]>(a) a2 = Reshape(a1, join)
"""
ATTENTION_WEIGHTS = {"wq": (6, 12), "bq": (12,), "wk": (6, 12), "bk": (12,), "wv": (6, 12), "bv": (12,),
                     "cut": [0, 0, 4, 3], "join": [0, 0, 12], "root": 1.7320508}


for _name, _mask in {"without a mask": "", "with a mask of keys": "float[2,1,1,7] m", "with a mask of all": "float[2,4,5,7] m"}.items():

    @case(f"attention of four heads {_name}", needs=PEERS)
    def _(t, mask=_mask):
        inputs = "float[2,5,6] x, float[2,7,6] z" + (f", {mask}" if mask else "")
        body = ATTENTION.format(mask="d1 = Add(d, m) " if mask else "", scores="d1" if mask else "d") + "y = Relu(a2)"
        path = model(t, "attention", inputs, "float[2,5,12] y", ATTENTION_WEIGHTS, body)
        check_model(t, path, {"MultiHeadAttention"})


for _name, _mask in {"without a mask": "", "with a mask of keys": "float[2,1,1,5] m", "with a mask of all": "float[2,4,5,5] m",
                     "with a mask for all heads": "float[2,1,5,5] m", "with a mask of rank 2": "float[5,5] m"}.items():

    @case(f"self-attention {_name}", needs=PEERS)
    def _(t, mask=_mask):
        body = "z = Identity(x)" + ATTENTION.format(mask="d1 = Add(d, m) " if mask else "", scores="d1" if mask else "d") + "y = Relu(a2)"
        path = model(t, "self_attention", "float[2,5,6] x" + (f", {mask}" if mask else ""), "float[2,5,12] y", ATTENTION_WEIGHTS, body)
        check_model(t, path, {"Attention"})


@case("self-attention whose values are wider, without biases", needs=PEERS)
def _(t):
    weights = {"wq": (6, 8), "wk": (6, 8), "wv": (6, 12), "cut": [0, 0, 4, 2], "cut_v": [0, 0, 4, 3], "join": [0, 0, 12], "root": 3.0}
    path = model(t, "wide_values", "float[2,5,6] x", "float[2,5,12] y", weights,
                 """q0 = MatMul(x, wq) q2 = Reshape(q0, cut) q = Transpose<perm=[0,2,1,3]>(q2)
                    k0 = MatMul(x, wk) k2 = Reshape(k0, cut) k = Transpose<perm=[0,2,3,1]>(k2)
                    v0 = MatMul(x, wv) v2 = Reshape(v0, cut_v) v = Transpose<perm=[0,2,1,3]>(v2)
                    p = MatMul(q, k) d = Div(p, root) s = Softmax<axis=-1>(d)
                    a = MatMul(s, v) a1 = Transpose<perm=[0,2,1,3]>(a) y = Reshape(a1, join)""")
    check_model(t, path, {"Attention"})


@case("a transposed and scaled batched matmul", needs=PEERS)
def _(t):
    path = model(t, "scaled", "float[2,4,3,5] q, float[2,4,7,5] k", "float[2,4,3,7] y", {"c": 0.3},
                 "kt = Transpose<perm=[0,1,3,2]>(k) p = MatMul(q, kt) y = Mul(p, c)")
    check_model(t, path, {"FusedMatMul"})


@case("a block of a transformer", needs=PEERS)
def _(t):
    weights = {**ATTENTION_WEIGHTS, "wo": (12, 6), "bo": (6,), "g": (6,), "o": (6,), "w1": (6, 24), "b1": (24,), "w2": (24, 6), "b2": (6,),
               "g2": (6,), "o2": (6,), "r2": 1.41421356, "one": 1.0, "half": 0.5}
    body = "z = Identity(x)" + ATTENTION.format(mask="d1 = Add(d, m) ", scores="d1") + """
        f0 = MatMul(a2, wo) f1 = Add(bo, f0) f2 = Add(f1, x) n = LayerNormalization<axis=-1>(f2, g, o)
        g0 = MatMul(n, w1) g1 = Add(b1, g0) h = Div(g1, r2) h1 = Erf(h) h2 = Add(h1, one) h3 = Mul(g1, h2) h4 = Mul(h3, half)
        i0 = MatMul(h4, w2) i1 = Add(b2, i0) i2 = Add(i1, n) y = LayerNormalization<axis=-1>(i2, g2, o2)"""
    path = model(t, "block", "float[2,5,6] x, float[2,1,1,5] m", "float[2,5,6] y", weights, body)
    check_model(t, path, {"SkipLayerNormalization", "BiasGelu", "Attention"})


# --- Real models.

REAL = {
    "mnist/mnist_cnn.onnx": ({"FusedConv"}, (255, 0)),
    "imagenet/squeezenet_fp32_from_fp16.onnx": ({"FusedConv"}, (4, -2)),
    "imagenet/mobilenet_v2_fp32_dequantized.onnx": ({"FusedConv"}, (4, -2)),
    "detect/version-RFB-320.onnx": ({"FusedConv"}, (4, -2)),
    "detect/yolox_nano.onnx": ({"QuickGelu"}, (255, 0)),
}
for _name, (_wanted, _range) in REAL.items():

    @case(f"{_name} runs in ONNX Runtime, unmodified and fused", needs_shared=True, needs=PEERS)
    def _(t, name=_name, wanted=_wanted, range_=_range):
        path = shared("models", *name.split("/"))
        check_model(t, path, wanted, feed=feed_of(path, *range_), tolerance=1e-4, sqnr=70, flags=())


@case("no batch norm is left in version-RFB-320.onnx", needs_shared=True)
def _(t):
    path = shared("models", "detect", "version-RFB-320.onnx")
    t.check("BatchNormalization" in {op for _, op in nodes_of(path)}, "the unmodified model has none: the wrong file")
    report, out = t.optimize(path, "--precision", "fp32", "--no-bench")
    fp32 = variant(report, "fp32")
    left = [n["name"] for n in fp32["nodes"] if "batch_norm" in n["op"]]
    t.equal(left, [], "steps of the fused file")
    t.equal([op for _, op in nodes_of(out / "version-RFB-320.fp32.onnx") if op == "BatchNormalization"], [], "nodes of the file")
    t.check(any(f["pass"] == "fold-batch-norm-into-conv" and f["count"] > 10 for f in fp32["fusions"]), f"{fp32['fusions']}")
    t.check(fp32["nodes_after"] < fp32["nodes_before"], f"{fp32['nodes_before']} nodes became {fp32['nodes_after']}")


main()
