#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LSTM and GRU in int8, through the command line: the hidden state between two steps is int8, too; in the file the initial state has its
scale."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import case, main, variant  # noqa: E402
from two_runtimes import agree, ours, write_model  # noqa: E402

INT8 = ("--precision", "int8", "--no-bench")
LEAST_DECIBELS = 25
ROUNDED_STATES = 0.05  # ONNX Runtime runs the same file with f32 states

# An LSTM, then a GRU.
BODY = """y0, h0, c0 = LSTM<hidden_size=32>(x, w0, r0, b0) s = Squeeze(y0, one)
          y1, h1 = GRU<hidden_size=24, linear_before_reset=1>(s, w1, r1, b1) y = Squeeze(y1, one)"""
SHAPES = {"w0": (1, 128, 20), "r0": (1, 128, 32), "b0": (1, 256), "w1": (1, 72, 32), "r1": (1, 72, 24), "b1": (1, 144)}


def two_layers(t, batch):
    import numpy
    random = numpy.random.default_rng(8)
    consts = {name: (random.standard_normal(shape) / 6).astype(numpy.float32) for name, shape in SHAPES.items()}
    path = write_model(t, "layers", f"(float[11,{batch},20] x) => (float[11,{batch},24] y)", consts, f"one = Constant<value_ints=[1]>() {BODY}")
    samples = t.folder / "samples.npz"  # where the model's batch is dynamic, that of the arrays counts
    numpy.savez(samples, x=(random.random((22, 3, 20)) * 2 - 1).astype(numpy.float32))
    return path, samples, (random.random((11, 3, 20)) * 2 - 1).astype(numpy.float32)


@case("both layers become int8, with a reason; ONNX Runtime loads the file and gives the same outputs", needs=("numpy", "onnxruntime"))
def _(t):
    import numpy
    for batch in (3, "N"):
        path, samples, x = two_layers(t, batch)
        report, out = t.optimize(path, *INT8, "--calibration", samples)
        int8 = variant(report, "int8")
        layers = {d["op"]: d for d in int8["decisions"] if d["op"] in ("lstm", "gru")}
        t.equal({op: (d["precision"], d["rule"]) for op, d in layers.items()}, dict.fromkeys(("lstm", "gru"), ("int8", "int8.recurrent")))
        t.contains(layers["lstm"]["reason"], "recurrent weights")
        t.check(int8["int8_share"] > 0.99, f"{int8['int8_share']} of the MACs are int8")
        sqnr = int8["fidelity"][0]["sqnr_db"]
        t.check(LEAST_DECIBELS <= sqnr < 90, f"{sqnr} dB")
        steps = [n for n in int8["nodes"] if n["op"] in ("lstm", "gru")]
        t.check(steps and all(n["kernel"].startswith("steps+") for n in steps), f"{steps}")
        file = out / "layers.int8.onnx"
        t.check(agree(t, file, x, within=ROUNDED_STATES) >= {"LSTM", "GRU"}, "ONNX Runtime ran something else")
        unlike = numpy.abs(ours(t, file, x) - ours(t, out / "layers.fp32.onnx", x)).max()
        t.check(0 < unlike < 0.1, f"int8 and fp32 differ by {unlike}")


@case("a layer with an unbounded state stays fp32, with a reason", needs=("numpy",))
def _(t):
    import numpy
    consts = {"w": numpy.full((1, 4, 3), 0.1, numpy.float32), "r": numpy.full((1, 4, 4), 0.1, numpy.float32)}
    path = write_model(t, "relu", "(float[5,2,3] x) => (float[5,1,2,4] y)", consts, 'y = RNN<hidden_size=4, activations=["Relu"]>(x, w, r)')
    report, _ = t.optimize(path, *INT8)
    layer = next(d for d in variant(report, "int8")["decisions"] if d["op"] == "rnn")
    t.equal(layer["precision"], "fp32")
    t.contains(layer["reason"], "do not bound the state")


main()
