#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trained models: our outputs against ONNX Runtime's, .npz files and OpenCV; written bf16 files against the rules of their format."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import Failure, case, main, program, shared, variant  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("numpy", "onnxruntime")
TOLERANCE = 1e-4  # of the largest magnitude of an output

ONNX_MODELS = ["imagenet/mobilenet_v2_fp32_dequantized", "imagenet/squeezenet_fp32_from_fp16", "imagenet/tiny_darknet_imagenet",
               "mnist/mnist_cnn", "superres/super_resolution", "detect/yunet_n_320_320", "detect/yolox_nano", "detect/version-RFB-320",
               "rnn/nnsplit_en", "rnn/gtcrn_simple"]
GRAPHDEFS = ["imagenet/mobilenet_v2_fp32_dequantized", "imagenet/squeezenet_fp32_from_fp16", "imagenet/tiny_darknet_imagenet",
             "mnist/mnist_fc", "superres/ESPCN_x2", "superres/FSRCNN_x2", "audio/DS_CNN_S_mfcc", "audio/CNN_S_mfcc",
             "audio/GRU_S_mfcc", "audio/LSTM_S_mfcc"]
# unrolled recurrent nets: accuracy on the first 300 digits
RECURRENT = [("rnn/mnist_lstm.pb", 0.983), ("rnn/mnist_gru.pb", 0.987)]
# model, make_npz arguments, the share of samples whose class may change in bf16
EVALUATED = [
    ("imagenet/mobilenet_v2_fp32_dequantized.onnx", ("mobilenet_v2",), 0.02),
    ("imagenet/mobilenet_v2_fp32_dequantized.pb", ("mobilenet_v2", "--layout", "NHWC", "--input", "image"), 0.02),
    ("imagenet/squeezenet_fp32_from_fp16.onnx", ("squeezenet", "--input", "data_0"), 0.02),
    ("imagenet/squeezenet_fp32_from_fp16.pb", ("squeezenet", "--layout", "NHWC", "--input", "image"), 0.02),
    ("imagenet/tiny_darknet_imagenet.onnx", ("tiny_darknet", "--input", "image"), 0.02),
    ("imagenet/tiny_darknet_imagenet.pb", ("tiny_darknet", "--layout", "NHWC", "--input", "image"), 0.02),
    ("mnist/mnist_cnn.onnx", ("mnist", "--scale", "1", "--input", "Input3"), 0.001),
]
TOP1 = {"mobilenet_v2": 0.79, "squeezenet": 0.62, "tiny_darknet": 0.67, "mnist": 0.987}


def model_path(name, extension):
    return shared("models", name + extension)


def summary(t, path):
    run = t.halftone("inspect", path, "--json")
    if run.returncode != 0:
        raise Failure(run.stderr)
    return json.loads(run.stdout)


def session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def random_feed(path):
    import numpy
    random = numpy.random.default_rng(11)
    feed = {}
    for value in session(path).get_inputs():
        dims = [d if isinstance(d, int) and d > 0 else 2 + 6 * i for i, d in enumerate(value.shape)]
        if "uint8" in value.type:
            feed[value.name] = random.integers(0, 127, dims).astype(numpy.uint8)
            continue
        scale, offset = (255, 0) if "mnist" in str(path) or "yunet" in str(path) else (4, -2)
        feed[value.name] = (random.random(dims) * scale + offset).astype(numpy.float32)
    return feed


def run_onnx(path, feed):
    opened = session(path)
    return dict(zip([o.name for o in opened.get_outputs()], opened.run(None, feed)))


def run_ours(t, path, feed, *flags):
    """The outputs in their order, by the name of their file."""
    import numpy
    arguments = []
    for i, (name, array) in enumerate(feed.items()):
        numpy.save(t.folder / f"in{i}.npy", array)
        arguments += ["--input", f"{name}={t.folder / f'in{i}.npy'}"]
    out = t.folder / "outputs"
    run = t.halftone("run", path, *arguments, "--out", out, *flags)
    if run.returncode != 0:
        raise Failure(f"{path}: {run.stderr}")
    return {f.stem: numpy.load(f) for f in out.glob("*.npy")}


def close(t, actual, expected, what):
    import numpy
    t.equal(actual.shape, expected.shape, what)
    worst, scale = numpy.abs(actual - expected).max(), numpy.abs(expected).max()
    t.check(worst <= TOLERANCE * scale, f"{what}: max |a - b| = {worst:.3g}, max |b| = {scale:.3g}")


def file_of(output):
    return "".join(c if c.isalnum() or c in ".-_" else "_" for c in output)


def check_onnx(t, path):
    t.check(all(op["runs"] for op in summary(t, path)["ops"]), "opaque nodes")
    feed = random_feed(path)
    expected = run_onnx(path, feed)
    for flags in ((), ("--fuse",)):
        ours = run_ours(t, path, feed, *flags)
        for name, value in expected.items():
            close(t, ours[file_of(name)], value, f"{name} {flags}")
    samples = []
    if any(not isinstance(d, int) for value in session(path).get_inputs() for d in value.shape[1:]):
        import numpy
        numpy.savez(t.folder / "x.npz", **feed)
        samples = ["--eval", t.folder / "x.npz"]
    report, out = t.optimize(path, "--no-bench", *samples)
    fused = out / (path.stem + ".fp32.onnx")
    for name, value in run_onnx(fused, feed).items():
        close(t, value, expected[name], f"{name} of the fused file in ONNX Runtime")
    return report


for _name in ONNX_MODELS:

    @case(f"{_name}.onnx has ONNX Runtime's outputs, and so has its fused file", needs_shared=True, needs=PEERS)
    def _(t, name=_name):
        check_onnx(t, model_path(name, ".onnx"))


@case("ResNet-50 from PyTorch has ONNX Runtime's outputs, and so has its fused file", needs_shared=True, needs=PEERS + ("torchvision",))
def _(t):
    path = t.folder / "resnet50.onnx"
    subprocess.run([sys.executable, HERE / "export_torch.py", "resnet50", path], check=True, capture_output=True)
    check_onnx(t, path)


def image_twin(t, name):
    """Expected outputs of an NHWC twin: ONNX Runtime on the NCHW file."""
    twin = model_path(name, ".onnx")
    feed = {key: value[:1] for key, value in random_feed(twin).items()}
    expected = next(iter(run_onnx(twin, feed).values()))
    return {"image": next(iter(feed.values())).transpose(0, 2, 3, 1)}, expected


def npz_cases(name):
    import numpy
    if name.startswith("audio"):
        arrays, stem = numpy.load(model_path("audio/io", ".npz")), pathlib.Path(name).name
        for key in arrays:
            if key.startswith(stem + "__in__"):
                yield arrays[key], arrays[key.replace("__in__", "__out__")]
    else:
        arrays = numpy.load(model_path(name, ".npz"))
        yield arrays["in_IteratorGetNext"], arrays["out_NCHW_output"]


def expected_outputs(t, name):
    """(feed, expected) pairs of a GraphDef."""
    import numpy
    path = model_path(name, ".pb")
    inputs = [i["name"] for i in summary(t, path)["inputs"]]
    if name.startswith("imagenet"):
        feed, expected = image_twin(t, name)
        yield {inputs[0]: feed["image"]}, expected
    elif name.startswith("mnist"):
        import cv2
        x = numpy.random.default_rng(3).random((5, 784), numpy.float32)
        net = cv2.dnn.readNetFromTensorflow(str(path))
        net.setInput(x)
        yield {inputs[0]: x}, net.forward()
    else:
        for x, expected in npz_cases(name):
            yield {inputs[0]: x}, expected


for _name in GRAPHDEFS:

    @case(f"{_name}.pb has the outputs of its reference, and so has its fused file", needs_shared=True, needs=PEERS + ("cv2",))
    def _(t, name=_name):
        path = model_path(name, ".pb")
        t.check(all(op["runs"] for op in summary(t, path)["ops"]), "opaque nodes")
        pairs = list(expected_outputs(t, name))
        import numpy
        numpy.savez(t.folder / "x.npz", **pairs[0][0])
        _, out = t.optimize(path, "--no-bench", "--eval", t.folder / "x.npz")
        for feed, expected in pairs:
            for file, flags in ((path, ()), (path, ("--fuse",)), (out / (path.stem + ".fp32.pb"), ())):
                ours = next(iter(run_ours(t, file, feed, *flags).values()))
                close(t, ours.reshape(expected.shape), expected, f"{file.name} {flags}")


for _name, _accuracy in RECURRENT:

    @case(f"{_name} has the outputs of its reference, and so has its fused file", needs_shared=True, needs=("numpy",))
    def _(t, name=_name, accuracy=_accuracy):
        import numpy
        path = shared("models", name)
        samples = t.folder / "digits.npz"
        subprocess.run([sys.executable, shared("make_npz.py"), "mnist", samples, "--input", "X", "--first", "300", "--shape", "784"], check=True, capture_output=True)
        digits = dict(numpy.load(samples))
        feed = {"X": digits["X"], "keep_prob": numpy.float32(1)}
        for flags in ((), ("--fuse",)):
            output = run_ours(t, path, feed, *flags)["output"]
            share = (output.argmax(1) == digits["labels"]).mean()
            t.check(abs(share - accuracy) < 0.004, f"{flags}: {share}")


def check_bf16_file(t, path, out):
    if path.suffix == ".onnx":
        code = "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True); print(onnx.load(sys.argv[1]).opset_import[0].version)"
        run = subprocess.run([sys.executable, "-c", code, out / (path.stem + ".bf16.onnx")], capture_output=True, text=True)
        t.equal(run.returncode, 0, run.stderr[-1500:])
        t.equal(run.stdout.strip(), "22")
    else:
        run = subprocess.run([program("registry_check"), shared("tensorflow_ops.pbtxt"), out / (path.stem + ".bf16.pb")],
                             capture_output=True, text=True)
        t.equal(run.returncode, 0, run.stdout[-1500:] + run.stderr)


for _model, _arguments, _share in EVALUATED:

    @case(f"{_model} in bf16: classes stay, the file is valid and half as large", needs_shared=True, needs=PEERS + ("onnx", "PIL"))
    def _(t, model=_model, arguments=_arguments, share=_share):
        path = shared("models", model)
        samples = t.folder / "samples.npz"
        subprocess.run([sys.executable, shared("make_npz.py"), arguments[0], samples, *arguments[1:]], check=True, capture_output=True)
        report, out = t.optimize(path, "--eval", samples, "--allow-emulation", "--no-bench", "--threads", "2")
        fp32, bf16 = variant(report, "fp32"), variant(report, "bf16")
        t.check(bf16["fidelity"][0]["top1_agreement"] >= 1 - share - 1e-9, f"{bf16['fidelity'][0]}")
        t.check(abs(fp32["top1_accuracy"] - TOP1[arguments[0]]) <= 0.011, f"top-1 {fp32['top1_accuracy']}")
        t.check(bf16["artifact"]["size_bytes"] <= 0.55 * fp32["artifact"]["size_bytes"] or "mnist" in model, "not half as large")
        check_bf16_file(t, path, out)


for _name in ("superres/super_resolution.onnx", "detect/yunet_n_320_320.onnx", "mnist/mnist_fc.pb", "superres/ESPCN_x2.pb",
              "superres/FSRCNN_x2.pb", "audio/DS_CNN_S_mfcc.pb", "audio/CNN_S_mfcc.pb"):

    @case(f"{_name} in bf16: the file is valid and near fp32", needs_shared=True, needs=PEERS + ("onnx", "cv2"))
    def _(t, name=_name):
        import numpy
        path = shared("models", name)
        feed = random_feed(path) if path.suffix == ".onnx" else next(iter(expected_outputs(t, name[:-3])))[0]
        numpy.savez(t.folder / "x.npz", **feed)
        report, out = t.optimize(path, "--eval", t.folder / "x.npz", "--allow-emulation", "--no-bench")
        check_bf16_file(t, path, out)
        for row in variant(report, "bf16")["fidelity"]:
            t.check(row["sqnr_db"] >= 15, f"{row}")


@case("reference functions take at most 2 % of the time of every model", needs_shared=True, needs=PEERS)
def _(t):
    import numpy
    models = sorted(p for p in shared("models").glob("*/*") if p.suffix in (".onnx", ".pb"))
    t.check(len(models) >= 20, f"{len(models)} models")
    for path in models:
        feed = {}
        if path.suffix == ".onnx":
            feed = random_feed(path)
        elif path.parent.name == "rnn":
            feed = {"X": numpy.ones((2, 784), numpy.float32), "keep_prob": numpy.float32(1)}
        elif path.parent.name == "superres":
            feed = {"IteratorGetNext": next(npz_cases(f"superres/{path.stem}"))[0]}
        numpy.savez(t.folder / "x.npz", **feed)
        samples = ["--eval", t.folder / "x.npz"] if feed else []
        run = t.halftone("bench", path, *samples, "--rounds", "3", "--round-seconds", "0.05", "--allow-noisy", "--json", "--quiet")
        t.check(run.returncode == 0, f"{path.name}: {run.stderr[-500:]}")
        for variant in json.loads(run.stdout)["variants"]:
            t.check(variant["reference_share"] <= 0.02, f"{path.name}: {variant['reference_share']} by {variant['reference_nodes']}")


main()
