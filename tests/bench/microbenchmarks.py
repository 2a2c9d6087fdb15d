# SPDX-License-Identifier: Apache-2.0
"""Microbenchmarks of kernels: nodes with the sizes of the models of dev bench. $T is replaced by each type.

The measured node is the producer of the output. After a convolution its input has the layout that convolutions prefer, else a plain layout.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Microbenchmark:
    name: str
    graph: str
    types: tuple = ("f32", "bf16")

    def text(self, element):
        return self.graph.replace("$T", element)


def after_conv(channels, size, node, batch=1):
    """`node` of y, the output of a small convolution."""
    return f"graph (x: $T[{batch},8,{size},{size}]) {{ w = const $T[{channels},8,1,1]  y = conv(x, w)  return {node} }}"


def of_plain(dims, node, constants=""):
    return f"graph (y: $T[{dims}]) {{ {constants} return {node} }}"


def depthwise(channels, size, kernel, stride, activation=""):
    fused = f', activation="{activation}"' if activation else ""
    return (f"graph (x: $T[1,8,{size},{size}]) {{ v = const $T[{channels},8,1,1]  y = conv(x, v)  w = const $T[{channels},1,{kernel},{kernel}]  "
            f"b = const $T[{channels}]  return conv(y, w, b) {{group={channels}, strides=[{stride},{stride}], "
            f"pads=[{kernel // 2},{kernel // 2},{kernel // 2},{kernel // 2}]{fused}}} }}")


def dense(inputs, channels, size, kernel, activation):
    pad = kernel // 2
    return (f"graph (x: $T[1,8,{size},{size}]) {{ v = const $T[{inputs},8,1,1]  y = conv(x, v)  w = const $T[{channels},{inputs},{kernel},{kernel}]  "
            f"b = const $T[{channels}]  return conv(y, w, b) {{pads=[{pad},{pad},{pad},{pad}], activation=\"{activation}\"}} }}")


def int8_depthwise(channels, size, kernel, stride):
    """Channels last: no kernel needs a reorder."""
    out, pad = (size - 1) // stride + 1, kernel // 2
    return (f"graph (x: $T[1,{size},{size},{channels}]{{0.02, 0}}) {{ w: s8[{channels},1,{kernel},{kernel}]{{0.01, 0}} = const s8[{channels},1,{kernel},{kernel}] uniform(-127, 127)  "
            f"b = const f32[{channels}]  y: $T[1,{out},{out},{channels}]{{0.05, 0}} = conv(x, w, b) {{layout=\"NHWC\", group={channels}, strides=[{stride},{stride}], "
            f"pads=[{pad},{pad},{pad},{pad}], activation=\"relu6\"}}  return y }}")


def int8_matmul(rows, depth, columns, activation=""):
    fused = f', activation="{activation}"' if activation else ""
    return (f"graph (x: $T[{rows},{depth}]{{0.02, 0}}) {{ w: s8[{columns},{depth}]{{0.01, 0}} = const s8[{columns},{depth}] uniform(-127, 127)  "
            f"b = const f32[{columns}]  y: $T[{rows},{columns}]{{2.0, 0}} = matmul(x, w, b) {{transpose_b=true{fused}}}  return y }}")


def max_pool(channels, size, given, stands_for):
    """Channels last, of type `given` with scale and zero point `stands_for`."""
    out = size // 2
    return (f"graph (x: {given}[1,{size},{size},{channels}]{stands_for}) {{ y: {given}[1,{out},{out},{channels}]{stands_for} = max_pool(x) "
            f"{{layout=\"NHWC\", kernel=[2,2], strides=[2,2]}}  return y }}")


def concat(size, *channels):
    """Channels last in and out, as between convolutions: no kernel saves a reorder that a network would not have."""
    weights = "  ".join(f"w{i} = const $T[{c},8,1,1]  y{i} = conv(x, w{i}) {{layout=\"NHWC\"}}" for i, c in enumerate(channels))
    parts = ", ".join(f"y{i}" for i in range(len(channels)))
    return f"graph (x: $T[1,{size},{size},8]) {{ {weights}  return concat({parts}, 3) }}"


def channel_shuffle(channels, size):
    """Of two groups; channels last as above."""
    return (f"graph (x: $T[1,{size},{size},8]) {{ w = const $T[{channels},8,1,1]  y = conv(x, w) {{layout=\"NHWC\"}}  "
            f"return transpose(reshape(y, [1,{size},{size},2,{channels // 2}]), [0,1,2,4,3]) }}")


MICROBENCHMARKS = [
    Microbenchmark("swish 32x112x112", after_conv(32, 112, "swish(y)")),
    Microbenchmark("swish 96x56x56", after_conv(96, 56, "swish(y)")),
    *[Microbenchmark(f"{name} 96x56x56", after_conv(96, 56, f"{node}"))
      for name, node in (("relu", "relu(y)"), ("clip", "clip(y, -1.0:$T, 1.0:$T)"), ("hard swish", "hard_swish(y)"), ("sigmoid", "sigmoid(y)"), ("tanh", "tanh(y)"))],
    Microbenchmark("sigmoid 480x1x1", of_plain("1,480,1,1", "sigmoid(y)")),
    Microbenchmark("gelu 128x3072", of_plain("1,128,3072", "gelu(y)")),
    Microbenchmark("tanh 128x3072", of_plain("1,128,3072", "tanh(y)")),
    Microbenchmark("tanh 1x768", of_plain("1,768", "tanh(y)")),
    Microbenchmark("softmax 12x128x128", of_plain("1,12,128,128", "softmax(y) {axis=-1}")),
    Microbenchmark("softmax 1000", of_plain("1,1000", "softmax(y) {axis=-1}")),
    Microbenchmark("layer norm 128x768", of_plain("1,128,768", "layer_norm(y, s, o)", "s = const $T[768]  o = const $T[768] ")),
    *[Microbenchmark(f"attention of {h} heads, {n} steps, 64", f"graph (q: $T[1,{h},{n},64], k: $T[1,{h},{n},64], v: $T[1,{h},{n},64], m: $T[1,1,1,{n}]) {{ "
           "return scaled_dot_product_attention(q, k, v, m) }") for h, n in ((12, 8), (12, 16), (12, 32), (12, 64), (12, 128), (12, 512), (12, 1024))],
    Microbenchmark("concat 64+32 at 28x28", concat(28, 64, 32)),
    Microbenchmark("concat 256+320+128+128 at 14x14", concat(14, 256, 320, 128, 128)),
    Microbenchmark("max pool 3x3/2 64x112x112", after_conv(64, 112, "max_pool(y) {kernel=[3,3], strides=[2,2], pads=[1,1,1,1]}")),
    Microbenchmark("max pool 3x3/1 256x28x28", after_conv(256, 28, "max_pool(y) {kernel=[3,3], pads=[1,1,1,1]}")),
    Microbenchmark("average pool 3x3/1 192x35x35", after_conv(192, 35, "average_pool(y) {kernel=[3,3], pads=[1,1,1,1]}")),
    Microbenchmark("average pool 2x2/2 128x56x56", after_conv(128, 56, "average_pool(y) {kernel=[2,2], strides=[2,2]}")),
    Microbenchmark("global average pool 1280x7x7", after_conv(1280, 7, "global_average_pool(y)")),
    Microbenchmark("depthwise 3x3/1 32x112x112 relu6", depthwise(32, 112, 3, 1, "relu6")),
    Microbenchmark("depthwise 3x3/1 144x56x56 relu6", depthwise(144, 56, 3, 1, "relu6")),
    Microbenchmark("depthwise 3x3/1 144x56x56 swish", depthwise(144, 56, 3, 1, "swish")),
    Microbenchmark("depthwise 5x5/1 672x14x14 swish", depthwise(672, 14, 5, 1, "swish")),
    *[Microbenchmark(f"convolution {k}x{k} {i} to {c} at {n}x{n} swish", dense(i, c, n, k, "swish"))
      for k, i, c, n in ((1, 16, 96, 112), (1, 40, 240, 28), (1, 112, 672, 14), (3, 64, 64, 56))],
    *[Microbenchmark(f"convolution 3x3 64 to 64 at 56x56 {activation}", dense(64, 64, 56, 3, activation)) for activation in ("hard_swish", "tanh")],
    *[Microbenchmark(f"convolution 1x1 {i} to {c} at {n}x{n}, weights from memory", dense(i, c, n, 1, activation))
      for i, c, n, activation in ((1024, 256, 14, "relu"), (256, 1024, 14, "relu"), (2048, 512, 7, "relu"), (512, 2048, 7, "relu"), (1024, 512, 14, "relu"),
                                  (832, 384, 7, "relu"), (512, 1000, 13, "relu"))],
    *[Microbenchmark(f"matmul {m} x {k} x {n}, weights from memory", f"graph (x: $T[{m},{k}]) {{ w = const $T[{n},{k}]  b = const $T[{n}]  "
           "return gemm(x, w, b) {transpose_b=true} }")
      for m, k, n in ((1, 2048, 1000), (1, 1024, 1000), (1, 4096, 4096), (4, 768, 3072), (8, 3072, 768), (16, 768, 3072), (128, 768, 3072))],
    *[Microbenchmark(f"int8 matmul {m} x {k} x {n}, weights from memory", int8_matmul(m, k, n), ("u8", "s8"))
      for m, k, n in ((1, 2048, 1000), (1, 4096, 4096), (4, 768, 3072), (8, 3072, 768), (16, 768, 3072), (64, 768, 3072), (128, 768, 768), (128, 768, 3072),
                      (128, 3072, 768), (256, 768, 3072))],
    Microbenchmark("int8 matmul 128 x 768 x 3072 gelu, weights from memory", int8_matmul(128, 768, 3072, "gelu"), ("u8", "s8")),
    Microbenchmark("depthwise 5x5/1 120x28x28 hard swish", depthwise(120, 28, 5, 1, "hard_swish")),
    Microbenchmark("depthwise 3x3/2 96x112x112", depthwise(96, 112, 3, 2)),
    *[Microbenchmark(f"int8 depthwise {k}x{k}/{s} {c}x{n}x{n} relu6", int8_depthwise(c, n, k, s), ("u8", "s8"))
      for k, s, c, n in ((3, 1, 32, 112), (3, 2, 96, 112), (3, 1, 144, 56), (3, 1, 576, 14), (3, 1, 960, 7), (5, 1, 240, 28), (5, 2, 672, 14))],
    *[Microbenchmark(f"max pool 2x2/2 {c}x{n}x{n} channels last", max_pool(c, n, "$T", ""), ("f32",)) for c, n in ((16, 224), (32, 112))],
    *[Microbenchmark(f"int8 max pool 2x2/2 {c}x{n}x{n}", max_pool(c, n, "$T", "{0.02, 0}"), ("u8", "s8")) for c, n in ((16, 224), (32, 112))],
    Microbenchmark("add 256x56x56", after_conv(256, 56, "add(y, y)")),
    Microbenchmark("batch norm 256x28x28", after_conv(256, 28, "batch_norm(y, s, s, s, v)").replace(
        "return", "s = const $T[256]  v = exp(s)  return")),
    Microbenchmark("channel shuffle 116x28x28", channel_shuffle(116, 28)),
]
