#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime loads of types below f32, and the files that `--target-runtime onnxruntime` writes for it.

The table of kernels (formats/onnx/onnxruntime_bf16.inc) against models of one node in bf16 and f16; then real and small models: the
file loads and runs, gives the same outputs as our engine does from the same file, and has its weights in 16 bits. With
TARGET_RUNTIMES_TEST=more in the environment: more real models, and nothing else."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from harness import CASES, Failure, case, main, program, shared, variant  # noqa: E402

PEERS = ("numpy", "onnxruntime")
TABLE = pathlib.Path(__file__).resolve().parents[3] / "formats/onnx/onnxruntime_bf16.inc"

# Models of one node: inputs, outputs, body; T is the type. The opset is the newest one, where all of these ops support bf16.
NODES = {
    # Conversions and data movement.
    "Cast": ("T[2,3] x", "float[2,3] y", "y = Cast<to=1>(x)"),
    "Concat": ("T[2,3] x", "T[4,3] y", "y = Concat<axis=0>(x, x)"),
    "Flatten": ("T[2,3,4] x", "T[2,12] y", "y = Flatten(x)"),
    "Gather": ("T[2,3] x, int64[1] i", "T[1,3] y", "y = Gather(x, i)"),
    "GatherElements": ("T[2,3] x, int64[1,3] i", "T[1,3] y", "y = GatherElements(x, i)"),
    "GatherND": ("T[2,3] x, int64[1,1] i", "T[1,3] y", "y = GatherND(x, i)"),
    "Identity": ("T[2,3] x", "T[2,3] y", "y = Identity(x)"),
    "Reshape": ("T[2,3] x, int64[1] s", "T[6] y", "y = Reshape(x, s)"),
    "Shape": ("T[2,3] x", "int64[2] y", "y = Shape(x)"),
    "Size": ("T[2,3] x", "int64 y", "y = Size(x)"),
    "Slice": ("T[2,3] x, int64[1] s, int64[1] e", "T[a,3] y", "y = Slice(x, s, e)"),
    "Split": ("T[2,4] x", "T[2,2] y, T[2,2] z", "y, z = Split<axis=1, num_outputs=2>(x)"),
    "Squeeze": ("T[1,3] x, int64[1] a", "T[3] y", "y = Squeeze(x, a)"),
    "Transpose": ("T[2,3] x", "T[3,2] y", "y = Transpose(x)"),
    "Unsqueeze": ("T[3] x, int64[1] a", "T[1,3] y", "y = Unsqueeze(x, a)"),
    "Expand": ("T[1,3] x, int64[2] s", "T[2,3] y", "y = Expand(x, s)"),
    "Tile": ("T[1,3] x, int64[2] s", "T[a,b] y", "y = Tile(x, s)"),
    "Pad": ("T[2,3] x, int64[4] p", "T[a,b] y", "y = Pad(x, p)"),
    "DepthToSpace": ("T[1,4,2,3] x", "T[1,1,4,6] y", "y = DepthToSpace<blocksize=2>(x)"),
    "SpaceToDepth": ("T[1,1,4,6] x", "T[1,4,2,3] y", "y = SpaceToDepth<blocksize=2>(x)"),
    "Where": ("bool[3] c, T[3] x", "T[3] y", "y = Where(c, x, x)"),
    "ScatterElements": ("T[2,3] x, int64[1,3] i, T[1,3] u", "T[2,3] y", "y = ScatterElements(x, i, u)"),
    "ScatterND": ("T[2,3] x, int64[1,1] i, T[1,3] u", "T[2,3] y", "y = ScatterND(x, i, u)"),
    "Trilu": ("T[3,3] x", "T[3,3] y", "y = Trilu(x)"),
    "Dropout": ("T[2,3] x", "T[2,3] y", "y = Dropout(x)"),
    "If": ("bool c, T[2] x", "T[2] y",
           "y = If(c) <then_branch = t () => (T[2] a) { a = Identity(x) }, else_branch = e () => (T[2] b) { b = Identity(x) }>"),
    "Loop": ("int64 n, bool c, T[2] x", "T[2] y",
             "y = Loop(n, c, x) <body = b (int64 i, bool on, T[2] s) => (bool go, T[2] t) { go = Identity(on)  t = Identity(s) }>"),
    "Scan": ("T[2] x, T[3,2] z", "T[2] y, T[3,2] v",
             "y, v = Scan(x, z) <num_scan_inputs = 1, body = b (T[2] s, T[2] r) => (T[2] t, T[2] u) { t = Identity(s)  u = Identity(r) }>"),
    "IsNaN": ("T[3] x", "bool[3] y", "y = IsNaN(x)"),
    "NonZero": ("T[3] x", "int64[1,a] y", "y = NonZero(x)"),
    # Arithmetic.
    "Conv": ("T[1,3,5,5] x, T[4,3,3,3] w", "T[1,4,3,3] y", "y = Conv(x, w)"),
    "ConvTranspose": ("T[1,3,5,5] x, T[3,4,3,3] w", "T[1,4,7,7] y", "y = ConvTranspose(x, w)"),
    "MatMul": ("T[2,3] x, T[3,4] w", "T[2,4] y", "y = MatMul(x, w)"),
    "Gemm": ("T[2,3] x, T[3,4] w", "T[2,4] y", "y = Gemm(x, w)"),
    "LSTM": ("T[3,1,4] x, T[1,20,4] w, T[1,20,5] r", "T[3,1,1,5] y", "y = LSTM<hidden_size=5>(x, w, r)"),
    "GRU": ("T[3,1,4] x, T[1,15,4] w, T[1,15,5] r", "T[3,1,1,5] y", "y = GRU<hidden_size=5>(x, w, r)"),
    "RNN": ("T[3,1,4] x, T[1,5,4] w, T[1,5,5] r", "T[3,1,1,5] y", "y = RNN<hidden_size=5>(x, w, r)"),
    "MaxPool": ("T[1,1,4,4] x", "T[1,1,2,2] y", "y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)"),
    "AveragePool": ("T[1,1,4,4] x", "T[1,1,2,2] y", "y = AveragePool<kernel_shape=[2,2], strides=[2,2]>(x)"),
    "GlobalAveragePool": ("T[1,2,4,4] x", "T[1,2,1,1] y", "y = GlobalAveragePool(x)"),
    "GlobalMaxPool": ("T[1,2,4,4] x", "T[1,2,1,1] y", "y = GlobalMaxPool(x)"),
    "BatchNormalization": ("T[1,2,4,4] x, T[2] s", "T[1,2,4,4] y", "y = BatchNormalization(x, s, s, s, s)"),
    "InstanceNormalization": ("T[1,2,4,4] x, T[2] s", "T[1,2,4,4] y", "y = InstanceNormalization(x, s, s)"),
    "LayerNormalization": ("T[2,4] x, T[4] s", "T[2,4] y", "y = LayerNormalization(x, s)"),
    "LRN": ("T[1,2,4,4] x", "T[1,2,4,4] y", "y = LRN<size=3>(x)"),
    "Softmax": ("T[2,3] x", "T[2,3] y", "y = Softmax(x)"),
    "LogSoftmax": ("T[2,3] x", "T[2,3] y", "y = LogSoftmax(x)"),
    "ReduceMean": ("T[2,3] x", "T[1,1] y", "y = ReduceMean(x)"),
    "ReduceSum": ("T[2,3] x", "T[1,1] y", "y = ReduceSum(x)"),
    "ReduceMax": ("T[2,3] x", "T[1,1] y", "y = ReduceMax(x)"),
    "ArgMax": ("T[2,3] x", "int64[1,3] y", "y = ArgMax(x)"),
    "CumSum": ("T[4] x, int64 a", "T[4] y", "y = CumSum(x, a)"),
    "Resize": ("T[1,1,2,3] x, float[4] s", "T[a,b,c,d] y", 'y = Resize<mode="nearest">(x, , s)'),
    "PRelu": ("T[2,3] x, T[3] s", "T[2,3] y", "y = PRelu(x, s)"),
    "Clip": ("T[2,3] x, T l, T h", "T[2,3] y", "y = Clip(x, l, h)"),
    "LeakyRelu": ("T[3] x", "T[3] y", "y = LeakyRelu(x)"),
    "HardSigmoid": ("T[3] x", "T[3] y", "y = HardSigmoid(x)"),
    "Gelu": ("T[3] x", "T[3] y", "y = Gelu(x)"),
    "Equal": ("T[3] x", "bool[3] y", "y = Equal(x, x)"),
    "Less": ("T[3] x", "bool[3] y", "y = Less(x, x)"),
    "CastLike": ("T[3] x, float z", "float[3] y", "y = CastLike(x, z)"),
    **{op: ("T[3] x", "T[3] y", f"y = {op}(x)")
       for op in ("Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Sign", "Erf", "Relu", "Tanh", "Sigmoid", "Softplus",
                  "Softsign", "Elu", "Selu", "HardSwish", "Mish", "Sin", "Cos")},
    **{op: ("T[3] x", "T[3] y", f"y = {op}(x, x)") for op in ("Add", "Sub", "Mul", "Div", "Pow", "Mod")},
    **{op: ("T[3] x", "T[3] y", f"y = {op}(x, x, x)") for op in ("Max", "Min", "Sum", "Mean")},
}
WITHOUT_INPUT = {"ConstantOfShape"}  # an attribute sets its type


def table():
    return set(re.findall(r'^KERNEL\("(\w+)"\)', TABLE.read_text(), re.M))


def models(t, kind):
    lines = []
    for op, (inputs, outputs, body) in NODES.items():
        typed = [re.sub(r"\bT\b(?=[\[ ])", kind, part) for part in (inputs, outputs, body)]
        lines.append(f'### {op}\n<ir_version: 10, opset_import: ["" : 22]>\nagraph ({typed[0]}) => ({typed[1]}) {{ {typed[2]} }}\n')
    lines.append(f'### ConstantOfShape\n<ir_version: 10, opset_import: ["" : 22]>\nagraph (int64[1] s) => ({kind}[a] y) '
                 f"{{ y = ConstantOfShape<value = {kind}[1] {{0}}>(s) }}\n")
    (t.folder / "nodes.txt").write_text("".join(lines))
    run = subprocess.run([program("text_to_onnx"), t.folder / "nodes.txt", t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(run.stderr)
    return [*NODES, "ConstantOfShape"]


def session(path, optimized=True):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def refusals(t, kind):
    """op -> the error of ONNX Runtime when it loads the model of this node."""
    refused = {}
    for op in models(t, kind):
        try:
            session(t.folder / f"{op}.onnx", optimized=False)
        except Exception as error:  # noqa: BLE001: ONNX Runtime has its own
            refused[op] = str(error)
    return refused


@case("the table has the operators that ONNX Runtime runs in bf16, and no other", needs=PEERS)
def _(t):
    refused = refusals(t, "bfloat16")
    t.equal({op: why for op, why in refused.items() if "NOT_IMPLEMENTED" not in why}, {}, "an invalid model")
    t.equal(sorted({*NODES, *WITHOUT_INPUT} - set(refused)), sorted(table()))


@case("ONNX Runtime loads every operator in f16: it casts around those without a kernel", needs=PEERS)
def _(t):
    t.equal(refusals(t, "float16"), {})


# --- Whole files.


def feed_of(path, low, high):
    import numpy
    random = numpy.random.default_rng(5)
    kinds = {"tensor(float)": numpy.float32, "tensor(uint8)": numpy.uint8, "tensor(int64)": numpy.int64}
    feed = {}
    for value in session(path).get_inputs():
        dims = [d if isinstance(d, int) and d > 0 else 1 + 6 * i for i, d in enumerate(value.shape)]
        feed[value.name] = (random.random(dims) * (high - low) + low).astype(kinds[value.type])
    return feed


def ours(t, path, feed, outputs):
    import numpy
    out = t.folder / f"outputs-{path.stem}"
    arguments = []
    for name, value in feed.items():
        file = t.folder / f"{len(arguments)}.npy"
        numpy.save(file, value)
        arguments += ["--input", f"{name}={file}"]
    run = t.halftone("run", path, *arguments, "--out", out, "--quiet")
    if run.returncode != 0:
        raise Failure(f"halftone run {path.name}: {run.stderr[-2000:]}")
    t.equal(len(run.stdout.split()), len(outputs))
    file_of = lambda name: "".join(c if c.isalnum() or c in ".-_" else "_" for c in name)  # noqa: E731
    return [numpy.load(out / f"{file_of(name)}.npy") for name in outputs]


def check_files(t, path, feed, precisions, planner, smaller=True, sqnr=20):
    """Runs one job and checks the file of each precision."""
    import numpy
    numpy.savez(t.folder / "x.npz", **feed)
    flags = ("--precision", ",".join(precisions), "--planner", planner, "--allow-emulation", "--no-bench", "--eval", t.folder / "x.npz")
    report, out = t.optimize(path, *flags, "--target-runtime", "onnxruntime")
    text = " ".join(report.get("warnings", []))
    t.check("does not load the file" not in text, text)
    before = session(path)
    original = before.run(None, feed)
    for precision in precisions:
        file = out / f"{path.stem}.{precision}.onnx"
        loaded = session(file)
        names = [o.name for o in loaded.get_outputs()]
        t.equal(names, [o.name for o in before.get_outputs()])
        theirs = loaded.run(None, feed)
        tolerance = 1e-3 if precision == "bf16" else 3e-2  # both compute in f32, or in f16 with roundings at other places
        for name, a, b, c in zip(names, theirs, ours(t, file, feed, names), original):
            check_output(t, f"{file.name}: {name}", a, b, c, tolerance, sqnr)
        size, whole = file.stat().st_size, (out / f"{path.stem}.fp32.onnx").stat().st_size
        if smaller:
            t.check(size < 0.62 * whole, f"{size} bytes, in fp32 {whole}")


def check_output(t, name, theirs, ours, original, tolerance, sqnr):
    import numpy
    t.equal(theirs.shape, ours.shape, name)
    largest = max(numpy.abs(original.astype(float)).max(), 1e-3)
    worst = numpy.abs(theirs.astype(float) - ours.astype(float)).max()
    t.check(worst <= tolerance * largest, f"{name}: ONNX Runtime and we differ by {worst:.3g}, max {largest:.3g}")
    if not numpy.issubdtype(original.dtype, numpy.floating):
        return
    noise = numpy.square(theirs.astype(float) - original).sum()
    level = 10 * numpy.log10(numpy.square(original.astype(float)).sum() / max(noise, 1e-30))
    t.check(level >= sqnr, f"{name}: {level:.1f} dB against the unmodified model")


# Range of the inputs, and whether most of the file is weights.
REAL = {
    "mnist/mnist_cnn.onnx": (0, 255, True),
    "imagenet/squeezenet_fp32_from_fp16.onnx": (-2, 2, True),
    "superres/super_resolution.onnx": (0, 1, True),
    "detect/yunet_n_320_320.onnx": (0, 255, False),  # small weights, long names
    "rnn/gtcrn_simple.onnx": (-1, 1, False),
}
MORE = {
    "imagenet/mobilenet_v2_fp32_dequantized.onnx": (-2, 2, True),
    "imagenet/tiny_darknet_imagenet.onnx": (0, 1, True),
    "detect/version-RFB-320.onnx": (-1, 1, True),
    "detect/yolox_nano.onnx": (0, 255, True),
}
ONLY_MORE = os.environ.get("TARGET_RUNTIMES_TEST") == "more"
for _name, (_low, _high, _smaller) in (MORE if ONLY_MORE else REAL).items():
    for _planner, _precisions in (("lists", ("bf16", "fp16")), ("placement", ("bf16",))):

        @case(f"{_name} in {' and '.join(_precisions)} by {_planner} loads in ONNX Runtime and gives the same outputs as here",
              needs_shared=True, needs=PEERS)
        def _(t, name=_name, low=_low, high=_high, smaller=_smaller, precisions=_precisions, planner=_planner):
            path = shared("models", *name.split("/"))
            check_files(t, path, feed_of(path, low, high), precisions, planner, smaller and planner == "lists")


@case("a file for any target runtime comes with the warning that ONNX Runtime does not load it, which is true", needs_shared=True, needs=PEERS)
def _(t):
    path = shared("models", "mnist", "mnist_cnn.onnx")
    report, out = t.optimize(path, "--precision", "bf16", "--allow-emulation", "--no-bench")
    t.contains(" ".join(report["warnings"]), "ONNX Runtime's CPU provider (1.21) does not load the file: it has no bf16 kernel")
    t.contains(" ".join(report["warnings"]), "--target-runtime onnxruntime writes")
    try:
        session(out / "mnist_cnn.bf16.onnx")
    except Exception as error:  # noqa: BLE001
        t.contains(str(error), "NOT_IMPLEMENTED")
    else:
        raise Failure("it does: the table is out of date")
    t.equal(variant(report, "bf16")["precision"], "bf16")


SMALL = """### small
<ir_version: 8, opset_import: ["" : 9]>
agraph (float[2,3,8,8] x) => (float[2,5] y) <WEIGHTS>
{ c = Conv<pads=[1,1,1,1]>(x, w)  r = Relu(c)  p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)  f = Flatten(p)  g = Gemm<transB=1>(f, v, b)
  e = Elu(g)  y = Softmax<axis=1>(e) }
"""


@case("a small model of opset 9", needs=PEERS)
def _(t):
    import numpy
    random = numpy.random.default_rng(3)
    weights = []
    for name, dims in {"w": (4, 3, 3, 3), "v": (5, 64), "b": (5,)}.items():
        numbers = ",".join(f"{v:.6g}" for v in random.standard_normal(dims).ravel() / 4)
        weights.append(f"float[{','.join(map(str, dims))}] {name} = {{{numbers}}}")
    (t.folder / "small.txt").write_text(SMALL.replace("WEIGHTS", ", ".join(weights)))
    run = subprocess.run([program("text_to_onnx"), t.folder / "small.txt", t.folder], capture_output=True, text=True)
    t.equal(run.returncode, 0, run.stderr)
    path = t.folder / "small.onnx"
    for planner in ("lists", "placement"):
        check_files(t, path, feed_of(path, -2, 2), ("bf16", "fp16"), planner, smaller=False)


if ONLY_MORE:
    CASES[:] = [one for one in CASES if one[0].startswith(tuple(MORE))]
main()
