#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trained networks of the shared folder in int8, through the command line: calibrated on some samples, evaluated on others, and the same file in
ONNX Runtime."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import Failure, case, main, shared, variant  # noqa: E402

INT8 = ("--precision", "int8", "--no-bench")
MOST_POINTS_LOST = 0.2  # of accuracy on digits
MOST_OTHER_CLASSES = 1  # of 100 images: our engine and ONNX Runtime, the same file


def samples(t, file, *arguments):
    path = t.folder / file
    run = subprocess.run([sys.executable, shared("make_npz.py"), arguments[0], path, *map(str, arguments[1:])], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(run.stderr)
    return path


@case("mnist_cnn on 5000 digits that it was not calibrated with", needs_shared=True, needs=("numpy",))
def _(t):
    digits = ("mnist", "--input", "Input3", "--shape", "1,28,28", "--scale", "1")
    calibration = samples(t, "calibration.npz", *digits, "--first", "500")
    judged = samples(t, "judged.npz", *digits, "--skip", "5000", "--first", "5000")
    report, _ = t.optimize(shared("models", "mnist", "mnist_cnn.onnx"), *INT8, "--calibration", calibration, "--eval", judged)
    fp32, int8 = variant(report, "fp32"), variant(report, "int8")
    t.equal((report["calibration"]["samples"], int8["labelled_samples"]), (500, 5000))
    lost = 100 * (fp32["top1_accuracy"] - int8["top1_accuracy"])
    print(f"     {100 * int8['top1_accuracy']:.2f} % right, {lost:.2f} points fewer than fp32", flush=True)
    t.check(fp32["top1_accuracy"] > 0.99, f"fp32 has {fp32['top1_accuracy']}")
    t.check(lost <= MOST_POINTS_LOST + 1e-9, f"{lost} points lost")
    t.check(int8["int8_share"] > 0.9, f"{int8['int8_share']} of the MACs are int8")


def their_classes(path, name, images):
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    return [int(session.run(None, {name: image[None]})[0].argmax()) for image in images]


def our_classes(t, path, name, images):
    import numpy
    out, classes = t.folder / "answers", []
    with t.server() as server:
        for image in images:
            numpy.save(t.folder / "image.npy", image[None])
            feed = ("--input", f"{name}={t.folder / 'image.npy'}")
            run = t.halftone("run", path, "--fuse", *feed, "--out", out, "--quiet", "--server", server.address)
            t.equal(run.returncode, 0, run.stderr)
            classes.append(int(numpy.load(run.stdout.split()[0]).argmax()))
    return classes


@case("squeezenet: ONNX Runtime finds the same classes as we do, from the same file", needs_shared=True, needs=("numpy", "PIL", "onnxruntime"))
def _(t):
    import numpy
    images = ("squeezenet", "--input", "data_0")
    calibration = samples(t, "calibration.npz", *images, "--set", "images_calibration")
    judged = samples(t, "judged.npz", *images)
    model = shared("models", "imagenet", "squeezenet_fp32_from_fp16.onnx")
    report, out = t.optimize(model, *INT8, "--calibration", calibration, "--eval", judged)
    int8 = variant(report, "int8")
    lost = variant(report, "fp32")["top1_accuracy"] - int8["top1_accuracy"]
    t.check(int8["labelled_samples"] == 100 and lost <= 0.01 + 1e-9, f"{lost} lost on {int8['labelled_samples']} images")
    file, pictures = out / "squeezenet_fp32_from_fp16.int8.onnx", numpy.load(judged)["data_0"]
    t.check(file.stat().st_size < 0.3 * model.stat().st_size, f"{file.stat().st_size} bytes")
    theirs, ours = their_classes(file, "data_0", pictures), our_classes(t, file, "data_0", pictures)
    others = sum(a != b for a, b in zip(theirs, ours, strict=True))
    print(f"     {others} of {len(ours)} images have another class in ONNX Runtime", flush=True)
    t.check(others <= MOST_OTHER_CLASSES, f"{others} images have another class in ONNX Runtime")


main()
