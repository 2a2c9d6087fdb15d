#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""INT8 files in ONNX Runtime: it loads them, runs int8 kernels (shown by its profile) and gives the same outputs as our engine does from
the same file. QDQ format and QOperator format (QLinearConv and others); u8 and s8.

With QUANTIZED_TEST=real in the environment: networks and images of the shared folder, and nothing else."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from harness import CASES, Failure, case, main, program, shared  # noqa: E402
from wire import fields, varints  # noqa: E402

PEERS = ("numpy", "onnxruntime")
FLOAT, INT8, INT32 = 1, 3, 6  # TensorProto.DataType
FORMS = {"pairs": (), "operators": ("--operators",)}
KINDS = {"u8": (), "s8": ("--s8",)}

# --- Reading a file: without the package onnx, which does not share a process with ONNX Runtime.


def parts(path):
    """(nodes, initializers, opset): operators' names, (type, dims) by name."""
    model = list(fields(path.read_bytes()))
    graph = next(value for number, _, value in model if number == 7)
    opsets = [dict((n, v) for n, _, v in fields(value)) for number, _, value in model if number == 8]
    opset = next(o[2] for o in opsets if not o.get(1))
    nodes, initializers = [], {}
    for number, _, value in fields(graph):
        named = {}
        for field, kind, content in fields(value) if number in (1, 5) else ():
            named.setdefault(field, []).append((kind, content))
        if number == 1:
            nodes.append(named[4][0][1].decode())
        if number == 5:
            dims = [d for kind, v in named.get(1, []) for d in ([v] if kind == 0 else varints(v))]
            initializers[named[8][0][1].decode()] = (named[2][0][1], dims)
    return nodes, initializers, opset


def size_of(dims):
    size = 1
    for dim in dims:
        size *= dim
    return size


# --- Running.


def session(path, profile=None, optimized=True):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def theirs(path, feed):
    """Outputs by name, and the operators that ONNX Runtime ran."""
    opened = session(path, profile=path.with_suffix(".profile"))
    outputs = dict(zip([o.name for o in opened.get_outputs()], opened.run(None, feed)))
    events = json.loads(pathlib.Path(opened.end_profiling()).read_text())
    ran = [e["args"]["op_name"].removeprefix("Nhwc") for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
    return outputs, ran


def ours(t, path, samples):
    """The outputs of our engine by name and number of the batch ("y.0"), for a .npz or a feed."""
    import numpy
    if isinstance(samples, dict):
        numpy.savez(t.folder / "feed.npz", **samples)
        samples = t.folder / "feed.npz"
    out = t.folder / "outputs.npz"
    run = subprocess.run([program("run_samples"), path, samples, out], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"run_samples {path.name}: {run.stderr[-2000:]}")
    return dict(numpy.load(out))


def decibels(value, other):
    import numpy
    noise = numpy.square(value.astype(float) - other.astype(float)).sum()
    return 10 * numpy.log10(max(numpy.square(value.astype(float)).sum(), 1e-30) / max(noise, 1e-30))


def quantize(t, path, name, *flags, feed=None):
    """`feed`: the one sample to calibrate with."""
    import numpy
    if feed is not None:
        numpy.savez(t.folder / "calibration.npz", **feed)
        flags += ("--samples", t.folder / "calibration.npz")
    out = t.folder / f"{path.stem}.{name}.onnx"
    run = subprocess.run([program("quantize_file"), path, out, *flags], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{name}: {run.stderr[-2000:]}")
    return out


# --- Small models, in ONNX's text syntax. Weights are random; one channel of the first weight is all zeros.


def model(t, name, inputs, outputs, weights, body, opset=17):
    import numpy
    random = numpy.random.default_rng(len(name))
    consts = []
    for weight, value in weights.items():
        array = random.standard_normal(value) / max(1, numpy.prod(value[1:])) ** 0.5 if isinstance(value, tuple) else numpy.asarray(value)
        kind = "int64" if array.dtype.kind == "i" else "float"
        if weight == "w" and array.shape[0] > 3:
            array[2] = 0
        dims = f"[{','.join(map(str, array.shape))}]" if array.shape else ""
        consts.append(f"{kind}{dims} {weight} = {{{','.join(f'{v:.7g}' if kind == 'float' else str(int(v)) for v in array.ravel())}}}")
    head = f'### {name}\n<ir_version: 8, opset_import: ["" : {opset}]>\nagraph ({inputs}) => ({outputs})\n'
    if name not in ENDS:
        body = body.replace("y = ", "last = ") + " y = Erf(last)"
    (t.folder / "cases.txt").write_text(f"{head}<{', '.join(consts)}>\n{{ {body} }}\n")
    run = subprocess.run([program("text_to_onnx"), t.folder / "cases.txt", t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{name}: {run.stderr}")
    return t.folder / f"{name}.onnx"


# Inputs, outputs, weights, body, and the int8 operators that ONNX Runtime must run for both formats. After y there is a float op, except in
# ENDS, where an int8 operator must compute the output y.
CONV = "c = Conv<pads=[1,1,1,1]>(x, w, b) "
MODELS = {
    "conv": ("float[2,3,9,7] x", "float[2,8,9,7] y", {"w": (8, 3, 3, 3), "b": (8,)}, CONV + "y = Relu(c)", {"QLinearConv"}),
    "relu6": ("float[2,3,9,7] x", "float[2,8,9,7] y", {"w": (8, 3, 3, 3), "b": (8,), "low": 0.0, "six": 6.0},
              CONV + "y = Clip(c, low, six)", {"QLinearConv"}),
    "without_bias": ("float[2,3,9,7] x", "float[2,8,7,5] y", {"w": (8, 3, 3, 3)}, "c = Conv(x, w) y = Relu(c)", {"QLinearConv"}),
    "old": ("float[2,3,9,7] x", "float[2,8,9,7] y", {"w": (8, 3, 3, 3), "b": (8,)}, CONV + "y = Relu(c)", {"QLinearConv"}),
    "depthwise": ("float[2,8,9,7] x", "float[2,8,9,7] y", {"w": (8, 1, 3, 3), "b": (8,)},
                  "c = Conv<pads=[1,1,1,1], group=8>(x, w, b) y = Relu(c)", {"QLinearConv"}),
    "residual": ("float[2,8,9,7] x", "float[2,8,9,7] y", {"w": (8, 8, 3, 3), "b": (8,), "v": (8, 8, 1, 1)},
                 CONV + "d = Relu(c) e = Conv(d, v) s = Add(e, x) y = Relu(s)", {"QLinearConv", "QLinearAdd"}),
    "leaky": ("float[2,3,9,7] x", "float[2,8,4,3] y", {"w": (8, 3, 3, 3), "b": (8,)},
              CONV + "l = LeakyRelu<alpha=0.1>(c) y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(l)",
              {"QLinearConv", "QLinearLeakyRelu", "MaxPool"}),
    "pools": ("float[2,3,9,7] x", "float[2,8,1,1] y", {"w": (8, 3, 3, 3), "b": (8,)},
              CONV + "r = Relu(c) m = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r) a = AveragePool<kernel_shape=[2,2]>(m) y = GlobalAveragePool(a)",
              {"QLinearConv", "MaxPool", "QLinearAveragePool", "QLinearGlobalAveragePool"}),
    "concat": ("float[2,3,9,7] x", "float[2,4,9,7] y", {"w": (8, 3, 3, 3), "b": (8,), "v": (8, 3, 1, 1), "u": (4, 16, 1, 1)},
               CONV + "r = Relu(c) d = Conv(x, v) s = Relu(d) a = Concat<axis=1>(r, s) y = Conv(a, u)", {"QLinearConv"}),
    "classifier": ("float[3,4,5] x", "float[3,7] y", {"w": (7, 20), "b": (7,)}, "f = Flatten(x) y = Gemm<transB=1>(f, w, b)", {"QGemm"}),
    "matmul": ("float[3,20] x", "float[3,7] y", {"w": (20, 7)}, "y = MatMul(x, w)", {"QLinearMatMul"}),
    "activations": ("float[3,20] x, float[20,6] z", "float[3,6] y", {}, "y = MatMul(x, z)", {"QLinearMatMul"}),
}
MODELS |= {f"{_name}_ends": MODELS[_name] for _name in ("relu6", "without_bias", "residual", "leaky", "classifier", "matmul")}
ENDS = {_name for _name in MODELS if _name.endswith("_ends")}
OPSETS = {"old": 11}
REAL_KERNELS = {"Conv", "FusedConv", "MatMul", "FusedMatMul", "Gemm", "FusedGemm"}
# On x86 ONNX Runtime converts QDQ in s8 to u8, but not where a value has several consumers.
REAL_IN_S8 = {("residual", "s8", "pairs"), ("residual_ends", "s8", "pairs"), ("concat", "s8", "pairs")}
STEP = 1 / 255  # of the range of an output


def feed_of(path):
    import numpy
    random = numpy.random.default_rng(5)
    return {v.name: (random.random(v.shape) * 4 - 1.5).astype(numpy.float32) for v in session(path).get_inputs()}


def check_weights(t, file, form):
    nodes, initializers, opset = parts(file)
    large = {name: entry for name, entry in initializers.items() if len(entry[1]) > 1}
    t.equal({name: kind for name, (kind, _) in large.items() if kind != INT8}, {}, "weights that are not s8")
    floats = [size_of(dims) for kind, dims in initializers.values() if kind == FLOAT]
    t.check(max(floats) <= 8, f"{max(floats)} numbers of f32 in one constant: no scale")
    t.check(form == "operators" or opset >= 13, f"opset {opset}")
    return nodes


def check_small(t, name, kind):
    import numpy
    inputs, outputs, weights, body, wanted = MODELS[name]
    path = model(t, name, inputs, outputs, weights, body, OPSETS.get(name, 17))
    feed = feed_of(path)
    before, _ = theirs(path, feed)
    for form, flags in FORMS.items():
        file = quantize(t, path, f"{form}.{kind}", "--target-runtime", "onnxruntime", *flags, *KINDS[kind], feed=feed)
        written = check_weights(t, file, form)
        if form == "operators":
            t.check(wanted <= set(written), f"{form}: {sorted(wanted)} wanted, the file has {written}")
        outputs_there, ran = theirs(file, feed)
        if (name, kind, form) not in REAL_IN_S8:
            t.check(wanted <= set(ran) and not REAL_KERNELS & set(ran), f"{form}: {sorted(wanted)} wanted, ONNX Runtime ran {ran}")
        read_back = ours(t, file, feed)
        for output, value in outputs_there.items():
            largest = numpy.ptp(before[output])
            worst = numpy.abs(value - read_back[f"{output}.0"]).max()
            t.check(worst <= 2.5 * STEP * largest, f"{form}: {output}: ONNX Runtime and we differ by {worst:.3g} of {largest:.3g}")
            t.check(decibels(before[output], value) >= 22, f"{form}: {output}: {decibels(before[output], value):.1f} dB of fp32")


for _name in MODELS:
    for _kind in KINDS:

        @case(f"small: {_name} in {_kind}, pairs and operators", needs=PEERS)
        def _(t, name=_name, kind=_kind):
            check_small(t, name, kind)


@case("small: pairs for any target runtime run in ONNX Runtime, too", needs=PEERS)
def _(t):
    for name in ("residual", "leaky", "concat"):
        inputs, outputs, weights, body, _ = MODELS[name]
        path = model(t, name, inputs, outputs, weights, body)
        feed = feed_of(path)
        file = quantize(t, path, "any", feed=feed)
        check_weights(t, file, "pairs")
        before, (outputs_there, ran) = theirs(path, feed)[0], theirs(file, feed)
        t.check("QuantizeLinear" in ran, f"{name}: {ran}")
        read_back = ours(t, file, feed)
        for output, value in outputs_there.items():
            here = read_back[f"{output}.0"]
            t.check(decibels(here, value) >= 30, f"{name}: ONNX Runtime and we: {decibels(here, value):.1f} dB")
            t.check(decibels(before[output], value) >= 22, f"{name}: {decibels(before[output], value):.1f} dB of fp32")


# --- Networks. The required share of images that keep their fp32 class is low, because ranges are plain min/max. `drift`: how many images may
# get another class here than in ONNX Runtime, since rounding differences grow from layer to layer. More may differ if ONNX Runtime differs from
# itself in as many, computing the QDQ file in f32 without its optimizations: 10 and 4 images on a CPU without VNNI, whose weights have 7 bits
# (docs/guide/debugging.md).

REAL = {
    "mobilenet_v2": ("imagenet/mobilenet_v2_fp32_dequantized.onnx", "input", 52, 0.8, 8),
    "squeezenet": ("imagenet/squeezenet_fp32_from_fp16.onnx", "data_0", 26, 0.85, 1),
    "tiny_darknet": ("imagenet/tiny_darknet_imagenet.onnx", "image", 16, 0.7, 1),
}


def images(t, net, name, *flags):
    import numpy
    out = t.folder / f"{len(flags)}.npz"
    subprocess.run([sys.executable, shared("make_npz.py"), net, out, "--input", name, *flags], check=True, capture_output=True)
    return out, numpy.load(out)[name]


def classes(path, name, samples, optimized=True):
    opened = session(path, optimized=optimized)
    return [int(opened.run(None, {name: sample[None]})[0].ravel().argmax()) for sample in samples]


for _net, (_path, _input, _convs, _share, _drift) in REAL.items():
    for _form in FORMS:

        @case(f"real: {_net} as {_form}: ONNX Runtime runs int8 kernels and finds the same classes as we do", needs_shared=True, needs=PEERS)
        def _(t, net=_net, relative=_path, name=_input, convs=_convs, share=_share, drift=_drift, form=_form):
            path = shared("models", *relative.split("/"))
            calibration, _ = images(t, net, name, "--set", "images_calibration")
            npz, judged = images(t, net, name)
            file = quantize(t, path, form, "--samples", calibration, "--target-runtime", "onnxruntime", *FORMS[form])
            size, whole = file.stat().st_size, path.stat().st_size
            t.check(size < 0.3 * whole, f"{size} bytes, in fp32 {whole}")
            outputs, ran = theirs(file, {name: judged[0][None]})
            t.check(ran.count("QLinearConv") >= convs and not REAL_KERNELS & set(ran), f"{ran}")
            before, after = classes(path, name, judged), classes(file, name, judged)
            agreed = sum(a == b for a, b in zip(before, after)) / len(before)
            print(f"     {net} as {form}: {agreed:.2f} of {len(before)} images keep their class in ONNX Runtime", flush=True)
            t.check(agreed >= share, f"{agreed:.2f} of the images keep their class")
            here = ours(t, file, npz)
            (output,) = outputs
            same = sum(int(here[f"{output}.{i}"].ravel().argmax()) == one for i, one in enumerate(after))
            print(f"     {len(after) - same} have another class here", flush=True)
            if same >= len(after) - drift:
                return
            pairs = quantize(t, path, "pairs", "--samples", calibration, "--target-runtime", "onnxruntime")
            parted = sum(a != b for a, b in zip(classes(pairs, name, judged, optimized=False), after))
            t.check(same >= len(after) - parted,
                    f"{len(after) - same} of {len(after)} images have another class here than in ONNX Runtime, {parted} in itself computing with f32")


ONLY_REAL = os.environ.get("QUANTIZED_TEST") == "real"
CASES[:] = [one for one in CASES if one[0].startswith("real") == ONLY_REAL]
main()
