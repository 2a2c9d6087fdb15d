# SPDX-License-Identifier: Apache-2.0
"""Writes cases.txt: outputs of ONNX Runtime for single nodes at odd sizes, for tests of shape rules and reference functions.

Run: python3 make_cases.py   (needs onnx, onnxruntime and numpy; the result is checked in)

Each case is a graph in the text form and checksums of its outputs. No tensors are stored: cases_test.cc computes inputs by the same
formula. ONNX Runtime computes cases in NHWC as NCHW, with transposed inputs and output.
"""

import os
import subprocess
import sys
import tempfile

# (name, body of the graph in text form, ONNX op, attributes, inputs, constant inputs by position, options)
# An input is (name, type, dims, fill); fill: "signed", "positive" or a number m for integers below m.
F = "f32"


def x(*dims, fill="signed", name="x"):
    return (name, F, list(dims), fill)


def w(*dims, name="w"):
    return (name, F, list(dims), "signed")


def b(*dims, name="b"):
    return (name, F, list(dims), "signed")


def i64(values, scalar=False):
    return ("s64", values, scalar)


def f32(values, scalar=False):
    return ("f32", values, scalar)


def conv(name, xd, wd, text, attrs, bias=True, **options):
    inputs = [x(*xd), w(*wd)] + ([b(options.get("outputs", wd[0]))] if bias else [])
    args = "x, w, b" if bias else "x, w"
    return (name, f"y = conv({args}) {text}", "Conv", attrs, inputs, {}, options)


def pool(name, op, onnx_op, xd, text, attrs, **options):
    return (name, f"y = {op}(x) {text}", onnx_op, attrs, [x(*xd)], {}, options)


def unary(op, onnx_op, attrs=None, fill="signed", text=""):
    return (op, f"y = {op}(x) {text}", onnx_op, attrs or {}, [x(3, 67, fill=fill)], {}, {})


def binary(op, onnx_op, fill="signed"):
    return (op, f"y = {op}(x, z)", onnx_op, {}, [x(2, 3, 5, fill=fill), x(3, 1, name="z", fill=fill)], {}, {})


def resize(name, xd, text, attrs, consts, call):
    return (name, f"y = resize({call}) {text}", "Resize", attrs, [x(*xd)], consts, {})


def cases():
    yield conv("conv 1d", [2, 3, 11], [4, 3, 3], "{strides=[2], pads=[1, 0]}", dict(strides=[2], pads=[1, 0]))
    yield conv("conv 2d", [2, 3, 9, 7], [4, 3, 3, 2], "{strides=[2, 1], pads=[1, 0, 2, 1]}", dict(strides=[2, 1], pads=[1, 0, 2, 1]))
    yield conv("conv 2d without bias, dilated", [1, 2, 11, 8], [3, 2, 2, 3], "{dilations=[3, 2]}", dict(dilations=[3, 2]), bias=False)
    yield conv("conv 2d grouped", [2, 6, 5, 7], [4, 3, 3, 3], "{group=2, pads=[1, 1, 1, 1]}", dict(group=2, pads=[1, 1, 1, 1]))
    yield conv("conv 2d depthwise", [1, 5, 6, 7], [10, 1, 3, 2], "{group=5}", dict(group=5))
    yield conv("conv 3d", [1, 2, 4, 5, 6], [3, 2, 2, 3, 1], "{pads=[1, 0, 1, 0, 1, 0]}", dict(pads=[1, 0, 1, 0, 1, 0]))
    yield conv("conv same upper", [1, 2, 8, 7], [3, 2, 3, 4], '{auto_pad="SAME_UPPER", strides=[2, 3]}', dict(auto_pad="SAME_UPPER", strides=[2, 3]))
    yield conv("conv same lower", [1, 2, 8, 7], [3, 2, 4, 2], '{auto_pad="SAME_LOWER", strides=[2, 1]}', dict(auto_pad="SAME_LOWER", strides=[2, 1]))
    yield conv("conv valid", [1, 2, 8, 7], [3, 2, 3, 4], '{auto_pad="VALID", strides=[3, 2]}', dict(auto_pad="VALID", strides=[3, 2]))
    yield conv("conv NHWC HWIO", [2, 9, 7, 3], [3, 2, 3, 4], '{layout="NHWC", weights_layout="HWIO", strides=[2, 1], pads=[1, 0, 2, 1]}',
               dict(strides=[2, 1], pads=[1, 0, 2, 1]), nhwc=True, weights="HWIO", outputs=4)
    yield conv("conv NHWC HWIO grouped", [1, 6, 5, 6], [3, 2, 3, 4], '{layout="NHWC", weights_layout="HWIO", group=2}',
               dict(group=2), nhwc=True, weights="HWIO", outputs=4)
    yield conv("conv NHWC HWCM", [1, 7, 6, 5], [3, 2, 5, 2], '{layout="NHWC", weights_layout="HWCM", group=5, auto_pad="SAME_UPPER", strides=[2, 2]}',
               dict(group=5, auto_pad="SAME_UPPER", strides=[2, 2]), nhwc=True, weights="HWCM", outputs=10)
    yield ("matmul batched", "y = matmul(x, z)", "MatMul", {}, [x(2, 1, 3, 5), x(4, 5, 7, name="z")], {}, {})
    yield ("matmul vector", "y = matmul(x, z)", "MatMul", {}, [x(5), x(3, 5, 2, name="z")], {}, {})
    yield ("gemm", "y = gemm(x, z, c) {alpha=0.5, beta=2.0, transpose_a=true, transpose_b=true}", "Gemm",
           dict(alpha=0.5, beta=2.0, transA=1, transB=1), [x(5, 3), x(7, 5, name="z"), x(3, 1, name="c")], {}, {})

    yield pool("max_pool", "max_pool", "MaxPool", [2, 3, 9, 8], "{kernel=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1]}",
               dict(kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1]))
    yield pool("max_pool ceil", "max_pool", "MaxPool", [1, 2, 8, 10], "{kernel=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=true}",
               dict(kernel_shape=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1))
    yield pool("max_pool ceil, last window starts in the padding", "max_pool", "MaxPool", [1, 1, 5, 5], "{kernel=[2, 2], strides=[3, 4], pads=[0, 0, 1, 1], ceil_mode=true}",
               dict(kernel_shape=[2, 2], strides=[3, 4], pads=[0, 0, 1, 1], ceil_mode=1))
    yield pool("max_pool dilated", "max_pool", "MaxPool", [1, 2, 9, 10], "{kernel=[3, 2], dilations=[2, 3]}",
               dict(kernel_shape=[3, 2], dilations=[2, 3]))
    yield pool("max_pool 1d same", "max_pool", "MaxPool", [2, 2, 9], '{kernel=[4], strides=[2], auto_pad="SAME_LOWER"}',
               dict(kernel_shape=[4], strides=[2], auto_pad="SAME_LOWER"))
    yield pool("max_pool 3d", "max_pool", "MaxPool", [1, 2, 4, 5, 6], "{kernel=[2, 3, 2], strides=[1, 2, 2]}",
               dict(kernel_shape=[2, 3, 2], strides=[1, 2, 2]))
    yield pool("max_pool NHWC", "max_pool", "MaxPool", [1, 8, 7, 3], '{kernel=[3, 2], strides=[2, 2], layout="NHWC", auto_pad="SAME_UPPER"}',
               dict(kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"), nhwc=True)
    yield ("max_pool with indices", "y, i = max_pool(x) {kernel=[2, 3], strides=[2, 1], pads=[1, 1, 0, 0]}", "MaxPool",
           dict(kernel_shape=[2, 3], strides=[2, 1], pads=[1, 1, 0, 0]), [x(2, 3, 5, 6)], {}, dict(outputs_named=["y", "i"]))
    for include in (0, 1):
        flag = ["false", "true"][include]
        yield pool(f"average_pool include pad {flag}", "average_pool", "AveragePool", [2, 2, 8, 7],
                   "{kernel=[3, 3], strides=[2, 2], pads=[1, 1, 0, 2], count_include_pad=%s}" % flag,
                   dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 2], count_include_pad=include))
        yield pool(f"average_pool ceil include pad {flag}", "average_pool", "AveragePool", [1, 2, 6, 8],
                   "{kernel=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=true, count_include_pad=%s}" % flag,
                   dict(kernel_shape=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=include), opset=19)
    yield pool("average_pool NHWC same", "average_pool", "AveragePool", [1, 7, 8, 3], '{kernel=[3, 3], strides=[2, 2], layout="NHWC", auto_pad="SAME_UPPER"}',
               dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), nhwc=True)
    yield pool("global_average_pool", "global_average_pool", "GlobalAveragePool", [2, 3, 5, 7], "", {})
    yield pool("global_average_pool NHWC", "global_average_pool", "GlobalAveragePool", [2, 5, 7, 3], '{layout="NHWC"}', {}, nhwc=True)

    yield ("batch_norm", "y = batch_norm(x, s, b, m, v) {epsilon=0.01}", "BatchNormalization", dict(epsilon=0.01),
           [x(2, 5, 3, 4), x(5, name="s"), x(5, name="b"), x(5, name="m"), x(5, name="v", fill="positive")], {}, {})
    yield ("batch_norm NHWC", 'y = batch_norm(x, s, b, m, v) {layout="NHWC"}', "BatchNormalization", {},
           [x(2, 3, 4, 5), x(5, name="s"), x(5, name="b"), x(5, name="m"), x(5, name="v", fill="positive")], {}, dict(nhwc=True))
    yield ("batch_norm training", "y, mean, variance = batch_norm(x, s, b, m, v) {is_training=true, momentum=0.75}", "BatchNormalization",
           dict(training_mode=1, momentum=0.75),
           [x(2, 5, 3, 4), x(5, name="s"), x(5, name="b"), x(5, name="m"), x(5, name="v", fill="positive")], {},
           dict(outputs_named=["y", "mean", "variance"]))
    yield ("softmax", "y = softmax(x)", "Softmax", {}, [x(3, 4, 5)], {}, {})
    yield ("softmax axis 1", "y = softmax(x) {axis=1}", "Softmax", dict(axis=1), [x(3, 4, 5)], {}, {})
    yield ("softmax flattened", "y = softmax(x) {axis=1, flatten=true}", "Softmax", dict(axis=1), [x(3, 4, 5)], {}, dict(opset=11))

    for op, onnx_op in [("abs", "Abs"), ("neg", "Neg"), ("exp", "Exp"), ("floor", "Floor"), ("erf", "Erf"), ("relu", "Relu"),
                        ("tanh", "Tanh"), ("sigmoid", "Sigmoid"), ("softplus", "Softplus"), ("elu", "Elu"), ("leaky_relu", "LeakyRelu"),
                        ("reciprocal", "Reciprocal")]:
        yield unary(op, onnx_op, fill="positive" if op == "reciprocal" else "signed")
    yield unary("log", "Log", fill="positive")
    yield unary("sqrt", "Sqrt", fill="positive")
    yield ("elu alpha", "y = elu(x) {alpha=0.5}", "Elu", dict(alpha=0.5), [x(3, 67)], {}, {})
    yield ("leaky_relu alpha", "y = leaky_relu(x) {alpha=0.25}", "LeakyRelu", dict(alpha=0.25), [x(3, 67)], {}, {})
    yield ("clip", "y = clip(x, -0.5:f32, 1.0:f32)", "Clip", {}, [x(3, 67)], {1: f32([-0.5], True), 2: f32([1.0], True)}, {})
    yield ("clip high only", "y = clip(x, _, 0.25:f32)", "Clip", {}, [x(3, 67)], {1: None, 2: f32([0.25], True)}, {})
    for op, onnx_op in [("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("maximum", "Max"), ("minimum", "Min")]:
        yield binary(op, onnx_op)
    yield binary("div", "Div", fill="positive")
    yield binary("pow", "Pow", fill="positive")

    for op, onnx_op in [("reduce_mean", "ReduceMean"), ("reduce_sum", "ReduceSum"), ("reduce_max", "ReduceMax")]:
        yield (op, f"y = {op}(x, [1, -1])", onnx_op, {}, [x(2, 3, 4, 5)], {1: i64([1, -1])}, {})
        yield (op + " without dims", f"y = {op}(x, [2]) {{keepdims=false}}", onnx_op, dict(keepdims=0), [x(2, 3, 4)], {1: i64([2])}, {})
        yield (op + " of all", f"y = {op}(x)", onnx_op, {}, [x(2, 3, 4)], {}, {})
    yield ("reduce_sum of nothing", "y = reduce_sum(x, ints64) {noop_with_empty_axes=true}".replace("ints64", "e"), "ReduceSum",
           dict(noop_with_empty_axes=1), [x(2, 3), ("e", "s64", [0], 2)], {}, {})

    yield ("reshape", "y = reshape(x, [0, -1, 2])", "Reshape", {}, [x(3, 4, 5)], {1: i64([0, -1, 2])}, {})
    yield ("flatten", "y = flatten(x) {axis=2}", "Flatten", dict(axis=2), [x(2, 3, 4, 5)], {}, {})
    yield ("flatten axis 0", "y = flatten(x) {axis=0}", "Flatten", dict(axis=0), [x(2, 3)], {}, {})
    yield ("transpose", "y = transpose(x, [2, 0, 3, 1])", "Transpose", dict(perm=[2, 0, 3, 1]), [x(2, 3, 4, 5)], {}, {})
    yield ("squeeze", "y = squeeze(x, [-2, 0])", "Squeeze", {}, [x(1, 3, 1, 5)], {1: i64([-2, 0])}, {})
    yield ("squeeze all", "y = squeeze(x)", "Squeeze", {}, [x(1, 3, 1, 5)], {}, {})
    yield ("unsqueeze", "y = unsqueeze(x, [-1, 1])", "Unsqueeze", {}, [x(3, 4)], {1: i64([-1, 1])}, {})
    yield ("concat", "y = concat(x, z, u, -2)", "Concat", dict(axis=-2), [x(2, 3, 4), x(2, 1, 4, name="z"), x(2, 5, 4, name="u")], {}, {})
    yield ("slice", "y = slice(x, [1, -1], [2147483647, -100], [1, 2], [2, -2])", "Slice", {}, [x(2, 6, 7)],
           {1: i64([1, -1]), 2: i64([2147483647, -100]), 3: i64([1, 2]), 4: i64([2, -2])}, {})
    yield ("slice clamped", "y = slice(x, [-9, 1], [2, -1])", "Slice", {}, [x(5, 6)], {1: i64([-9, 1]), 2: i64([2, -1])}, {})
    yield ("gather", "y = gather(x, i, 1)", "Gather", dict(axis=1), [x(2, 5, 3), ("i", "s64", [2, 4], 5)], {}, {})
    yield ("gather negative", "y = gather(x, [-1, 0, -2])", "Gather", {}, [x(4, 3)], {1: i64([-1, 0, -2])}, {})
    yield ("gather scalar", "y = gather(x, 1, -1)", "Gather", dict(axis=-1), [x(4, 3)], {1: i64([1], True)}, {})
    yield ("shape", "y = shape(x) {start=1, end=-1}", "Shape", dict(start=1, end=-1), [x(4, 3, 2, 6)], {}, {})
    yield ("cast to integers", "y: s32[3,67] = cast(x)", "Cast", dict(to=6), [x(3, 67)], {}, {})
    yield ("cast to bools", "y: bool[3,67] = cast(x)", "Cast", dict(to=9), [x(3, 67)], {}, {})
    for mode in ("constant", "reflect", "edge"):
        yield (f"pad {mode}", f'y = pad(x, [1, 2, 0, 0, 1, 3]) {{mode="{mode}"}}', "Pad", dict(mode=mode), [x(3, 4, 5)],
               {1: i64([1, 2, 0, 0, 1, 3])}, {})
    yield ("pad with a value, cutting, by axes", "y = pad(x, [2, -1, -1, 3], 1.5:f32, [-1, 1])", "Pad", {}, [x(3, 4, 5)],
           {1: i64([2, -1, -1, 3]), 2: f32([1.5], True), 3: i64([-1, 1])}, {})
    for mode in ("DCR", "CRD"):
        yield (f"depth_to_space {mode}", f'y = depth_to_space(x) {{block_size=2, mode="{mode}"}}', "DepthToSpace",
               dict(blocksize=2, mode=mode), [x(2, 12, 3, 5)], {}, {})
        yield (f"depth_to_space {mode} NHWC", f'y = depth_to_space(x) {{block_size=3, mode="{mode}", layout="NHWC"}}', "DepthToSpace",
               dict(blocksize=3, mode=mode), [x(1, 2, 3, 18)], {}, dict(nhwc=True))

    up, down = [1.0, 1.0, 2.0, 1.5], [1.0, 1.0, 0.6, 0.8]
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        for mode in ("nearest", "linear", "cubic"):
            for way, scales in (("up", up), ("down", down)):
                attrs = dict(mode=mode, coordinate_transformation_mode=coordinates)
                text = f'{{mode="{mode}", coordinate_transformation_mode="{coordinates}"}}'
                call = "x, _, [%s]:f32" % ", ".join(map(str, scales))
                yield resize(f"resize {mode} {coordinates} {way}", [1, 2, 5, 6], text, attrs, {1: None, 2: f32(scales)}, call)
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield resize(f"resize nearest {nearest}", [1, 1, 6, 7], f'{{nearest_mode="{nearest}", coordinate_transformation_mode="asymmetric"}}',
                     dict(nearest_mode=nearest, coordinate_transformation_mode="asymmetric"), {1: None, 2: None, 3: i64([1, 1, 9, 14])},
                     "x, _, _, [1, 1, 9, 14]")
    yield resize("resize cubic outside excluded", [1, 1, 5, 6], '{mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5}',
                 dict(mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5), {1: None, 2: None, 3: i64([1, 1, 8, 9])}, "x, _, _, [1, 1, 8, 9]")
    yield resize("resize crop", [1, 1, 5, 6], '{mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0}',
                 dict(mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0),
                 {1: f32([0.0, 0.0, 0.2, 0.1, 1.0, 1.0, 0.8, 1.3]), 2: None, 3: i64([1, 1, 4, 7])},
                 "x, [0.0, 0.0, 0.2, 0.1, 1.0, 1.0, 0.8, 1.3]:f32, _, [1, 1, 4, 7]")
    for policy in ("not_larger", "not_smaller"):
        yield resize(f"resize {policy}", [1, 1, 5, 8], f'{{axes=[2, 3], mode="linear", keep_aspect_ratio_policy="{policy}"}}',
                     dict(axes=[2, 3], mode="linear", keep_aspect_ratio_policy=policy), {1: None, 2: None, 3: i64([9, 11])}, "x, _, _, [9, 11]")


    yield from recurrent_cases()


def i32(values):
    return ("s32", values, False)


def recurrent(name, op, text, attrs, inputs, consts=None, args="x, w, r, b", outputs=("y", "y_h")):
    return (name, f"{', '.join(outputs)} = {op}({args}) {{{text}}}", op.upper(), attrs, inputs, consts or {}, dict(outputs_named=list(outputs)))


def recurrent_cases():
    def weights(gates, hidden=3, size=4, directions=1):
        return [x(5, 2, size), w(directions, gates * hidden, size), x(directions, gates * hidden, hidden, name="r"), b(directions, 2 * gates * hidden)]

    def states(*names, directions=1):
        return [x(directions, 2, 3, name=name) for name in names]

    lstm = ("y", "y_h", "y_c")
    yield recurrent("lstm", "lstm", "hidden_size=3", dict(hidden_size=3), weights(4), outputs=lstm)
    yield recurrent("lstm bidirectional, lengths, states, peepholes", "lstm", 'direction="bidirectional"', dict(hidden_size=3, direction="bidirectional"),
                    weights(4, directions=2) + states("h", "c", directions=2) + [x(2, 9, name="p")], {4: i32([5, 2])}, "x, w, r, b, [5, 2]:s32, h, c, p", lstm)
    yield recurrent("lstm clip and coupled gates", "lstm", "clip=0.4, input_forget=true", dict(hidden_size=3, clip=0.4, input_forget=1), weights(4), outputs=lstm)
    yield recurrent("lstm activations", "lstm", 'direction="reverse", activations=["HardSigmoid", "Affine", "ScaledTanh"], activation_alphas=[0.3, 0.5, 0.8], '
                    "activation_betas=[0.4, 0.1, 0.6]", dict(hidden_size=3, direction="reverse", activations=["HardSigmoid", "Affine", "ScaledTanh"],
                                                              activation_alpha=[0.3, 0.5, 0.8], activation_beta=[0.4, 0.1, 0.6]), weights(4), outputs=lstm)
    yield recurrent("lstm defaults of activations", "lstm", 'activations=["LeakyRelu", "Softsign", "Elu"]',
                    dict(hidden_size=3, activations=["LeakyRelu", "Softsign", "Elu"]), weights(4), outputs=lstm)
    yield recurrent("gru", "gru", "", dict(hidden_size=3), weights(3))
    yield recurrent("gru linear before reset, reverse, lengths", "gru", 'linear_before_reset=true, direction="reverse"',
                    dict(hidden_size=3, linear_before_reset=1, direction="reverse"), weights(3) + states("h"), {4: i32([3, 5])}, "x, w, r, b, [3, 5]:s32, h")
    yield recurrent("gru clip", "gru", "clip=0.5, linear_before_reset=true", dict(hidden_size=3, clip=0.5, linear_before_reset=1), weights(3))
    yield recurrent("gru activations", "gru", 'activations=["Sigmoid", "Softplus"]', dict(hidden_size=3, activations=["Sigmoid", "Softplus"]), weights(3))
    yield recurrent("rnn both ways", "rnn", 'direction="bidirectional", activations=["Relu", "Tanh"], clip=0.9',
                    dict(hidden_size=3, direction="bidirectional", activations=["Relu", "Tanh"], clip=0.9), weights(1, directions=2))
    for equation, dims in [("ij,jk->ki", [(3, 5), (5, 7)]), ("...ii->...i", [(2, 4, 4)]), ("bij, bkj", [(2, 3, 5), (2, 4, 5)]), ("i,i", [(5,), (5,)]),
                           ("...ij,...jk->...ik", [(2, 4, 3, 5), (2, 4, 5, 2)]), ("ij,jk,ikl->lk", [(3, 5), (5, 7), (3, 7, 4)])]:
        operands = [x(*d, name=f"x{i}") for i, d in enumerate(dims)]
        args = ", ".join(o[0] for o in operands)
        yield (f"einsum {equation}", f'y = einsum({args}) {{equation="{equation}"}}', "Einsum", dict(equation=equation), operands, {}, {})
    yield ("det", "y = det(x)", "Det", {}, [x(2, 3, 4, 4)], {}, {})
    yield ("dft", "y = dft(x, _, 1)", "DFT", dict(axis=1), [x(2, 7, 2)], {}, {})
    yield ("dft padded, one side", "y = dft(x, 8, 1) {onesided=true}", "DFT", dict(axis=1, onesided=1), [x(2, 5, 1)], {1: i64([8], True)}, {})
    yield ("dft inverse", "y = dft(x, _, 1) {inverse=true}", "DFT", dict(axis=1, inverse=1), [x(2, 6, 2)], {}, {})
    yield ("stft", "y = stft(x, 3, w)", "STFT", {}, [x(2, 20, 1), w(8)], {1: i64([3], True)}, {})
    for mode in ("Hann", "Hamming", "Blackman"):
        yield (f"{mode} window", f'y = window(7) {{mode="{mode.lower()}", periodic=false}}', f"{mode}Window", dict(periodic=0), [], {0: i64([7], True)}, {})
    yield ("mel weights", "y = mel_weight_matrix(8, 32, 8000, 20:f32, 3800:f32)", "MelWeightMatrix", {}, [],
           {0: i64([8], True), 1: i64([32], True), 2: i64([8000], True), 3: f32([20.0], True), 4: f32([3800.0], True)}, {})
    for name, args, text, attrs, more, consts in [
            ("plain", "x, w, b", "", {}, [], {}),
            ("mask by end, causal", "x, w, b, [2, 4]:s32", ", unidirectional=true", dict(unidirectional=1), [], {3: i32([2, 4])}),
            ("mask by end and start", "x, w, b, [3, 4, 1, 2]:s32", "", {}, [], {3: i32([3, 4, 1, 2])}),
            ("past", "x, w, b, _, p", "", {}, [x(2, 2, 2, 3, 3, name="p")], {3: None})]:
        outputs = ["y", "present"] if "past" in name else ["y"]
        yield (f"attention {name}", f"{', '.join(outputs)} = attention({args}) {{num_heads=2{text}}}", "Attention", dict(num_heads=2, **attrs),
               [x(2, 4, 5), w(5, 18), b(18)] + more, consts, dict(domain="com.microsoft", outputs_named=outputs))
    yield ("skip_layer_norm", "y = skip_layer_norm(x, s, g, o, b) {epsilon=0.001}", "SkipLayerNormalization", dict(epsilon=0.001),
           [x(2, 4, 5), x(2, 4, 5, name="s"), x(5, name="g"), x(5, name="o"), b(5)], {}, dict(domain="com.microsoft"))


ONNX_TYPES = {"f32": 1, "s64": 7, "s32": 6}


def write_models(folder):  # in a separate process: onnx and onnxruntime cannot share one
    from onnx import TensorProto, helper

    for number, (name, _, op, attrs, inputs, consts, options) in enumerate(cases()):
        names, slots = [], {}
        for position, constant in consts.items():
            slots[position] = "" if constant is None else f"const{position}"
        feeds = [i[0] for i in inputs]
        while feeds or slots:
            names.append(slots.pop(len(names)) if len(names) in slots else feeds.pop(0))
        initializers = [helper.make_tensor(f"const{p}", ONNX_TYPES[c[0]], [] if c[2] else [len(c[1])], c[1]) for p, c in consts.items() if c]
        outputs = options.get("outputs_named", ["y"])
        graph_inputs = [helper.make_tensor_value_info(n, ONNX_TYPES[t], None) for n, t, _, _ in inputs]
        graph = helper.make_graph([helper.make_node(op, names, outputs, domain=options.get("domain", ""), **attrs)], "g", graph_inputs,
                                  [helper.make_empty_tensor_value_info(o) for o in outputs], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", options.get("opset", 18)), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        with open(os.path.join(folder, f"{number}.onnx"), "wb") as file:
            file.write(model.SerializeToString())


def fill(kind, type_name, dims, number):
    import numpy as np

    raw = (np.arange(int(np.prod(dims)), dtype=np.int64) * 37 + number * 11 + 5) % 101
    if type_name == "s64":
        return (raw % kind).reshape(dims)
    values = (raw - 50) / 32 if kind == "signed" else (raw + 10) / 64
    return values.astype(np.float32).reshape(dims)


def main():
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    first = {"HWIO": (3, 2, 0, 1), "HWCM": (2, 3, 0, 1)}
    lines = ["# Written by make_cases.py: do not edit."]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, folder], check=True)
        for number, (name, body, op, attrs, inputs, consts, extra) in enumerate(cases()):
            feeds = {}
            for k, (n, t, dims, kind) in enumerate(inputs):
                value = fill(kind, t, dims, k)
                if extra.get("nhwc") and n == "x":
                    value = np.moveaxis(value, -1, 1)
                if n == "w" and "weights" in extra:
                    value = value.transpose(first[extra["weights"]])
                    if extra["weights"] == "HWCM":
                        value = value.reshape(-1, 1, *value.shape[2:])
                feeds[n] = np.ascontiguousarray(value)
            session = onnxruntime.InferenceSession(os.path.join(folder, f"{number}.onnx"), options, providers=["CPUExecutionProvider"])
            results = session.run(None, feeds)
            declared = ", ".join(f"{n}: {t}[{','.join(map(str, d))}]" for n, t, d, _ in inputs)
            returned = ", ".join(extra.get("outputs_named", ["y"]))
            lines += ["", f"case {name}", f"graph ({declared}) {{ {body} return {returned} }}", "fill " + " ".join(str(i[3]) for i in inputs)]
            for result in results:
                result = np.asarray(result)
                if extra.get("nhwc") and result.ndim > 1:
                    result = np.moveaxis(result, 1, -1)
                flat = result.astype(np.float64).ravel()
                weights = np.arange(flat.size) * 13 % 17 + 1
                picks = [flat[i * (flat.size - 1) // 5] for i in range(6)] if flat.size else []
                lines.append(f"expect {' '.join(map(str, result.shape))} | {np.abs(flat).sum():.9g} {flat.sum():.9g} {(flat * weights).sum():.9g} | "
                             + " ".join(f"{p:.8g}" for p in picks))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_models(sys.argv[1])
    else:
        main()
