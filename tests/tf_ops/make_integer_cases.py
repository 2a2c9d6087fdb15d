#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes integer_cases.txt: arithmetic ops with the integer types that TensorFlow's registry allows, and ops of all types with the
types that make_cases.py leaves out. Usage: as make_cases.py.

Quotients, means and roots of integers are truncated; sums keep the type.
"""
import numpy as np
from case_text import *
from case_windows import conv, conv_backprop, pool

INTEGERS = ["int", "uint"]


def trunc(x):
    return np.trunc(np.asarray(x, np.float64)).astype(np.int64)


def whole(x):
    """Sums that numpy computed exactly in f64."""
    return np.rint(x).astype(np.int64)


# --- Matmuls.
case("BatchMatMul", [X(2, 3, 5), X(2, 5, 4)], {}, lambda c, a, b: a @ b, only=INTEGERS)
case("BatchMatMul", [X(2, 5, 3), X(2, 4, 5)], {"adj_x": B(1), "adj_y": B(1)},
     lambda c, a, b: np.swapaxes(b @ a, 1, 2), "adj_x adj_y", only=INTEGERS)
case("BatchMatMulV2", [X(2, 1, 5, 3), X(4, 5, 2)], {"adj_x": B(1)}, lambda c, a, b: np.swapaxes(a, 2, 3) @ b, only=INTEGERS)
case("Einsum", [X(2, 3, 2), X(2, 4)], {"equation": S("abc,cd->adb"), "N": I(2)},
     lambda c, a, b: np.einsum("abc,cd->adb", a, b), types=SIGNED + UNSIGNED)
case("Einsum", [X(3, 5)], {"equation": S("ab->ba"), "N": I(1)}, lambda c, a: a.T, "transpose", types=SIGNED + UNSIGNED)

# --- Convolutions and pools.
EXPLICIT = ((1, 0), (2, 1))
for padding in ["SAME", "VALID", "EXPLICIT"]:
    p = EXPLICIT if padding == "EXPLICIT" else padding
    a = {"strides": L(1, 2, 1, 1), "padding": S(padding)}
    n = {"strides": L(1, 1, 2, 1), "padding": S(padding), "data_format": S("NCHW")}
    if padding == "EXPLICIT":
        a["explicit_paddings"] = L(0, 0, 1, 0, 2, 1, 0, 0)
        n["explicit_paddings"] = L(0, 0, 0, 0, 1, 0, 2, 1)
    case("Conv2D", [X(1, 7, 6, 3), X(3, 2, 3, 4)], a, lambda c, x, w, p=p: whole(conv(x, w, (2, 1), p)), padding, only=INTEGERS)
    case("Conv2D", [X(1, 3, 7, 6), X(3, 2, 3, 4)], n,
         lambda c, x, w, p=p: whole(np.transpose(conv(np.transpose(x, (0, 2, 3, 1)), w, (2, 1), p), (0, 3, 1, 2))),
         padding + " NCHW", only=INTEGERS)
case("Conv2D", [X(1, 1, 3, 1), ("const", "s32", [[[[2**31 - 1]], [[2]], [[1 - 2**31]]]])], {"strides": L(1, 1, 1, 1), "padding": S("VALID")},
     lambda c, x, w: whole(conv(x, w, (1, 1), "VALID")).astype(np.int32).astype(np.int64), "sums that wrap around", only=INTEGERS)
for padding, dy in [("SAME", (1, 4, 3, 4)), ("VALID", (1, 3, 2, 4))]:
    case("Conv2DBackpropInput", [I32([1, 7, 5, 3]), X(3, 2, 3, 4), X(*dy)], {"strides": L(1, 2, 2, 1), "padding": S(padding)},
         lambda c, s, w, y, p=padding: whole(conv_backprop(list(s), w, y, (2, 2), p)), padding, only=INTEGERS)
for padding in ["SAME", "VALID"]:
    case("MaxPoolV2", [X(1, 7, 6, 3), I32([1, 3, 2, 1]), I32([1, 2, 2, 1])], {"padding": S(padding)},
         lambda c, x, k, s, p=padding: whole(pool(x, (3, 2), (2, 2), p, "max")), padding, only=INTEGERS)
case("MaxPool", [("in", "signed", [1, 7, 6, 3])], {"ksize": L(1, 3, 2, 1), "strides": L(1, 2, 1, 1), "padding": S("SAME")},
     lambda c, x: whole(pool(x, (3, 2), (2, 1), "SAME", "max")), "padded", only=INTEGERS)
case("BiasAdd", [X(2, 3, 4, 5), X(5)], {}, lambda c, x, b: x + b, only=INTEGERS)
case("BiasAdd", [X(2, 5, 3, 4), X(5)], {"data_format": S("NCHW")}, lambda c, x, b: x + b[:, None, None], "NCHW", only=INTEGERS)
case("BiasAddV1", [X(3, 5), X(5)], {}, lambda c, x, b: x + b, only=INTEGERS)

# --- Arithmetic.
for op in ["Inv", "Reciprocal"]:
    case(op, [("const", "$T", [1, -1, 2, -3, 7])], {}, lambda c, x: trunc(1 / x), only=["int"])
for t in UNSIGNED:
    case("Invert", [X(3, 5)], {}, lambda c, x, t=t: np.array([2**int(t[1:]) - 1 - int(v) for v in x.ravel()], dtype=object).reshape(x.shape),
         t, types=[t])
case("RealDiv", [X(3, 1, 5), P(4, 5)], {}, lambda c, a, b: trunc(a / b), only=INTEGERS)
case("Sub", [("const", "$T", [[6, 7, 6, 8, 9]]), X(3, 5)], {}, lambda c, a, b: a - b, only=["uint"])
case("AccumulateNV2", [X(3, 5), X(3, 5)], {"N": I(2), "shape": ("shape", (3, 5))}, lambda c, *x: sum(x), skip=["f32"])

# --- Reductions.
case("Mean", [X(2, 3, 5), I32([0, -1])], dict(S32), lambda c, x, a: trunc(x.sum((0, 2)) / 10), only=INTEGERS)
case("Mean", [X(2, 3, 5), I32(1)], dict(S32, keep_dims=B(1)), lambda c, x, a: trunc(x.sum(1, keepdims=True) / 3), "keep_dims",
     only=INTEGERS)
case("Mean", [X(2, 3, 5, 4), I32([1, 2])], dict(S32), lambda c, x, a: trunc(x.sum((1, 2)) / 15), "of images", only=INTEGERS)
case("EuclideanNorm", [X(2, 3, 5), I32([1])], dict(S32), lambda c, x, a: trunc(np.sqrt((x * x).sum(1))), only=INTEGERS)

# --- Data movement.
case("IdentityN", [X(2, 3), X(4, how="positive", t="s32")], {"T": ("types", ["$T", "s32"])}, lambda c, a, b: [a, b], attr=None,
     types=["f64", "f16", "bf16"] + SIGNED + UNSIGNED + ["bool"])
case("ParallelDynamicStitch", [I32([0, 3]), I32([[2, 1, 4]]), X(2, 2), X(1, 3, 2)], {"N": I(2)},
     lambda c, i, j, a, b: np.stack([a[0], b[0][1], b[0][0], a[1], b[0][2]]), skip=["f32"])
case("TensorScatterAdd", [X(5, 2), I32([[4], [4]]), X(2, 2)], {"Tindices": TY("s32")},
     lambda c, x, i, u: np.concatenate([x[:4], x[4:] + u.sum(0)]), skip=["bool"], only=["uint"])
for op, counts in [("Unique", []), ("UniqueWithCounts", [np.array([2, 2, 1])])]:
    case(op, [("const", "$T", [3, 1, 3, 2, 1])], {}, lambda c, x, n=counts: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1])] + n,
         skip=["bool"] + (["f32", "s32"] if counts else FLOATS + SIGNED + UNSIGNED))
    case(op, [("const", "$T", [1, 0, 1, 1])], {}, lambda c, x, n=counts: [np.array([1, 0]), np.array([0, 1, 0, 0])] +
         ([np.array([3, 1])] if n else []), types=["bool"])
case("UniqueV2", [("const", "$T", [3, 1, 3, 2, 1]), I64(np.zeros(0))], {"Taxis": TY("s64")},
     lambda c, x, a: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1])], skip=["bool", "f32", "s32"])
print("# %d cases. Written by make_integer_cases.py: do not edit." % COUNT[0])
