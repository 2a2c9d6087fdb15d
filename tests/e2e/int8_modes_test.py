#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""int8 without samples, through the command line: weight-only and dynamic quantization. Checks the ops of the file, its outputs here and in
ONNX Runtime, and the reason for each node."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, variant  # noqa: E402
from two_runtimes import agree, ours, theirs, write_model  # noqa: E402

INT8 = ("--precision", "int8", "--no-bench")
WEIGHTS, DYNAMIC = (*INT8, "--int8-mode", "weight-only"), (*INT8, "--int8-mode", "dynamic")
NUMPY, PEERS = ("numpy",), ("numpy", "onnxruntime")
LEAST_DECIBELS = {"weight-only": 35, "dynamic": 28}

# Two layers with a gate: two matmuls read x. Both operands of the last matmul are computed.
BODY = """m = MatMul(x, w1) a = Add(m, b1) h = Relu(a) g = MatMul(x, w3) s = Sigmoid(g) k = Mul(h, s) o = Gemm<transB=1>(k, w2, b2)
          t = Transpose<perm=[1,0]>(o) p = MatMul(o, t) y = Softmax<axis=1>(p)"""
SHAPES = {"w1": (64, 96), "b1": (96,), "w3": (64, 96), "w2": (32, 96), "b2": (32,)}


def gated_layers(t):
    """The model's path and its input."""
    import numpy
    random = numpy.random.default_rng(4)
    consts = {name: (random.standard_normal(shape) / 8).astype(numpy.float32) for name, shape in SHAPES.items()}
    path = write_model(t, "layers", "(float[5,64] x) => (float[5,5] y)", consts, BODY)
    return path, (random.random((5, 64)) * 3 - 1).astype(numpy.float32)


def gated_graphdef(t):
    """The same layers as a GraphDef in text form, without the matmul of two computed operands."""
    import numpy
    random = numpy.random.default_rng(4)
    nodes = []

    def node(op, name, inputs=(), attributes=""):
        lines = "".join(f' input: "{i}"' for i in inputs)
        nodes.append(f'node {{ name: "{name}" op: "{op}"{lines} {attributes} }}')

    def number(op, name, *inputs):
        node(op, name, inputs, 'attr { key: "T" value { type: DT_FLOAT } }')

    sizes = " ".join(f"dim {{ size: {n} }}" for n in (5, 64))
    node("Placeholder", "x", (), f'attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: "shape" value {{ shape {{ {sizes} }} }} }}')
    for name, shape in SHAPES.items():
        shape = (96, 32) if name == "w2" else shape
        dims = " ".join(f"dim {{ size: {n} }}" for n in shape)
        values = " ".join(f"float_val: {v:.7g}" for v in (random.standard_normal(shape) / 8).astype(numpy.float32).ravel())
        tensor = f"tensor {{ dtype: DT_FLOAT tensor_shape {{ {dims} }} {values} }}"
        node("Const", name, (), f'attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: "value" value {{ {tensor} }} }}')
    number("MatMul", "m", "x", "w1")
    number("BiasAdd", "a", "m", "b1")
    number("Relu", "h", "a")
    number("MatMul", "g", "x", "w3")
    number("Sigmoid", "s", "g")
    number("Mul", "k", "h", "s")
    number("MatMul", "o", "k", "w2")
    number("BiasAdd", "y", "o", "b2")
    path = t.folder / "layers.pbtxt"
    path.write_text("\n".join(nodes) + "\n")
    return path, (random.random((5, 64)) * 3 - 1).astype(numpy.float32)


def without_calibration(t, report, out):
    t.equal((report["calibration"]["source"], report["calibration"]["samples"]), ("", 0))
    t.check(not list(out.glob("*.ranges.json")), "there is a file of ranges")
    t.check(not any("RANDOM inputs" in w for w in report["warnings"]), f"{report['warnings']}")


def rules(report):
    return {d["node"]: d["rule"] for d in variant(report, "int8")["decisions"]}


@case("weight-only: the file has a fourth of the size; here and in ONNX Runtime the outputs are those of rounded weights", needs=PEERS)
def _(t):
    path, x = gated_layers(t)
    report, out = t.optimize(path, *WEIGHTS)
    without_calibration(t, report, out)
    int8, file = variant(report, "int8"), out / "layers.int8.onnx"
    t.check(file.stat().st_size < 0.3 * path.stat().st_size, f"{file.stat().st_size} bytes of {path.stat().st_size}")
    t.contains(int8["summary"], "mode weight-only")
    t.equal([rule for rule in rules(report).values() if rule == "int8.weights"], ["int8.weights"] * 3)
    t.check(all(n["src_type"] in ("f32", "") for n in int8["nodes"] if n["op"].startswith("matmul")), f"{int8['nodes']}")
    sqnr = int8["fidelity"][0]["sqnr_db"]
    t.check(sqnr >= LEAST_DECIBELS["weight-only"], f"{sqnr} dB")
    agree(t, file, x, within=1e-5)


@case("weight-only with fallback precision bf16: matmuls run in bf16", needs=NUMPY)
def _(t):
    path, _ = gated_layers(t)
    report, out = t.optimize(path, *WEIGHTS, "--fallback-precision", "bf16")
    file, int8 = out / "layers.int8.onnx", variant(report, "int8")
    t.check(file.stat().st_size < 0.3 * path.stat().st_size, f"{file.stat().st_size} bytes")
    t.check(int8["fidelity"][0]["sqnr_db"] >= 25, f"{int8['fidelity']}")


@case("dynamic: each run computes the ranges; ONNX Runtime fuses the ops of the file and gives the same outputs", needs=PEERS)
def _(t):
    path, x = gated_layers(t)
    report, out = t.optimize(path, *DYNAMIC)
    without_calibration(t, report, out)
    int8, file = variant(report, "int8"), out / "layers.int8.onnx"
    t.check(file.stat().st_size < 0.35 * path.stat().st_size, f"{file.stat().st_size} bytes of {path.stat().st_size}")
    t.contains(int8["summary"], "mode dynamic")
    found = list(rules(report).values())
    t.equal((found.count("int8.dynamic"), found.count("int8.no-dynamic-form") > 0), (3, True), f"{rules(report)}")
    steps = [n["op"].split("+")[0] for n in int8["nodes"]]
    t.check(all(n["rule"] == "int8.dynamic" for n in int8["nodes"] if n["op"].startswith("matmul_integer")), f"{int8['nodes']}")
    t.equal((steps.count("matmul_integer_to_float"), steps.count("dynamic_quantize_linear")), (3, 2), f"{steps}")
    t.check(not any(op in ("matmul_integer", "cast") for op in steps), f"{steps}")
    t.check(0.9 < int8["int8_share"] <= 1, f"{int8['int8_share']}")
    sqnr = int8["fidelity"][0]["sqnr_db"]
    t.check(sqnr >= LEAST_DECIBELS["dynamic"], f"{sqnr} dB")
    ran = agree(t, file, x, within=1e-4)
    t.check({"DynamicQuantizeMatMul", "MatMulIntegerToFloat"} <= ran and "MatMulInteger" not in ran, f"{sorted(ran)}")


@case("dynamic: the same on CPUs without VNNI, whose int8 kernels sum in int16", needs=NUMPY)
def _(t):
    path, _ = gated_layers(t)
    for isa in ("AVX2", "AVX512_CORE"):
        report, _ = t.optimize(path, *DYNAMIC, env={"ONEDNN_MAX_CPU_ISA": isa})
        int8 = variant(report, "int8")
        t.check(int8["fidelity"][0]["sqnr_db"] >= 25, f"{isa}: {int8['fidelity']}")
        t.check(not any(n["kernel"] == "reference" for n in int8["nodes"]), f"{isa}: {int8['nodes']}")


@case("dynamic: convolutions stay fp32, with a reason")
def _(t):
    report, _ = t.optimize(DEMO / "digits.onnx", *DYNAMIC)
    reasons = [d for d in variant(report, "int8")["decisions"] if d["op"].startswith("conv")]
    t.check(reasons and all(d["rule"] == "int8.no-dynamic-form" and d["precision"] == "fp32" for d in reasons), f"{reasons}")
    t.contains(reasons[0]["reason"], "slower")


@case("an LSTM with int8 weights (DynamicQuantizeLSTM of ONNX Runtime) is read and run", needs=PEERS)
def _(t):
    import numpy
    random = numpy.random.default_rng(6)
    # Weights of 7 bits: with 8, ONNX Runtime's int16 sums of two products saturate on CPUs without VNNI.
    consts = {"w": random.integers(-63, 64, (1, 12, 64)).astype(numpy.int8), "r": random.integers(-63, 64, (1, 16, 64)).astype(numpy.int8),
              "ws": numpy.array([0.008], numpy.float32), "rs": numpy.array([0.006], numpy.float32), "z": numpy.array([0], numpy.int8)}
    path = write_model(t, "lstm", "(float[9,2,12] x) => (float[9,1,2,16] y)", consts,
                       "y = com.microsoft.DynamicQuantizeLSTM<hidden_size=16>(x, w, r, , , , , , ws, z, rs, z)")
    x = random.standard_normal((9, 2, 12)).astype(numpy.float32)
    (there, ran), here = theirs(path, x), ours(t, path, x)
    t.check("DynamicQuantizeLSTM" in ran, f"{sorted(ran)}")
    noise = numpy.square(there - here).sum() / numpy.square(here).sum()
    t.check(noise < 10 ** -2.5, f"noise of {noise}: ONNX Runtime rounds the states, we do not")


@case("dynamic, GraphDef: TensorFlow's ops that compute ranges at run time are read as integer matmuls again", needs=NUMPY)
def _(t):
    import numpy
    path, x = gated_graphdef(t)
    report, out = t.optimize(path, *DYNAMIC)
    without_calibration(t, report, out)
    int8, file = variant(report, "int8"), out / "layers.int8.pbtxt"
    t.contains(int8["summary"], "mode dynamic")
    t.equal(list(rules(report).values()).count("int8.dynamic"), 3, f"{rules(report)}")
    text = file.read_text()
    counts = {op: text.count(f'op: "{op}"') for op in ("Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndRelu", "MatMul")}
    t.equal(counts, {"Min": 2, "Max": 2, "QuantizeV2": 2, "QuantizedMatMulWithBias": 2, "QuantizedMatMulWithBiasAndRelu": 1, "MatMul": 0})
    steps = [n["op"].split("+")[0] for n in int8["nodes"]]
    t.check(all(n["rule"] == "int8.dynamic" for n in int8["nodes"] if n["op"].startswith("matmul_integer")), f"{int8['nodes']}")
    t.equal((steps.count("matmul_integer_to_float"), steps.count("dynamic_quantize_linear")), (3, 2), f"{steps}")
    t.check(not any(op.startswith(("matmul_integer", "reduce", "dequantize")) and op != "matmul_integer_to_float" for op in steps), f"{steps}")
    t.check(0.9 < int8["int8_share"] <= 1, f"{int8['int8_share']}")
    sqnr = int8["fidelity"][0]["sqnr_db"]
    t.check(sqnr >= LEAST_DECIBELS["dynamic"], f"{sqnr} dB")
    fp32, quantized = ours(t, path, x), ours(t, file, x)  # each in a process of its own
    measured = 10 * numpy.log10(numpy.square(fp32).sum() / numpy.square(fp32 - quantized).sum())
    t.check(measured >= LEAST_DECIBELS["dynamic"], f"{measured} dB")
    again, out = t.optimize(file, "--precision", "fp32", "--no-bench")
    difference = numpy.abs(ours(t, out / "layers.int8.fp32.pbtxt", x) - quantized).max()
    t.check(difference < 1e-5, f"optimizing the int8 file changed its outputs by {difference}")


@case("weight-only, GraphDef: the weights become int8")
def _(t):
    model = DEMO / "digits.pb"
    report, out = t.optimize(model, *WEIGHTS)
    without_calibration(t, report, out)
    file, fp32 = out / "digits.int8.pb", out / "digits.fp32.pb"
    t.check(file.stat().st_size < 0.5 * fp32.stat().st_size, f"{file.stat().st_size} bytes of {fp32.stat().st_size}")
    t.check(variant(report, "int8")["fidelity"][0]["sqnr_db"] >= 30, f"{variant(report, 'int8')['fidelity']}")


@case("flags for static ranges are usage errors in modes without calibration")
def _(t):
    for flags in (("--int8-mode", "weight-only", "--smooth-quant"), ("--int8-mode", "dynamic", "--activations", "s8"), ("--int8-mode", "never")):
        run = t.halftone("optimize", DEMO / "digits.onnx", *INT8, *flags, "--out", "out")
        t.equal(run.returncode, 2, run.stderr)
        t.contains(run.stderr, "--int8-mode")


main()
