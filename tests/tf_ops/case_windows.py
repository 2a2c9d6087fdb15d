# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools in numpy. Computes in NHWC; NCHW cases are transposed."""
import itertools
import numpy as np
from case_text import L, S, U, case


def pads_of(size, window, stride, padding, dilation=1):
    if not isinstance(padding, str):
        return padding
    if padding == "VALID":
        return 0, 0
    span = (window - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return total // 2, total - total // 2


def windows(x, k, s, padding, d=(1, 1), value=0.0):
    """[n, oh, ow, kh, kw, c]; padding: "SAME", "VALID" or ((top, bottom), (left, right))."""
    n, h, w, c = x.shape
    ph = pads_of(h, k[0], s[0], padding if isinstance(padding, str) else padding[0], d[0])
    pw = pads_of(w, k[1], s[1], padding if isinstance(padding, str) else padding[1], d[1])
    x = np.pad(np.asarray(x, np.float64), ((0, 0), ph, pw, (0, 0)), constant_values=value)
    oh = (x.shape[1] - (k[0] - 1) * d[0] - 1) // s[0] + 1
    ow = (x.shape[2] - (k[1] - 1) * d[1] - 1) // s[1] + 1
    out = np.empty((n, oh, ow, k[0], k[1], c))
    for y, z in itertools.product(range(oh), range(ow)):
        out[:, y, z] = x[:, y * s[0]:y * s[0] + (k[0] - 1) * d[0] + 1:d[0], z * s[1]:z * s[1] + (k[1] - 1) * d[1] + 1:d[1]]
    return out


def conv(x, w, s, padding, d=(1, 1)):
    return np.einsum("nyxhwc,hwco->nyxo", windows(x, w.shape[:2], s, padding, d), w)


def depthwise(x, w, s, padding):
    r = np.einsum("nyxhwc,hwcm->nyxcm", windows(x, w.shape[:2], s, padding), w)
    return r.reshape(r.shape[:3] + (-1,))


def pool(x, k, s, padding, f):
    w = windows(x, k, s, padding, value=np.nan)
    return (np.nanmax if f == "max" else np.nanmean)(w, axis=(3, 4))


def layouts(op, dims, attrs, fn, note="", spatial=("strides", "ksize", "dilations"), rest=(), **kw):
    """The case in NHWC and in NCHW; `spatial`: attributes with one number per dimension."""
    case(op, [U(*dims)] + list(rest), attrs, lambda c, x, *r: fn(x, *r), note, **kw)
    swapped = dict(attrs, data_format=S("NCHW"))
    for name in spatial:
        if name in swapped:
            v = swapped[name][1]
            swapped[name] = L(v[0], v[3], v[1], v[2])
    if "explicit_paddings" in swapped:
        v = swapped["explicit_paddings"][1]
        swapped["explicit_paddings"] = L(*(v[0:2] + v[6:8] + v[2:6]))
    nchw = [dims[0], dims[3], dims[1], dims[2]]

    def in_nchw(c, x, *r):
        y = fn(np.transpose(x, (0, 2, 3, 1)), *r)
        return [np.transpose(o, (0, 3, 1, 2)) if o.ndim == 4 else o for o in y] if isinstance(y, list) else np.transpose(y, (0, 3, 1, 2))
    case(op, [U(*nchw)] + list(rest), swapped, in_nchw, (note + " NCHW").strip(), **kw)


def conv_backprop(shape, w, dy, s, padding):
    """The gradient of conv with regard to its input."""
    n, h, width, c = shape
    ph, pw = (pads_of(h, w.shape[0], s[0], padding), pads_of(width, w.shape[1], s[1], padding))
    dx = np.zeros((n, h + sum(ph), width + sum(pw), c))
    for y, z in itertools.product(range(dy.shape[1]), range(dy.shape[2])):
        dx[:, y * s[0]:y * s[0] + w.shape[0], z * s[1]:z * s[1] + w.shape[1]] += np.einsum("no,hwco->nhwc", dy[:, y, z], w)
    return dx[:, ph[0]:ph[0] + h, pw[0]:pw[0] + width]


def conv3d(x, w, s, padding):
    outs = []
    pd = pads_of(x.shape[1], w.shape[0], s[0], padding)
    x = np.pad(x, ((0, 0), pd, (0, 0), (0, 0), (0, 0)))
    for z in range((x.shape[1] - w.shape[0]) // s[0] + 1):
        outs.append(sum(conv(x[:, z * s[0] + k], w[k], s[1:], padding) for k in range(w.shape[0])))
    return np.stack(outs, 1)
