#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's own quantizer on one model, in a process of its own.

usage: onnxruntime_quantize.py MODEL.onnx SAMPLES.npz OUT.onnx --quant-format qdq|qoperator|dynamic [--activations u8|s8]
                               [--method minmax|entropy|percentile]

The model is preprocessed as the quantizer's documentation recommends. Weights are s8, per channel; all other settings are defaults. Samples
are fed in batches of the model's fixed batch size, else one by one. "dynamic" reads no samples.
"""
import argparse
import logging
import os
import pathlib
import sys
import tempfile
import types

import numpy
import onnx
import onnx.version_converter

LEAST_OPSET = 13  # the first with per-channel QuantizeLinear and DequantizeLinear


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--quant-format", choices=["qdq", "qoperator", "dynamic"], default="qdq")
    parser.add_argument("--activations", choices=["u8", "s8"], default="u8")
    parser.add_argument("--method", choices=["minmax", "entropy", "percentile"], default="minmax")
    return parser.parse_args()


def with_opset(path, folder):
    """The model in an opset that the quantizer supports. Runs before onnxruntime is imported, whose schemas clash with onnx's."""
    model = onnx.load(path)
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    if opset >= LEAST_OPSET:
        return path
    weights = {w.name for w in model.graph.initializer}
    # The converter requires weights to be graph inputs in files of old IR versions, and not in newer ones.
    model = onnx.version_converter.convert_version(model, LEAST_OPSET)
    for i in [i for i in model.graph.input if i.name in weights]:
        model.graph.input.remove(i)
    converted = folder / "converted.onnx"
    onnx.save(model, converted)
    return converted


def first_dims(path):
    """{input: size of its first dimension, 0: dynamic}"""
    graph = onnx.load(path, load_external_data=False).graph
    weights = {w.name for w in graph.initializer}
    return {i.name: next((d.dim_value for d in i.type.tensor_type.shape.dim), 0) for i in graph.input if i.name not in weights}


def batches(path, samples):
    """The feeds, each with the batch size of the model."""
    arrays = dict(numpy.load(samples))  # each look into an open .npz reads the file again
    sizes = {name: size or 1 for name, size in first_dims(path).items()}
    count = min(len(arrays[name]) // size for name, size in sizes.items())
    return [{name: arrays[name][i * size:(i + 1) * size] for name, size in sizes.items()} for i in range(count)]


def import_quantizer():
    """onnx.reference registers schemas once more, which fails; the quantizer needs it for float8 only."""
    stub = types.ModuleType("onnx.reference")
    stub.ReferenceEvaluator = None
    sys.modules["onnx.reference"] = stub
    import onnxruntime.quantization
    import onnxruntime.quantization.shape_inference
    return onnxruntime.quantization


def quantize(options, folder):
    source = with_opset(options.model, folder)
    quantization = import_quantizer()
    prepared = folder / "prepared.onnx"
    quantization.shape_inference.quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    s8 = quantization.QuantType.QInt8
    if options.quant_format == "dynamic":
        quantization.quantize_dynamic(str(prepared), str(options.out), per_channel=True, weight_type=s8)
        return

    class Reader(quantization.CalibrationDataReader):
        feeds = iter(batches(options.model, options.samples))

        def get_next(self):
            return next(self.feeds, None)
    methods = {"minmax": "MinMax", "entropy": "Entropy", "percentile": "Percentile"}
    quantization.quantize_static(
        str(prepared), str(options.out), Reader(), per_channel=True, weight_type=s8,
        quant_format=quantization.QuantFormat.QDQ if options.quant_format == "qdq" else quantization.QuantFormat.QOperator,
        activation_type=quantization.QuantType.QUInt8 if options.activations == "u8" else s8,
        calibrate_method=getattr(quantization.CalibrationMethod, methods[options.method]))


def main():
    options = parse()
    logging.disable(logging.WARNING)
    # ONNX prints a line per schema that is registered twice: hundreds of lines.
    kept = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        with tempfile.TemporaryDirectory(prefix="onnxruntime-quantize-") as folder:
            quantize(options, pathlib.Path(folder))
    finally:
        os.dup2(kept, 2)


if __name__ == "__main__":
    main()
