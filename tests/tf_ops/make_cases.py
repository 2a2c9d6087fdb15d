#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.txt: TensorFlow's ops, one node per case, with the expected outputs.

numpy computes the outputs by the formulas of TensorFlow's documentation, without code of Halftone. The types are those of the op
registry in DIR. Usage: HALFTONE_SHARED=DIR make_cases.py > cases.txt
"""
import itertools
import math
import numpy as np
from case_text import *
from case_windows import conv, conv3d, conv_backprop, depthwise, layouts, pool


# --- Elementwise.
def unary(op, f, how="signed", **kw):
    case(op, [X(3, 5, how=how)], {}, lambda c, x: f(x), **kw)


erf = np.vectorize(math.erf)
erfc = np.vectorize(math.erfc)
unary("Abs", np.abs)
unary("Neg", lambda x: -x)
unary("Exp", np.exp)
unary("Expm1", np.expm1)
unary("Log", np.log, "positive")
unary("Log1p", np.log1p, "positive")
unary("Sqrt", np.sqrt, "positive")
unary("Rsqrt", lambda x: 1 / np.sqrt(x), "positive")
unary("Reciprocal", lambda x: 1 / x, "positive", skip=SIGNED)
unary("Inv", lambda x: 1 / x, "positive", skip=SIGNED)
unary("Square", lambda x: x * x)
unary("Floor", np.floor)
unary("Ceil", np.ceil)
unary("Round", np.round)
unary("Rint", np.round)
unary("Sign", np.sign)
unary("Erf", erf)
unary("Erfc", erfc)
for name in ["Sin", "Cos", "Tan", "Sinh", "Cosh"]:
    unary(name, getattr(np, name.lower()))
unary("Atan", np.arctan)
unary("Asinh", np.arcsinh)
unary("Asin", np.arcsin, "unit")
unary("Acos", np.arccos, "unit")
unary("Atanh", np.arctanh, "unit")
unary("Acosh", lambda x: np.arccosh(x), "positive")
unary("Relu", lambda x: np.maximum(x, 0))
unary("Relu6", lambda x: np.clip(x * 1, 0, 6))
unary("Tanh", np.tanh)
unary("Sigmoid", lambda x: 1 / (1 + np.exp(-x)))
unary("Softplus", lambda x: np.log1p(np.exp(x)))
unary("Softsign", lambda x: x / (1 + np.abs(x)))
unary("Elu", lambda x: np.where(x > 0, x, np.expm1(x)))
unary("Selu", lambda x: 1.0507009873554804934 * np.where(x > 0, x, 1.6732632423543772848 * np.expm1(x)))
case("LeakyRelu", [X(3, 5)], {}, lambda c, x: np.where(x > 0, x, np.float32(0.2) * x), "default")
case("LeakyRelu", [X(3, 5)], {"alpha": F(0.5)}, lambda c, x: np.where(x > 0, x, 0.5 * x))
unary("IsNan", np.isnan)
unary("IsInf", lambda x: np.isinf(1 / (x - x)) & False)
unary("IsFinite", np.isfinite)
unary("Invert", lambda x: ~x, only=["int"])
unary("LogicalNot", np.logical_not, types=["bool"])
unary("ZerosLike", lambda x: x * 0)
unary("OnesLike", lambda x: x * 0 + 1)
for name in ["Identity", "Snapshot", "StopGradient", "PreventGradient"]:
    unary(name, lambda x: x)
case("CheckNumerics", [X(3, 5)], {"message": S("no")}, lambda c, x: x)
case("EnsureShape", [X(3, 5)], {"shape": ("shape", (3, -1))}, lambda c, x: x)


def binary(op, f, a=X(3, 1, 5), b=X(4, 5), **kw):
    case(op, [a, b], {}, lambda c, x, y: f(c, x, y), **kw)


binary("Add", lambda c, a, b: a + b)
binary("AddV2", lambda c, a, b: a + b)
binary("Sub", lambda c, a, b: a - b, a=P(3, 1, 5), only=["float", "int"])
binary("Mul", lambda c, a, b: a * b)
trunc = lambda a, b: np.trunc(np.asarray(a, np.float64) / b).astype(np.int64)
binary("Div", lambda c, a, b: a / b if c == "float" else trunc(a, b), b=P(4, 5))
binary("RealDiv", lambda c, a, b: a / b if c == "float" else trunc(a, b), b=P(4, 5), only=["float"])
binary("TruncateDiv", lambda c, a, b: trunc(a, b), b=P(4, 5), only=["int", "uint"])
binary("FloorDiv", lambda c, a, b: np.floor(a / b) if c == "float" else a // b, b=P(4, 5))
binary("FloorMod", lambda c, a, b: a - np.floor(a / b) * b if c == "float" else a % b, b=P(4, 5))
binary("FloorMod", lambda c, a, b: np.mod(a, b), b=("const", "$T", [[-3.0, 2, -5, 7, 3]]), note="signs", only=["int"])
for name in ["Mod", "TruncateMod"]:
    binary(name, lambda c, a, b: np.fmod(a, b), b=P(4, 5))
binary("DivNoNan", lambda c, a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)))
binary("Maximum", lambda c, a, b: np.maximum(a, b))
binary("Minimum", lambda c, a, b: np.minimum(a, b))
binary("Pow", lambda c, a, b: a ** b, a=P(3, 1, 5), b=("const", "$T", [[1, 2, 2, 0, 1]]))
binary("SquaredDifference", lambda c, a, b: (a - b) ** 2)
binary("Atan2", lambda c, a, b: np.arctan2(a, b))
for name, f in [("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)]:
    binary(name, lambda c, a, b, f=f: f(a, b))
binary("LeftShift", lambda c, a, b: a << b, a=P(3, 1, 5), b=("const", "$T", [[0, 1, 2, 3, 1]]))
binary("RightShift", lambda c, a, b: a >> b, a=P(3, 1, 5), b=("const", "$T", [[0, 1, 2, 3, 1]]))
for name, f in [("Equal", np.equal), ("NotEqual", np.not_equal), ("Less", np.less), ("LessEqual", np.less_equal),
                ("Greater", np.greater), ("GreaterEqual", np.greater_equal)]:
    binary(name, lambda c, a, b, f=f: f(a, b))
binary("LogicalAnd", lambda c, a, b: a & b, types=["bool"])
binary("LogicalOr", lambda c, a, b: a | b, types=["bool"])
case("AddN", [X(3, 5), X(3, 5), P(3, 5)], {"N": I(3)}, lambda c, *x: sum(x))
case("AccumulateNV2", [X(3, 5), X(3, 5)], {"N": I(2), "shape": ("shape", (3, 5))}, lambda c, *x: sum(x),
     types=["f32"])
case("ClipByValue", [X(3, 5), ("const", "$T", 1), ("const", "$T", 2)], {}, lambda c, x, a, b: np.clip(x, a, b))
case("Select", [X(3, 5, t="bool"), X(3, 5), X(3, 5)], {}, lambda c, p, a, b: np.where(p, a, b))
case("Select", [X(3, t="bool"), X(3, 2, 5), X(3, 2, 5)], {}, lambda c, p, a, b: np.where(p[:, None, None], a, b), "rows")
case("Select", [("const", "bool", True), X(3, 5), X(3, 5)], {}, lambda c, p, a, b: a, "scalar")
case("SelectV2", [X(5, t="bool"), X(3, 1), X(3, 5)], {}, lambda c, p, a, b: np.where(p, a, b))
case("Cast", [X(3, 5, t="f32")], {"SrcT": TY("f32")}, lambda c, x: x if c == "float" else np.trunc(x) * 1, attr="DstT",
     types=FLOATS + SIGNED)
case("Cast", [X(3, 5)], {"DstT": TY("f32")}, lambda c, x: x * 1.0, "to f32", attr="SrcT")

# --- Matmuls and reductions.
case("MatMul", [X(3, 5), X(4, 5)], {"transpose_b": B(1)}, lambda c, a, b: a @ b.T, skip=UNSIGNED)
case("BatchMatMul", [U(2, 3, 5), U(2, 5, 4)], {}, lambda c, a, b: a @ b, only=["float"])
case("BatchMatMulV2", [U(2, 1, 5, 3), U(4, 5, 2)], {"adj_x": B(1)}, lambda c, a, b: np.swapaxes(a, 2, 3) @ b, only=["float"])
case("Einsum", [U(2, 3, 5), U(5, 4)], {"equation": S("abc,cd->adb"), "N": I(2)},
     lambda c, a, b: np.einsum("abc,cd->adb", a, b), types=FLOATS)
for op, f in [("Sum", np.sum), ("Max", np.max), ("Min", np.min)]:
    case(op, [X(2, 3, 5), I32([0, -1])], dict(S32), lambda c, x, a, f=f: f(x, axis=(0, 2)))
    case(op, [X(2, 3, 5), I32(1)], dict(S32, keep_dims=B(1)), lambda c, x, a, f=f: f(x, axis=1, keepdims=True), "keep_dims")
    case(op, [X(2, 3), I64(np.zeros(0))], {"Tidx": TY("s64")}, lambda c, x, a: x, "no axes")
case("Mean", [X(2, 3, 5), I32([0, -1])], dict(S32), lambda c, x, a: np.mean(x, axis=(0, 2)), only=["float"])
case("Prod", [P(2, 3), I32([0])], dict(S32), lambda c, x, a: np.prod(x, axis=0))
case("EuclideanNorm", [X(2, 3, 5), I32([1])], dict(S32), lambda c, x, a: np.sqrt((x * x).sum(1)), only=["float"])
case("L2Loss", [X(2, 3, 5)], {}, lambda c, x: (x * x).sum() / 2)
case("All", [X(2, 3, t="bool"), I32([0])], dict(S32), lambda c, x, a: x.all(0), attr=None, types=["bool"])
case("Any", [X(2, 3, t="bool"), I32([1])], dict(S32, keep_dims=B(1)), lambda c, x, a: x.any(1, keepdims=True), attr=None, types=["bool"])
for op, f in [("ArgMax", np.argmax), ("ArgMin", np.argmin)]:
    case(op, [X(2, 5, 3), I32(1)], dict(S32), lambda c, x, a, f=f: f(x, axis=1))
    case(op, [X(2, 5, 3), I32(-1)], dict(S32, output_type=TY("s32")), lambda c, x, a, f=f: f(x, axis=-1), "s32", types=["f32"])
for op, f in [("Cumsum", np.cumsum), ("Cumprod", np.cumprod)]:
    how = X if op == "Cumsum" else lambda *d: ("const", "$T", (np.arange(6) % 3 + 1).reshape(d))
    case(op, [how(2, 3), I32(1)], dict(S32), lambda c, x, a, f=f: f(x, axis=1), only=["float", "int", "uint"])
    unit = 0 if op == "Cumsum" else 1

    def exclusive_reverse(c, x, a, f=f, unit=unit):
        r = x[:, ::-1]
        r = np.concatenate([np.full((2, 1), unit), f(r, axis=1)[:, :-1]], axis=1)
        return r[:, ::-1]
    case(op, [how(2, 3), I32(-1)], dict(S32, exclusive=B(1), reverse=B(1)), exclusive_reverse, "exclusive reverse", types=["f32"])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


case("Softmax", [X(2, 3, 5)], {}, lambda c, x: softmax(x))
case("LogSoftmax", [X(3, 5)], {}, lambda c, x: np.log(softmax(x)))


# --- Convolutions and pools. Computed in NHWC; NCHW cases are transposed.
EXPLICIT = ((1, 0), (2, 1))
EXPLICIT_ATTR = L(0, 0, 1, 0, 2, 1, 0, 0)
for padding in ["SAME", "VALID", "EXPLICIT"]:
    p = EXPLICIT if padding == "EXPLICIT" else padding
    extra = {"explicit_paddings": EXPLICIT_ATTR} if padding == "EXPLICIT" else {}
    a = dict({"strides": L(1, 2, 1, 1), "padding": S(padding)}, **extra)
    layouts("Conv2D", [1, 7, 6, 3], a, lambda x, w, p=p: conv(x, w, (2, 1), p), padding, rest=[U(3, 2, 3, 4)], only=["float"])
a = {"strides": L(1, 1, 1, 1), "padding": S("SAME"), "dilations": L(1, 2, 3, 1)}
layouts("Conv2D", [1, 8, 7, 2], a, lambda x, w: conv(x, w, (1, 1), "SAME", (2, 3)), "dilated", rest=[U(3, 2, 2, 3)], only=["float"])
for padding in ["SAME", "VALID"]:
    a = {"strides": L(1, 2, 2, 1), "padding": S(padding)}
    layouts("DepthwiseConv2dNative", [1, 7, 6, 3], a, lambda x, w, p=padding: depthwise(x, w, (2, 2), p), padding,
            rest=[U(3, 2, 3, 2)], only=["float"])


for padding, dy in [("SAME", (1, 4, 3, 4)), ("VALID", (1, 3, 2, 4))]:
    case("Conv2DBackpropInput", [I32([1, 7, 5, 3]), U(3, 2, 3, 4), U(*dy)], {"strides": L(1, 2, 2, 1), "padding": S(padding)},
         lambda c, s, w, y, p=padding: conv_backprop(list(s), w, y, (2, 2), p), padding, only=["float"])
case("Conv2DBackpropInput", [I32([1, 3, 7, 5]), U(3, 2, 3, 4), U(1, 4, 4, 3)],
     {"strides": L(1, 1, 2, 2), "padding": S("SAME"), "data_format": S("NCHW")},
     lambda c, s, w, y: np.transpose(conv_backprop([1, 7, 5, 3], w, np.transpose(y, (0, 2, 3, 1)), (2, 2), "SAME"), (0, 3, 1, 2)),
     "NCHW", only=["float"])


for padding in ["SAME", "VALID"]:
    case("Conv3D", [U(1, 4, 5, 6, 2), U(2, 3, 2, 2, 3)], {"strides": L(1, 2, 1, 2, 1), "padding": S(padding)},
         lambda c, x, w, p=padding: conv3d(x, w, (2, 1, 2), p), padding, only=["float"])
case("FusedPadConv2D", [U(1, 5, 4, 2), I32([[0, 0], [1, 2], [1, 0], [0, 0]]), U(3, 2, 2, 3)],
     {"mode": S("REFLECT"), "strides": L(1, 1, 1, 1), "padding": S("VALID")},
     lambda c, x, p, w: conv(np.pad(x, p, mode="reflect"), w, (1, 1), "VALID"), only=["float"])
for padding in ["SAME", "VALID"]:
    a = {"ksize": L(1, 3, 2, 1), "strides": L(1, 2, 1, 1), "padding": S(padding)}
    layouts("MaxPool", [1, 7, 6, 3], a, lambda x, p=padding: pool(x, (3, 2), (2, 1), p, "max"), padding, only=["float"])
    layouts("AvgPool", [1, 7, 6, 3], a, lambda x, p=padding: pool(x, (3, 2), (2, 1), p, "avg"), padding, only=["float"])
case("MaxPool", [X(1, 7, 6, 3)], {"ksize": L(1, 3, 2, 1), "strides": L(1, 2, 1, 1), "padding": S("VALID")},
     lambda c, x: pool(x, (3, 2), (2, 1), "VALID", "max"), "integers", only=["int", "uint"])
case("MaxPoolV2", [X(1, 7, 6, 3), I32([1, 3, 2, 1]), I32([1, 2, 2, 1])], {"padding": S("SAME")},
     lambda c, x, k, s: pool(x, (3, 2), (2, 2), "SAME", "max"), only=["float"])
case("MaxPool3D", [U(1, 4, 5, 6, 2)], {"ksize": L(1, 2, 2, 2, 1), "strides": L(1, 2, 2, 2, 1), "padding": S("VALID")},
     lambda c, x: x[:, :4, :4, :6].reshape(1, 2, 2, 2, 2, 3, 2, 2).max((2, 4, 6)), skip=[])
case("AvgPool3D", [U(1, 4, 5, 6, 2)], {"ksize": L(1, 2, 2, 2, 1), "strides": L(1, 2, 2, 2, 1), "padding": S("VALID")},
     lambda c, x: x[:, :4, :4, :6].reshape(1, 2, 2, 2, 2, 3, 2, 2).mean((2, 4, 6)), skip=[])
layouts("BiasAdd", [2, 3, 4, 5], {}, lambda x, b: x + b, rest=[X(5)], only=["float"])
case("BiasAddV1", [X(3, 5), X(5)], {}, lambda c, x, b: x + b, only=["float"])


# --- Normalization.
def norm(x, s, o, m, v, e):
    return (x - m) / np.sqrt(v + e) * s + o


PARAMS = [("in", "positive", [4], "f32"), ("in", "signed", [4], "f32"), ("in", "signed", [4], "f32"), ("in", "positive", [4], "f32")]
EPS = float(np.float32(0.001))
for op in ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]:
    extra = {} if op == "FusedBatchNorm" else {"U": TY("f32")}
    layouts(op, [2, 3, 2, 4], dict({"epsilon": F(0.001), "is_training": B(0)}, **extra),
            lambda x, s, o, m, v: norm(x, s, o, m, v, EPS), rest=PARAMS, types=["f32"] if op == "FusedBatchNorm" else None)
    layouts(op, [2, 3, 2, 4], dict(extra), lambda x, s, o, m, v: norm(x, s, o, x.mean((0, 1, 2)), x.var((0, 1, 2)), float(np.float32(1e-4))),
            "training", rest=PARAMS[:2] + [("const", "f32", np.zeros(0))] * 2, types=["f32"])
case("BatchNormWithGlobalNormalization", [X(2, 3, 2, 4), PARAMS[2], PARAMS[3], PARAMS[1], PARAMS[0]],
     {"variance_epsilon": F(0.001), "scale_after_normalization": B(1)}, lambda c, x, m, v, o, s: norm(x, s, o, m, v, EPS), types=["f32"])


def lrn(x, r, bias, alpha, beta):
    out = np.empty_like(x)
    for c in range(x.shape[3]):
        part = x[..., max(0, c - r):c + r + 1]
        out[..., c] = x[..., c] / (bias + alpha * (part ** 2).sum(-1)) ** beta
    return out


case("LRN", [X(1, 2, 3, 7)], {"depth_radius": I(2), "bias": F(2), "alpha": F(0.5), "beta": F(0.75)}, lambda c, x: lrn(x, 2, 2, 0.5, 0.75))
case("LRN", [X(1, 2, 3, 7)], {}, lambda c, x: lrn(x, 5, 1, 1, 0.5), "defaults", types=["f32"])


# --- Images.
def positions(n_in, n_out, corners, centers):
    i = np.arange(n_out)
    if corners:
        return i * ((n_in - 1) / (n_out - 1)) if n_out > 1 else i * 0.0
    return (i + 0.5) * (n_in / n_out) - 0.5 if centers else i * (n_in / n_out)


def bilinear(x, size, corners, centers):
    for axis, n in ((1, size[0]), (2, size[1])):
        at = positions(x.shape[axis], n, corners, centers)
        low = np.clip(np.floor(at), 0, x.shape[axis] - 1).astype(int)
        high = np.clip(np.floor(at) + 1, 0, x.shape[axis] - 1).astype(int)
        t = (at - np.floor(at)).reshape([-1 if d == axis else 1 for d in range(4)])
        x = np.take(x, low, axis) * (1 - t) + np.take(x, high, axis) * t
    return x


def nearest(x, size, corners, centers):
    for axis, n in ((1, size[0]), (2, size[1])):
        at = positions(x.shape[axis], n, corners, False)
        if centers:
            index = np.floor((np.arange(n) + 0.5) * (x.shape[axis] / n))
        else:
            index = np.floor(at + 0.5) if corners else np.floor(at)
        x = np.take(x, np.clip(index, 0, x.shape[axis] - 1).astype(int), axis)
    return x


def bicubic(x, size, corners, centers):
    a = -0.5 if centers else -0.75

    def weight(t):
        t = abs(t)
        if t <= 1:
            return ((a + 2) * t - (a + 3)) * t * t + 1
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a if t < 2 else 0.0
    for axis, n in ((1, size[0]), (2, size[1])):
        last = x.shape[axis] - 1
        parts = []
        for p in positions(x.shape[axis], n, corners, centers):
            base = math.floor(p)
            taps = [(base + k, weight(p - base - k)) for k in range(-1, 3)]
            if centers:
                taps = [(k, w) for k, w in taps if 0 <= k <= last]
                total = sum(w for _, w in taps)
                taps = [(k, w / total) for k, w in taps]
            parts.append(sum(np.take(x, min(max(k, 0), last), axis) * w for k, w in taps))
        x = np.stack(parts, axis)
    return x


for corners, centers in [(0, 0), (1, 0), (0, 1)]:
    for size in [(7, 4), (3, 9)]:
        a = {"align_corners": B(corners), "half_pixel_centers": B(centers)}
        word = ["legacy", "align_corners", "half_pixel"][corners + 2 * centers] + " to %dx%d" % size
        some = None if size == (7, 4) else ["f32"]
        case("ResizeBilinear", [X(1, 5, 6, 2), I32(size)], a, lambda c, x, s, k=corners, h=centers: bilinear(x * 1.0, s, k, h), word, types=some)
        case("ResizeNearestNeighbor", [X(1, 5, 6, 2), I32(size)], a, lambda c, x, s, k=corners, h=centers: nearest(x, s, k, h), word, types=some)
        case("ResizeBicubic", [X(1, 5, 6, 2), I32(size)], a, lambda c, x, s, k=corners, h=centers: bicubic(x * 1.0, s, k, h), word, types=some or ["f32", "u8"])


def crop(x, boxes, which, size, method, outside):
    out = np.full((len(boxes), size[0], size[1], x.shape[3]), float(outside))
    h, w = x.shape[1:3]
    for b, (y1, x1, y2, x2) in enumerate(boxes):
        for i, j in itertools.product(range(size[0]), range(size[1])):
            y = y1 * (h - 1) + i * (y2 - y1) * (h - 1) / (size[0] - 1) if size[0] > 1 else (y1 + y2) / 2 * (h - 1)
            z = x1 * (w - 1) + j * (x2 - x1) * (w - 1) / (size[1] - 1) if size[1] > 1 else (x1 + x2) / 2 * (w - 1)
            if not (0 <= y <= h - 1 and 0 <= z <= w - 1):
                continue
            image = x[which[b]]
            if method == "nearest":
                out[b, i, j] = image[int(math.floor(y + 0.5)), int(math.floor(z + 0.5))]
                continue
            t, l = int(math.floor(y)), int(math.floor(z))
            bottom, r = int(math.ceil(y)), int(math.ceil(z))
            top = image[t, l] + (image[t, r] - image[t, l]) * (z - l)
            low = image[bottom, l] + (image[bottom, r] - image[bottom, l]) * (z - l)
            out[b, i, j] = top + (low - top) * (y - t)
    return out


BOXES = ("const", "f32", [[0, 0.25, 0.75, 1], [0.5, 0.5, -0.25, 1.5]])
case("CropAndResize", [X(2, 5, 6, 2), BOXES, I32([1, 0]), I32([3, 4])], {}, lambda c, x, b, i, s: crop(x, b, i, s, "bilinear", 0))
case("CropAndResize", [X(2, 5, 6, 2), BOXES, I32([1, 0]), I32([1, 5])], {"method": S("nearest"), "extrapolation_value": F(2.5)},
     lambda c, x, b, i, s: crop(x, b, i, s, "nearest", 2.5), "nearest", types=["f32"])


def overlap(a, b):
    (top, left), (bottom, right) = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    (t, l), (low, r) = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    shared = max(0, min(bottom, low) - max(top, t)) * max(0, min(right, r) - max(left, l))
    return shared / ((bottom - top) * (right - left) + (low - t) * (r - l) - shared)


def suppress(boxes, scores, most, threshold, least=-math.inf):
    chosen = []
    for i in sorted(range(len(scores)), key=lambda k: -scores[k]):
        if len(chosen) < most and scores[i] > least and all(overlap(boxes[i], boxes[j]) <= threshold for j in chosen):
            chosen.append(i)
    return np.array(chosen, np.int32)


CORNERS = ("const", "f32", [[0, 0, 1, 1], [0, 0.125, 1, 1.125], [1, 1.125, 0, 0.25], [0, 2, 1, 3], [0.25, 2, 1, 3.25], [4, 4, 5, 6]])
SCORES = ("const", "f32", [0.5, 0.75, 0.625, 0.875, -0.25, 0.25])
for most, threshold in ((6, 0.5), (2, 0.5), (6, 0.875)):
    case("NonMaxSuppressionV2", [CORNERS, SCORES, I32(most), ("const", "f32", threshold)], {},
         lambda c, b, s, m, o: suppress(b, s, m, o), f"{most} of {threshold}", types=["f32"])
    case("NonMaxSuppressionV3", [CORNERS, SCORES, I32(most), ("const", "f32", threshold), ("const", "f32", 0.25)], {},
         lambda c, b, s, m, o, l: suppress(b, s, m, o, l), f"{most} of {threshold}", types=["f32"])


def depth_to_space(x, b):
    n, h, w, c = x.shape
    return x.reshape(n, h, w, b, b, c // b // b).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // b // b)


def space_to_depth(x, b):
    n, h, w, c = x.shape
    return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, c * b * b)


layouts("DepthToSpace", [1, 2, 3, 12], {"block_size": I(2)}, lambda x: depth_to_space(x, 2))
layouts("SpaceToDepth", [1, 4, 6, 3], {"block_size": I(2)}, lambda x: space_to_depth(x, 2))


def space_to_batch(x, block, pads):
    x = np.pad(x, [(0, 0)] + [tuple(p) for p in pads] + [(0, 0)] * (x.ndim - 1 - len(block)))
    m = len(block)
    shape = [x.shape[0]]
    for i in range(m):
        shape += [x.shape[i + 1] // block[i], block[i]]
    y = x.reshape(shape + list(x.shape[m + 1:]))
    perm = [2 * i + 2 for i in range(m)] + [0] + [2 * i + 1 for i in range(m)] + list(range(2 * m + 1, y.ndim))
    y = y.transpose(perm)
    return y.reshape([-1] + [x.shape[i + 1] // block[i] for i in range(m)] + list(x.shape[m + 1:]))


def batch_to_space(x, block, crops):
    m = len(block)
    n = x.shape[0] // int(np.prod(block))
    y = x.reshape(list(block) + [n] + list(x.shape[1:]))
    perm = [m]
    for i in range(m):
        perm += [m + 1 + i, i]
    y = y.transpose(perm + list(range(2 * m + 1, y.ndim)))
    y = y.reshape([n] + [x.shape[i + 1] * block[i] for i in range(m)] + list(x.shape[m + 1:]))
    for i in range(m):
        y = np.take(y, range(crops[i][0], y.shape[i + 1] - crops[i][1]), i + 1)
    return y


case("SpaceToBatchND", [X(1, 3, 4, 2), I32([2, 3]), I32([[0, 1], [1, 1]])], {}, lambda c, x, b, p: space_to_batch(x, b, p))
case("SpaceToBatch", [X(1, 3, 4, 2), I32([[0, 1], [1, 1]])], {"block_size": I(2)}, lambda c, x, p: space_to_batch(x, [2, 2], p))
case("BatchToSpaceND", [X(6, 2, 2, 2), I32([2, 3]), I32([[0, 1], [1, 1]])], {}, lambda c, x, b, p: batch_to_space(x, b, p))
case("BatchToSpace", [X(4, 2, 3, 2), I32([[0, 1], [1, 1]])], {"block_size": I(2)}, lambda c, x, p: batch_to_space(x, [2, 2], p))

# --- Data movement.
case("Reshape", [X(2, 3, 4), I32([4, -1])], {}, lambda c, x, s: x.reshape(4, -1))
case("Transpose", [X(2, 3, 4), I64([2, 0, 1])], {"Tperm": TY("s64")}, lambda c, x, p: x.transpose(2, 0, 1))
case("Squeeze", [X(1, 3, 1, 2)], {"squeeze_dims": L(-2)}, lambda c, x: x.reshape(1, 3, 2))
case("Squeeze", [X(1, 3, 1, 2)], {}, lambda c, x: x.reshape(3, 2), "all", types=["f32"])
case("ExpandDims", [X(2, 3), I32(-2)], {}, lambda c, x, a: x[:, None])
case("ConcatV2", [X(2, 3), X(2, 2), I32(-1)], {"N": I(2)}, lambda c, a, b, d: np.concatenate([a, b], -1))
case("Concat", [I32(1), X(2, 3), X(2, 2)], {"N": I(2)}, lambda c, d, a, b: np.concatenate([a, b], 1))
case("Pack", [X(2, 3), X(2, 3)], {"N": I(2), "axis": I(-1)}, lambda c, a, b: np.stack([a, b], -1))
case("Unpack", [X(3, 2, 2)], {"num": I(2), "axis": I(1)}, lambda c, x: [x[:, 0], x[:, 1]])
case("Split", [I32(1), X(2, 6)], {"num_split": I(3)}, lambda c, d, x: np.split(x, 3, 1))
case("SplitV", [X(2, 6), I32([1, -1, 2]), I32(1)], {"num_split": I(3), "Tlen": TY("s32")}, lambda c, x, s, d: np.split(x, [1, 4], 1))
case("Pad", [X(2, 3), I32([[1, 0], [2, 1]])], {}, lambda c, x, p: np.pad(x, p))
case("PadV2", [X(2, 3), I32([[1, 0], [2, 1]]), ("const", "$T", 1)], {}, lambda c, x, p, v: np.pad(x, p, constant_values=v))
for mode in ["REFLECT", "SYMMETRIC"]:
    case("MirrorPad", [X(3, 4), I32([[2, 1], [0, 2]])], {"mode": S(mode)}, lambda c, x, p, m=mode.lower(): np.pad(x, p, mode=m), mode)
case("Slice", [X(4, 5), I32([1, 2]), I32([2, -1])], {"Index": TY("s32")}, lambda c, x, b, s: x[1:3, 2:])
case("Slice", [X(4, 5), I32([0, 0]), I32([2, 3])], {"Index": TY("s32")}, lambda c, x, b, s: x[:2, :3], "from zero", types=["f32"])


def strided(note, dims, begin, end, strides, masks, expected, **kw):
    a = {"Index": TY("s32")}
    a.update({k + "_mask": I(v) for k, v in masks.items()})
    case("StridedSlice", [X(*dims), I32(begin), I32(end), I32(strides)], a, lambda c, x, *r: expected(x), note, **kw)


strided("plain", [4, 5], [1, 4], [3, 0], [1, -2], {}, lambda x: x[1:3, 4:0:-2])
strided("begin and end masks", [4, 5], [3, 2], [1, 4], [1, 1], {"begin": 1, "end": 3}, lambda x: x[:, 2:], types=["f32"])
strided("shrink", [4, 5], [1, -2], [2, 0], [1, 1], {"shrink_axis": 2, "end": 1}, lambda x: x[1:, -2])
strided("shrink all", [3], [2], [3], [1], {"shrink_axis": 1}, lambda x: x[2], types=["f32", "s32"])
strided("ellipsis", [2, 3, 4, 5], [0, 0, 1], [0, 0, 3], [1, 1, 1], {"ellipsis": 2, "shrink_axis": 1}, lambda x: x[0, ..., 1:3], types=["f32"])
strided("new axis", [3, 4], [0, 0, 1], [0, 0, 3], [1, 1, 1], {"new_axis": 1, "end": 2, "begin": 2}, lambda x: x[None, :, 1:3], types=["f32"])
strided("new axis behind ellipsis", [3, 4], [0, 0], [0, 0], [1, 1], {"ellipsis": 1, "new_axis": 2}, lambda x: x[..., None], types=["f32"])
strided("fewer than the rank", [3, 4], [1], [3], [1], {}, lambda x: x[1:3], types=["f32"])
strided("reverse with masks", [5], [0], [0], [-1], {"begin": 1, "end": 1}, lambda x: x[::-1], types=["f32"])
strided("beyond the ends", [5], [-9], [9], [2], {}, lambda x: x[::2], types=["f32"])
case("GatherV2", [X(3, 4, 2), I32([[3, 0], [1, 1]]), I32(1)], {"Tindices": TY("s32"), "Taxis": TY("s32")}, lambda c, x, i, a: np.take(x, i, 1), attr="Tparams")
case("GatherV2", [X(2, 4, 3), I64([[3, 0], [1, 2]]), I32(1)], {"Tindices": TY("s64"), "Taxis": TY("s32"), "batch_dims": I(1)},
     lambda c, x, i, a: np.stack([x[b][i[b]] for b in range(2)]), "batch_dims", attr="Tparams", types=["f32"])
case("Gather", [X(4, 3), I32([3, 0, 3])], {"Tindices": TY("s32")}, lambda c, x, i: x[i], attr="Tparams")
case("GatherNd", [X(3, 4, 2), I32([[0, 3], [2, 1]])], {"Tindices": TY("s32")}, lambda c, x, i: x[i[:, 0], i[:, 1]], attr="Tparams")


def scatter_nd(c, i, u, s):
    out = np.zeros(tuple(int(d) for d in s), u.dtype)
    np.add.at(out, tuple(i.T), u)
    return out


case("ScatterNd", [I32([[4], [0], [4]]), P(3, 2), I32([5, 2])], {"Tindices": TY("s32")}, scatter_nd, skip=["bool"])


def scatter(f):
    def go(c, x, i, u):
        x = x.copy()
        f(x, tuple(i.T), u)
        return x
    return go


case("TensorScatterUpdate", [X(5, 2), I32([[4], [0]]), X(2, 2)], {"Tindices": TY("s32")}, scatter(lambda x, i, u: x.__setitem__(i, u)))
case("TensorScatterAdd", [X(5, 2), I32([[4], [4]]), X(2, 2)], {"Tindices": TY("s32")}, scatter(np.add.at), skip=["bool"] + UNSIGNED)


def top_k(x, k):
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    return [np.take_along_axis(x, order, -1), order]


case("TopKV2", [X(2, 7), I32(3)], {}, lambda c, x, k: top_k(x, 3))
case("TopK", [X(2, 7)], {"k": I(2)}, lambda c, x: top_k(x, 2))


def one_hot(i, depth, on, off, axis):
    y = np.where(i[..., None] == np.arange(depth), on, off)
    return np.moveaxis(y, -1, axis)


case("OneHot", [I64([[1, 3], [-1, 0]]), I32(4), ("const", "$T", 1), ("const", "$T", 0)], {"TI": TY("s64")}, lambda c, i, d, a, b: one_hot(i, 4, a, b, -1))
case("OneHot", [I32([1, 3]), I32(5), X(), P()], {"TI": TY("s32"), "axis": I(0)}, lambda c, i, d, a, b: one_hot(i, 5, a, b, 0), "computed values", types=["f32"])
case("Where", [X(3, 5)], {}, lambda c, x: np.argwhere(x))
case("Fill", [I32([2, 3]), X()], {}, lambda c, d, v: np.full((2, 3), v))
case("Tile", [X(2, 3), I32([2, 1])], {}, lambda c, x, m: np.tile(x, (2, 1)))
case("BroadcastTo", [X(3, 1), I32([2, 3, 4])], {}, lambda c, x, s: np.broadcast_to(x, (2, 3, 4)))
case("Range", [("const", "$T", 1), ("const", "$T", 8), ("const", "$T", 3)], {}, lambda c, a, b, d: np.arange(1, 8, 3), attr="Tidx")
case("Range", [("const", "$T", 7), ("const", "$T", 0), ("const", "$T", -3)], {}, lambda c, a, b, d: np.arange(7, 0, -3), "down", attr="Tidx")
case("LinSpace", [("const", "$T", 1), ("const", "$T", 8), I32(7)], {"Tidx": TY("s32")}, lambda c, a, b, n: np.linspace(1, 8, 7))
case("LinSpace", [("const", "$T", 3), ("const", "$T", -2), I64(1)], {"Tidx": TY("s64")}, lambda c, a, b, n: np.linspace(3, -2, 1), "one")
case("LinSpace", [X(), X(), I32(4)], {"Tidx": TY("s32")}, lambda c, a, b, n: np.linspace(a, b, 4), "computed ends", types=["f32"])
case("MatrixBandPart", [X(2, 4, 5), I64(1), I64(2)], {"Tindex": TY("s64")},
     lambda c, x, l, u: np.where((np.arange(4)[:, None] - np.arange(5) <= 1) & (np.arange(5) - np.arange(4)[:, None] <= 2), x, 0))
case("InvertPermutation", [("const", "$T", [2, 0, 1])], {}, lambda c, x: np.argsort(x))
case("ReverseV2", [X(2, 3, 4), I32([0, -1])], {"Tidx": TY("s32")}, lambda c, x, a: x[::-1, :, ::-1])
case("Reverse", [X(2, 3), ("const", "bool", [False, True])], {}, lambda c, x, d: x[:, ::-1])


def reverse_sequence(x, lengths, time, batch):
    x = np.moveaxis(x, (batch, time), (0, 1)).copy()
    for b, n in enumerate(lengths):
        x[b, :n] = x[b, :n][::-1]
    return np.moveaxis(x, (0, 1), (batch, time))


case("ReverseSequence", [X(2, 4, 3), I64([3, 1])], {"seq_dim": I(1)}, lambda c, x, n: reverse_sequence(x, n, 1, 0))
case("ReverseSequence", [X(4, 3, 2), I64([3, 1, 4])], {"seq_dim": I(0), "batch_dim": I(1)}, lambda c, x, n: reverse_sequence(x, n, 0, 1), "time first", types=["f32"])


def stitch(c, i, j, a, b):
    out = np.zeros((5, 2), a.dtype)
    out[i] = a
    out[j] = b
    return out


case("DynamicStitch", [I32([0, 3]), I32([[2, 1, 4]]), X(2, 2), X(1, 3, 2)], {"N": I(2)}, lambda c, i, j, a, b: stitch(c, i, j[0], a, b[0]))
case("DynamicPartition", [X(5, 2), I32([1, 0, 2, 1, 0])], {"num_partitions": I(3)}, lambda c, x, p: [x[p == k] for k in range(3)])
case("Shape", [X(2, 3, 4)], {}, lambda c, x: np.array(x.shape))
case("ShapeN", [X(2, 3), X(4)], {"N": I(2)}, lambda c, a, b: [np.array(a.shape), np.array(b.shape)])
case("Size", [X(2, 3, 4)], {"out_type": TY("s64")}, lambda c, x: np.array(24))
case("Rank", [X(2, 3, 4)], {}, lambda c, x: np.array(3))
case("IdentityN", [X(2, 3, t="f32"), X(4, t="s32")], {"T": ("types", ["f32", "s32"])}, lambda c, a, b: [a, b], attr=None, types=["f32"])
case("Unique", [("const", "$T", [3, 1, 3, 2, 1])], {}, lambda c, x: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1])], skip=["bool"])
case("UniqueWithCounts", [("const", "$T", [3, 1, 3, 2, 1])], {}, lambda c, x: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1]), np.array([2, 2, 1])], types=["f32", "s32"])


def spread(y):
    """Every second element in each spatial dimension."""
    x = np.zeros((1, 4, 5, 6, 2))
    x[:, ::2, ::2, ::2] = y
    return x


case("UniqueV2", [("const", "$T", [3, 1, 3, 2, 1]), I64(np.zeros(0))], {"Taxis": TY("s64")}, lambda c, x, a: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1])], types=["f32", "s32"])
case("ParallelDynamicStitch", [I32([0, 3]), I32([[2, 1, 4]]), X(2, 2), X(1, 3, 2)], {"N": I(2)}, lambda c, i, j, a, b: stitch(c, i, j[0], a, b[0]), types=["f32"])
case("Conv3DBackpropInputV2", [I32([1, 4, 5, 6, 2]), U(1, 1, 1, 2, 3), U(1, 2, 3, 3, 3)], {"strides": L(1, 2, 2, 2, 1), "padding": S("SAME")},
     lambda c, s, w, y: spread(np.einsum("bdhwo,io->bdhwi", y, w[0, 0, 0])), only=["float"])


# --- Quantization.
def fake_quant(x, low, high, bits=8, narrow=False):
    qmin, qmax = (1 if narrow else 0), 2 ** bits - 1
    scale = (high - low) / (qmax - qmin)
    zero = np.clip(np.floor(qmin - low / scale + 0.5), qmin, qmax)
    low2, high2 = (qmin - zero) * scale, (qmax - zero) * scale
    return np.floor((np.clip(x, low2, high2) - low2) / scale + 0.5) * scale + low2


case("FakeQuantWithMinMaxArgs", [X(3, 5, t="f32")], {"min": F(-1.1), "max": F(1.3)}, lambda c, x: fake_quant(x, np.float64(np.float32(-1.1)), np.float64(np.float32(1.3))), attr=None, types=["f32"])
case("FakeQuantWithMinMaxVars", [X(3, 5, t="f32"), ("const", "f32", -1.1), ("const", "f32", 0.7)], {"num_bits": I(4), "narrow_range": B(1)},
     lambda c, x, a, b: fake_quant(x, float(np.float32(a)), float(np.float32(b)), 4, True), attr=None, types=["f32"])
case("FakeQuantWithMinMaxVarsPerChannel", [X(3, 2, t="f32"), ("const", "f32", [-1.1, -0.6]), ("const", "f32", [0.7, 1.95])], {},
     lambda c, x, a, b: np.stack([fake_quant(x[:, i], float(np.float32(a[i])), float(np.float32(b[i]))) for i in range(2)], 1), attr=None, types=["f32"])
print("# %d cases. Written by make_cases.py: do not edit." % COUNT[0])
