# SPDX-License-Identifier: Apache-2.0
"""Real samples for the models of zoo.py, as .npz files: arrays by the names of the inputs, samples along the first axis, "labels".

Each function takes the folder to write into, the model's inputs as `halftone inspect --json` says them, and the arguments of the
model's row; it writes samples.npz.
"""

import sys
import wave

import numpy

from programs import BenchError, run
from zoo import shared

PHOTOGRAPHS = 20  # of the 100 images, for models without labels
SEED = 11


def save(folder, arrays):
    numpy.savez(folder / "samples.npz", **arrays)


def only(inputs):
    if len(inputs) != 1:
        raise BenchError(f"one input is expected, not {[i['name'] for i in inputs]}")
    return inputs[0]["name"]


def make_npz(folder, *arguments):
    run([sys.executable, shared("make_npz.py"), arguments[0], folder / "samples.npz", *arguments[1:]], f"make_npz.py {arguments[0]}")


def imagenet(folder, inputs, net, layout, name):
    make_npz(folder, net, "--layout", layout, "--input", name or only(inputs))


def digits(folder, inputs, name, shape, scale, first, more):
    """`more`: inputs that are one number."""
    make_npz(folder, "mnist", "--input", name or only(inputs), "--shape", shape, "--scale", scale, "--first", first)
    if more:
        arrays = dict(numpy.load(folder / "samples.npz"))
        save(folder, {**arrays, **{key: numpy.float32(value) for key, value in more}})


def clips(folder, inputs, net):
    """The four clips, labelled by the outputs that came with them."""
    arrays = numpy.load(shared("models", "audio", "io.npz"))
    keys = sorted(key for key in arrays if key.startswith(f"{net}_mfcc__in__"))
    x = numpy.concatenate([arrays[key] for key in keys])
    labels = numpy.array([arrays[key.replace("__in__", "__out__")].argmax() for key in keys], numpy.int64)
    save(folder, {only(inputs): x, "labels": labels})


def npz(folder, inputs, file, prefix):
    """Arrays of a file beside the model, under their names behind `prefix`."""
    arrays = numpy.load(shared("models", file))
    save(folder, {i["name"]: arrays[prefix + i["name"]] for i in inputs})


def image_files():
    return sorted(shared("images").glob("*.JPEG"))[:PHOTOGRAPHS]


def photographs(folder, inputs, height, width, order, mean, scale):
    """Whole images, stretched, channels first."""
    from PIL import Image
    pictures = [numpy.asarray(Image.open(file).convert("RGB").resize((width, height), Image.BILINEAR), numpy.float32) for file in image_files()]
    x = (numpy.stack(pictures) - numpy.float32(mean)) / numpy.float32(scale)
    x = x[..., ::-1] if order == "BGR" else x
    save(folder, {only(inputs): numpy.ascontiguousarray(x.transpose(0, 3, 1, 2))})


def luminance(folder, inputs, size):
    from PIL import Image
    pictures = [numpy.asarray(Image.open(file).convert("L").resize((size, size), Image.BILINEAR), numpy.float32) for file in image_files()]
    save(folder, {only(inputs): numpy.stack(pictures)[:, None] / numpy.float32(255)})


TEXT = ("The splitter reads bytes and says after which of them a sentence ends. It was trained on English. Punctuation helps it but it can do "
        "without there are three layers of memory in it. Each of them reads what the one below has written! Does it notice questions? One would "
        "think so. A model that was trained in 32 bits should not care much when the last digits of its numbers are rounded off; whether that is "
        "true is what this text is here to find out. Abbreviations, e.g. this one, are hard. So are names like Dr. Smith. The end of the text comes "
        "without a full stop")


def sentences(folder, inputs, length):
    data = numpy.frombuffer(TEXT.encode(), numpy.uint8)
    rows = len(data) // length
    save(folder, {only(inputs): data[:rows * length].reshape(rows, length)})


def speech():
    """The clips one after another, in -1..1, 16 000 a second."""
    parts = []
    for path in sorted(shared("speech_yesno").glob("*.wav")):
        with wave.open(str(path)) as file:
            parts.append(numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16).astype(numpy.float32) / 32768)
    return numpy.concatenate(parts)


def spectra(folder, inputs):
    """Frames of 512 with half of it overlapping, one a run; the states that a run reads are small random numbers, as a run in the middle of
    speech finds them."""
    signal, window = speech(), numpy.sqrt(numpy.hanning(512)).astype(numpy.float32)
    frames = numpy.stack([signal[i:i + 512] * window for i in range(0, len(signal) - 512, 256)])
    frames = frames[numpy.square(frames).mean(1) > 1e-5][:PHOTOGRAPHS]
    spectrum = numpy.fft.rfft(frames)
    random = numpy.random.default_rng(SEED)
    arrays = {}
    for i in inputs:
        dims = [int(word) for word in i["shape"].strip("[]").split(",")]
        if dims == [1, 257, 1, 2]:
            arrays[i["name"]] = numpy.stack([spectrum.real, spectrum.imag], -1).astype(numpy.float32)[:, :, None]
        else:
            arrays[i["name"]] = random.normal(0, 0.1, dims).astype(numpy.float32)
    save(folder, arrays)


def random(folder, inputs):
    """No file: the job takes random numbers."""


MAKERS = {f.__name__: f for f in (imagenet, digits, clips, npz, photographs, luminance, sentences, spectra, random)}
