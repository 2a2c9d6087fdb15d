#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""INT8 between ONNX Runtime and us. Files that its quantizer wrote, in operators of integers (QLinearConv and its like) and in pairs:
`halftone run` reads them and gives the classes that ONNX Runtime gives. Files of --target-runtime onnxruntime: it computes them with integers."""

import importlib.util
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "support"))
from harness import DEMO, Failure, Skip, case, main, shared  # noqa: E402
from two_runtimes import has_vnni  # noqa: E402
from wire import fields  # noqa: E402

PEERS = ("numpy", "onnxruntime")
BENCH = HERE.parents[2] / "bench"
CALIBRATED = 20  # samples
FORMS = ("qoperator", "qdq")
REAL_KERNELS = {"Conv", "FusedConv", "MatMul", "FusedMatMul", "MatMulIntegerToFloat", "Gemm", "FusedGemm"}


def nodes_of(path):
    graph = {number: value for number, _, value in fields(path.read_bytes())}[7]
    return [dict((n, v) for n, _, v in fields(node))[4].decode() for number, _, node in fields(graph) if number == 1]


def peer(script, *arguments):
    run = subprocess.run([sys.executable, BENCH / script, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{script}: {run.stderr[-2000:]}")
    return run.stdout


def first(t, arrays, name, count):
    """The first samples, without their labels."""
    import numpy
    path = t.folder / name
    numpy.savez(path, **{key: value[:count] for key, value in arrays.items() if key != "labels"})
    return path


def our_classes(t, path, name, samples):
    import numpy
    classes = []
    with t.server() as server:
        for sample in samples:
            numpy.save(t.folder / "sample.npy", sample[None])
            run = t.halftone("run", path, "--fuse", "--input", f"{name}={t.folder / 'sample.npy'}", "--out", t.folder / "answers", "--quiet",
                             "--server", server.address)
            t.equal(run.returncode, 0, run.stderr)
            classes.append(int(numpy.load(run.stdout.split()[0]).argmax()))
    return classes


def check(t, model, name, arrays, judged, wanted, most_others, forms=FORMS):
    """`arrays`: calibration; `judged`: the samples that are run, without batch."""
    import numpy
    if importlib.util.find_spec("onnx") is None:  # not imported: it does not share a process with ONNX Runtime
        raise Skip("no Python module onnx")
    calibration = first(t, arrays, "calibration.npz", CALIBRATED)
    samples = t.folder / "judged.npz"
    numpy.savez(samples, **{name: judged})
    for form in forms:
        file = t.folder / f"{pathlib.Path(model).stem}.{form}.onnx"
        peer("onnxruntime_quantize.py", model, calibration, file, "--quant-format", form)
        if form == "qoperator":
            t.check(wanted <= set(nodes_of(file)), f"{sorted(wanted)} wanted, the file has {sorted(set(nodes_of(file)))}")
        theirs = json.loads(peer("onnxruntime_outputs.py", file, samples))["classes"]
        ours = our_classes(t, file, name, judged)
        others = sum(a != b for a, b in zip(theirs, ours, strict=True))
        print(f"     {form}: {others} of {len(ours)} samples have another class", flush=True)
        # Without VNNI ONNX Runtime's sums of two products saturate at 16 bits, and such files have weights of 8 bits.
        t.check(others <= most_others or not has_vnni(), f"{form}: {others} of {len(ours)} samples have another class")


def ran_by_onnx_runtime(t, model, calibration, samples, *flags):
    """The operators that ONNX Runtime ran of the file that we made for it."""
    _, out = t.optimize(model, "--precision", "int8", "--no-bench", "--target-runtime", "onnxruntime", "--calibration", calibration, "--eval", samples,
                        *flags)
    file = out / f"{pathlib.Path(model).stem}.int8.onnx"
    return {op.removeprefix("Nhwc") for op in json.loads(peer("onnxruntime_outputs.py", file, samples))["nodes"]}


@case("the digits' network for ONNX Runtime: integers to its outputs, but for what the policy keeps", needs=PEERS)
def _(t):
    digits = DEMO / "digits_nchw.npz"
    ran = ran_by_onnx_runtime(t, DEMO / "digits.onnx", digits, digits)
    t.check({"QLinearConv", "QLinearAdd"} <= ran and not REAL_KERNELS & ran, f"ONNX Runtime ran {sorted(ran)}")
    ran = ran_by_onnx_runtime(t, DEMO / "digits.onnx", digits, digits, "--keep-last")
    t.check(REAL_KERNELS & ran, f"ONNX Runtime ran {sorted(ran)}")


@case("the demo's residual network for digits", needs=PEERS)
def _(t):
    import numpy
    arrays = dict(numpy.load(DEMO / "digits_nchw.npz"))
    (name,) = set(arrays) - {"labels"}
    check(t, DEMO / "digits.onnx", name, arrays, arrays[name][100:130], {"QLinearConv", "QLinearAdd"}, 1)


# Model, input, operators, how many of 20 images may have another class (a number that lies between two steps is rounded either way), and the
# forms: ONNX Runtime does not load the operators that its quantizer makes of mobilenet_v2, whose output it declares as real numbers.
NETS = {
    "squeezenet": ("imagenet/squeezenet_fp32_from_fp16.onnx", "data_0", {"QLinearConv", "QLinearConcat"}, 1, FORMS),
    "tiny_darknet": ("imagenet/tiny_darknet_imagenet.onnx", "image", {"QLinearConv", "QLinearLeakyRelu"}, 1, FORMS),
    "mobilenet_v2": ("imagenet/mobilenet_v2_fp32_dequantized.onnx", "input", {"QLinearConv", "QLinearAdd"}, 2, ("qdq",)),
}


def images(t, net, name):
    """Two files: to calibrate with, and 20 others."""
    import numpy
    paths = []
    for flags in (("--set", "images_calibration"), ()):
        out = t.folder / f"images{len(flags)}.npz"
        subprocess.run([sys.executable, shared("make_npz.py"), net, out, "--input", name, *flags], check=True, capture_output=True)
        paths.append(out)
    judged = numpy.load(paths[1])
    numpy.savez(paths[1], **{key: judged[key][:20] for key in judged})
    return paths


for _net, (_path, _input, _wanted, _others, _forms) in NETS.items():

    @case(f"{_net}, 20 images", needs_shared=True, needs=PEERS + ("PIL",))
    def _(t, net=_net, path=_path, name=_input, wanted=_wanted, others=_others, forms=_forms):
        import numpy
        calibration, judged = images(t, net, name)
        check(t, shared("models", *path.split("/")), name, dict(numpy.load(calibration)), numpy.load(judged)[name], wanted, others, forms)

    @case(f"{_net} for ONNX Runtime: integers all through", needs_shared=True, needs=PEERS + ("PIL",))
    def _(t, net=_net, path=_path, name=_input, wanted=_wanted):
        ran = ran_by_onnx_runtime(t, shared("models", *path.split("/")), *images(t, net, name))
        t.check(wanted <= ran and not REAL_KERNELS & ran, f"ONNX Runtime ran {sorted(ran)}")


main()
