# SPDX-License-Identifier: Apache-2.0
"""The patterns of dev bench --fusions: an unfused and a fused graph each, with shapes of real models. All of it is data.

Both graphs of a pattern have the same inputs, constants and output; $T is replaced by each type. Steps of values named "given..." are not
counted: they set the layout of inputs (after a convolution, the layout that convolutions prefer).
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Fusion:
    pattern: str
    shapes: str
    inputs: str
    constants: str
    unfused: str  # lines, the last one "return ..."
    fused: str
    types: tuple = ("f32", "bf16")

    def graphs(self, element):
        """The unfused graph, then the fused one."""
        return [f"graph ({self.inputs}) {{ {self.constants}\n{body} }}".replace("$T", element) for body in (self.unfused, self.fused)]


GELU = "d = div({x}, 1.4142135:$T)  e = erf(d)  f = add(e, 1.0:$T)  g = mul({x}, f)  y = mul(g, 0.5:$T)"
GELU_TANH = ("p = pow({x}, 3.0:$T)  q = mul(p, 0.044715:$T)  s = add({x}, q)  t = mul(s, 0.7978846:$T)  u = tanh(t)  v = add(u, 1.0:$T)  "
             "h = mul({x}, 0.5:$T)  y = mul(h, v)")
LAYER_NORM = ("m = reduce_mean(x, [2])  d = sub(x, m)  q = mul(d, d)  v = reduce_mean(q, [2])  e = add(v, 0.00001:$T)  r = sqrt(e)  "
              "n = div(d, r)  t = mul(n, s)  y = add(t, o)")
INSTANCE_NORM = ("m = reduce_mean(x, [2, 3])  d = sub(x, m)  q = mul(d, d)  v = reduce_mean(q, [2, 3])  e = add(v, 0.00001:$T)  r = sqrt(e)  "
                 "n = div(d, r)  t = mul(n, s4)  y = add(t, o4)")


def conv(pattern, unfused, fused, channels=64, size=56, kernel=3, more="", attributes="", residual=False, types=("f32", "bf16")):
    """`unfused` and `fused` read the convolution's operands x, w, b; {a}: its attributes."""
    pad = kernel // 2
    a = f"pads=[{pad},{pad},{pad},{pad}]{attributes}"
    inputs = f"i: $T[1,8,{size},{size}]" + (f", j: $T[1,8,{size},{size}]" if residual else "")
    constants = (f"g = const $T[{channels},8,1,1]  given = conv(i, g)  w = const $T[{channels},{1 if 'group' in attributes else channels},"
                 f"{kernel},{kernel}]  b = const $T[{channels}]  {more}")
    if residual:
        constants += f"  k = const $T[{channels},8,1,1]  given_r = conv(j, k)"
    return Fusion(pattern, f"{channels}x{size}x{size}, kernel {kernel}", inputs, constants, unfused.replace("{a}", a), fused.replace("{a}", a), types)


def matmul(pattern, rows, depth, columns, unfused, fused, residual=""):
    inputs = f"x: $T[1,{rows},{depth}]" + (f", r: $T[{residual}]" if residual else "")
    return Fusion(pattern, f"{rows}x{depth} x {depth}x{columns}", inputs, f"w = const $T[{depth},{columns}]  b = const $T[{columns}]", unfused, fused)


def plain(pattern, dims, unfused, fused, constants="", more="", types=("f32", "bf16")):
    return Fusion(pattern, dims.replace(",", "x"), f"x: $T[{dims}]{more}", constants, unfused, fused, types)


def mixed(pattern, shapes, inputs, constants, unfused, fused):
    """A pattern with several types."""
    return Fusion(pattern, shapes, inputs, constants, unfused, fused, ("mixed",))


def after_conv(pattern, channels, size, unfused, fused, constants="", images=1, types=("f32", "bf16")):
    """Elementwise nodes whose inputs are outputs of convolutions: given0, given1, ..."""
    inputs = ", ".join(f"i{k}: $T[1,8,{size},{size}]" for k in range(images))
    given = "  ".join(f"g{k} = const $T[{channels},8,1,1]  given{k} = conv(i{k}, g{k})" for k in range(images))
    return Fusion(pattern, f"{channels}x{size}x{size}", inputs, f"{given}  {constants}", unfused, fused, types)


def attention(heads, steps, head, masked, queries=None):
    mask, more = (", m: $T[1,1,1,{0}]".format(steps), ", m") if masked else ("", "")
    unfused = "a = matmul(q, k) {scale=0.125}  p = softmax(a" + more + ")  y = matmul(p, v)  return y"
    return Fusion("attention: matmul, softmax" + (" with a mask" if masked else "") + ", matmul", f"{heads} heads, {steps} steps, {head}" + (f", {queries} queries" if queries else ""),
                  f"q: $T[1,{heads},{queries or steps},{head}], k: $T[1,{heads},{head},{steps}], v: $T[1,{heads},{steps},{head}]{mask}", "", unfused,
                  "return scaled_dot_product_attention(q, k, v" + more + ") {scale=0.125, k_transposed=true}")


def bert_attention(steps):
    heads = (f"q = transpose(reshape(x, [1,{steps},12,64]), [0,2,1,3])  k = transpose(reshape(z, [1,{steps},12,64]), [0,2,3,1])  "
             f"v = transpose(reshape(u, [1,{steps},12,64]), [0,2,1,3])")
    back = f"return reshape(transpose(y, [0,2,1,3]), [1,{steps},768])"
    return Fusion("attention of BERT with its transposes and mask", f"12 heads, {steps} steps, 64",
                  f"x: $T[1,{steps},768], z: $T[1,{steps},768], u: $T[1,{steps},768], m: $T[1,1,1,{steps}]", heads,
                  f"a = matmul(q, k)  p = softmax(a, m) {{scale=0.125}}  y = matmul(p, v)  {back}",
                  f"y = scaled_dot_product_attention(q, k, v, m) {{scale=0.125, k_transposed=true}}  {back}")


def matmuls(pattern, unfused, fused):
    return Fusion(pattern, "12 x 128x64 x 64x128", "q: $T[1,12,128,64], k: $T[1,12,128,64], m: $T[1,1,1,128]", "", unfused, fused)


def lstm_cell(batch, depth, hidden):
    """One step as a framework expands it, gates in the order of the weights."""
    constants = (f"w = const $T[1,{4 * hidden},{depth}]  r = const $T[1,{4 * hidden},{hidden}]  s = const $T[{4 * hidden}]  "
                 f"b = unsqueeze(concat(s, mul(s, 0.0:$T), 0), [0])  "
                 f"k = concat(transpose(reshape(w, [{4 * hidden},{depth}]), [1,0]), transpose(reshape(r, [{4 * hidden},{hidden}]), [1,0]), 0)")
    return Fusion("lstm cell", f"{batch} rows, {depth} -> {hidden}", f"x: $T[{batch},{depth}], h: $T[{batch},{hidden}], c: $T[{batch},{hidden}]", constants,
                  "i, o, f, j = split(matmul(concat(x, h, 1), k, s), _, 1)  n = add(mul(c, sigmoid(f)), mul(sigmoid(i), tanh(j)))  "
                  "return y=mul(tanh(n), sigmoid(o)), n",
                  "_, y_h, y_c = lstm(unsqueeze(x, [0]), w, r, b, _, unsqueeze(h, [0]), unsqueeze(c, [0]))  "
                  "return y=squeeze(y_h, [0]), n=squeeze(y_c, [0])", ("f32",))


def gru_cell(batch, depth, hidden, attention=False):
    constants = (f"w = const $T[1,{3 * hidden},{depth}]  r = const $T[1,{3 * hidden},{hidden}]  s = const $T[{2 * hidden}]  t = const $T[{hidden}]  "
                 f"b = unsqueeze(concat(s, t, mul(s, 0.0:$T), mul(t, 0.0:$T), 0), [0])  "
                 f"wt = transpose(reshape(w, [{3 * hidden},{depth}]), [1,0])  rt = transpose(reshape(r, [{3 * hidden},{hidden}]), [1,0])  "
                 f"wg, wc = split(wt, [{2 * hidden},{hidden}], 1)  rg, rc = split(rt, [{2 * hidden},{hidden}], 1)  "
                 "k = concat(wg, rg, 0)  l = concat(wc, rc, 0)")
    u, more, read = ("v = mul(sub(1.0:$T, a), u)", f", a: $T[{batch},1]", ", unsqueeze(a, [0])") if attention else ("v = identity(u)", "", "")
    return Fusion("gru cell" + (" with attention" if attention else ""), f"{batch} rows, {depth} -> {hidden}",
                  f"x: $T[{batch},{depth}], h: $T[{batch},{hidden}]{more}", constants,
                  "u, e = split(matmul(concat(x, h, 1), k, s) {activation=\"sigmoid\"}, _, 1)  "
                  "j = matmul(concat(x, mul(e, h), 1), l, t) {activation=\"tanh\"}  " + u + "  return y=add(mul(v, h), mul(sub(1.0:$T, v), j))",
                  f"_, y_h = gru(unsqueeze(x, [0]), w, r, b, _, unsqueeze(h, [0]){read})  return y=squeeze(y_h, [0])", ("f32",))


def linear_gru_cell(batch, depth, hidden):
    """As PyTorch writes its GRUCell; gates u, r, c."""
    constants = (f"w = const $T[1,{3 * hidden},{depth}]  r = const $T[1,{3 * hidden},{hidden}]  s = const $T[{3 * hidden}]  t = const $T[{3 * hidden}]  "
                 f"b = unsqueeze(concat(s, t, 0), [0])  k = transpose(reshape(w, [{3 * hidden},{depth}]), [1,0])  "
                 f"l = transpose(reshape(r, [{3 * hidden},{hidden}]), [1,0])")
    return Fusion("gru cell, reset gate after the matmul", f"{batch} rows, {depth} -> {hidden}", f"x: $T[{batch},{depth}], h: $T[{batch},{hidden}]", constants,
                  "xu, xr, xc = split(matmul(x, k, s), _, 1)  hu, hr, hc = split(matmul(h, l, t), _, 1)  u = sigmoid(add(xu, hu))  e = sigmoid(add(xr, hr))  "
                  "j = tanh(add(xc, mul(e, hc)))  return y=add(mul(sub(h, j), u), j)",
                  "_, y_h = gru(unsqueeze(x, [0]), w, r, b, _, unsqueeze(h, [0])) {linear_before_reset=true}  return y=squeeze(y_h, [0])", ("f32",))


def deconv(pattern, channels, size, kernel, unfused, fused):
    """`unfused` and `fused` read the transposed convolution's operands given, w."""
    return Fusion(pattern, f"{channels}x{size}x{size}, kernel {kernel}", f"i: $T[1,8,{size},{size}]",
                  f"g = const $T[{channels},8,1,1]  given = conv(i, g)  w = const $T[{channels},{channels // 2},{kernel},{kernel}]", unfused, fused)


def same(name, dims):
    """A constant of one number, so that two of them are the same as a larger one."""
    return f"{name} = const $T[{dims}] uniform(0.01, 0.01)"


def grouped_conv(groups, channels, size):
    """A block of ResNeXt as frameworks without grouped convolutions write it."""
    part, pads = channels // groups, "pads=[1,1,1,1]"
    names = [f"p{i}" for i in range(groups)]
    convs = "  ".join(f"c{i} = conv(p{i}, w{i}) {{{pads}}}" for i in range(groups))
    weights = "  ".join([same("w", f"{channels},{part},3,3"), *(same(f"w{i}", f"{part},{part},3,3") for i in range(groups))])
    return Fusion("split, convolutions, concat", f"{channels}x{size}x{size}, {groups} groups", f"i: $T[1,8,{size},{size}]",
                  f"g = const $T[{channels},8,1,1]  given = conv(i, g)  {weights}",
                  f"{', '.join(names)} = split(given, _, 1)  {convs}  return concat({', '.join(n.replace('p', 'c') for n in names)}, 1)",
                  f"return conv(given, w) {{{pads}, group={groups}}}")


def repeated_rows(rows, columns, channels):
    """An image of twice as many rows, as Keras' UpSampling writes it."""
    names = [f"p{i}" for i in range(rows)]
    return Fusion("rows repeated by split and concat", f"{rows}x{columns}x{channels}, channels last", f"x: $T[1,{rows},{columns},{channels}]",
                  f"s = const s32[2] {{{2 * rows}, {columns}}}",
                  f"{', '.join(names)} = split(x, _, 1)  return concat({', '.join(f'{n}, {n}' for n in names)}, 1)",
                  "return resize(x, _, _, s) {axes=[1, 2], mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"}")


FUSIONS = [
    conv("conv + bias", "c = conv(given, w) {{a}}  y = bias_add(c, b)  return y", "return conv(given, w, b) {{a}}"),
    conv("conv + bias + relu", "c = conv(given, w, b) {{a}}  return relu(c)", "return conv(given, w, b) {{a}, activation=\"relu\"}"),
    conv("conv + bias + relu, kernel 1", "c = conv(given, w, b) {{a}}  return relu(c)", "return conv(given, w, b) {{a}, activation=\"relu\"}",
         channels=256, size=14, kernel=1),
    conv("conv + bias + leaky relu as max(x, alpha x)", "c = conv(given, w, b) {{a}}  d = mul(c, 0.125:$T)  return maximum(c, d)",
         "return conv(given, w, b) {{a}, activation=\"leaky_relu\", activation_alpha=0.125}"),
    conv("conv + bias + swish", "c = conv(given, w, b) {{a}}  s = sigmoid(c)  return mul(c, s)", "return conv(given, w, b) {{a}, activation=\"swish\"}"),
    conv("conv + bias + hard swish", "c = conv(given, w, b) {{a}}  return hard_swish(c)", "return conv(given, w, b) {{a}, activation=\"hard_swish\"}"),
    conv("conv + bias + mish", "c = conv(given, w, b) {{a}}  s = softplus(c)  t = tanh(s)  return mul(c, t)",
         "return conv(given, w, b) {{a}, activation=\"mish\"}"),
    conv("depthwise conv + bias + relu6", "c = conv(given, w, b) {{a}}  return relu6(c)", "return conv(given, w, b) {{a}, activation=\"relu6\"}",
         channels=144, attributes=", group=144"),
    conv("conv + bias + residual", "c = conv(given, w, b) {{a}}  return add(c, given_r)", "return conv(given, w, b, given_r) {{a}}", residual=True),
    conv("conv + bias + residual + relu", "c = conv(given, w, b) {{a}}  s = add(c, given_r)  return relu(s)",
         "return conv(given, w, b, given_r) {{a}, activation=\"relu\"}", residual=True),
    conv("conv + bias + relu + residual (activation first)", "c = conv(given, w, b) {{a}, activation=\"relu\"}  return add(c, given_r)",
         "return conv(given, w, b, given_r) {{a}, activation=\"relu\", activation_first=true}", residual=True),
    conv("conv + bias + swish + residual (activation first)", "c = conv(given, w, b) {{a}, activation=\"swish\"}  return add(c, given_r)",
         "return conv(given, w, b, given_r) {{a}, activation=\"swish\", activation_first=true}", residual=True),
    conv("conv + batch norm", "c = conv(given, w, z) {{a}}  return batch_norm(c, s, z, z, s) {epsilon=0.0}", "return conv(given, w, z) {{a}}",
         more=f"s = const $T[64] {{{', '.join(['1'] * 64)}}}  z = const $T[64] {{{', '.join(['0'] * 64)}}}", types=("f32",)),
    conv("batch norm after a concat of convs",
         "c = conv(given, w, z) {{a}}  d = conv(given, v) {{a}}  return batch_norm(concat(c, d, 1), s, o, o, s) {epsilon=0.0}",
         "c = conv(given, w, z) {{a}}  d = conv(given, v, z) {{a}}  return concat(c, d, 1)", size=28,
         more=f"v = const $T[64,64,3,3]  z = const $T[64] {{{', '.join(['0'] * 64)}}}  s = const $T[128] {{{', '.join(['1'] * 128)}}}  "
              f"o = const $T[128] {{{', '.join(['0'] * 128)}}}", types=("f32",)),
    conv("pad + conv", "p = pad(given, [0,0,1,1,0,0,1,1])  return conv(p, w, b)", "return conv(given, w, b) {{a}}"),
    deconv("conv_transpose + crop of a row and a column", 64, 56, 3,
           "c = conv_transpose(given, w) {strides=[2,2]}  return slice(c, [0,0], [-1,-1], [2,3])", "return conv_transpose(given, w) {strides=[2,2], pads=[0,0,1,1]}"),
    deconv("conv_transpose + crop all around", 128, 28, 4,
           "c = conv_transpose(given, w) {strides=[2,2]}  return slice(c, [1,1], [-1,-1], [2,3])", "return conv_transpose(given, w) {strides=[2,2], pads=[1,1,1,1]}"),
    deconv("pad + conv_transpose", 128, 28, 4, "p = pad(given, [0,0,1,1,0,0,1,1])  return conv_transpose(p, w) {strides=[2,2], pads=[3,3,3,3]}",
           "return conv_transpose(given, w) {strides=[2,2], pads=[1,1,1,1]}"),
    Fusion("space to batch, conv, batch to space (dilated)", "56x56x64, channels last, kernel 3", "x: $T[1,56,56,64]",
           "w = const $T[3,3,64,64]  s = const s32[2] {2, 2}  p = const s32[2,2] {2, 2, 2, 2}  c = const s32[2,2] {0, 0, 0, 0}",
           "k = conv(space_to_batch(x, s, p), w) {layout=\"NHWC\", weights_layout=\"HWIO\"}  return batch_to_space(k, s, c)",
           "return conv(x, w) {layout=\"NHWC\", weights_layout=\"HWIO\", dilations=[2,2], pads=[2,2,2,2]}"),
    grouped_conv(4, 128, 28),
    conv("transposes around a conv", "t = transpose(x, [0,3,1,2])  c = conv(t, w, b) {{a}}  return transpose(c, [0,2,3,1])",
         "return conv(x, w, b) {{a}, layout=\"NHWC\"}", more="x = transpose(given, [0,2,3,1])"),
    conv("relu after a concat of convs", "c = conv(given, w, b) {{a}}  d = conv(given, w) {{a}}  return relu(concat(c, d, 1))",
         "c = conv(given, w, b) {{a}, activation=\"relu\"}  d = conv(given, w) {{a}, activation=\"relu\"}  return concat(c, d, 1)", size=28),
    deconv("conv_transpose + bias", 128, 28, 3, "c = conv_transpose(given, w) {strides=[2,2]}  b = const $T[64] uniform(0.5, 0.5)  return bias_add(c, b)",
           "b = const $T[64] uniform(0.5, 0.5)  return conv_transpose(given, w, b) {strides=[2,2]}"),
    repeated_rows(28, 28, 64),
    plain("prelu as relu(x) + slope min(x, 0)", "1,64,56,56", "m = mul(s, minimum(x, 0.0:$T))  return add(relu(x), m)", "return prelu(x, s)",
          "s = const $T[64,1,1]", types=("f32",)),
    matmul("bias after a reshape of a matmul", 128, 768, 768, "return add(reshape(matmul(x, w), [2,64,768]), b)",
          "return reshape(matmul(x, w, b), [2,64,768])"),
    matmul("relu after a reshape of a matmul", 128, 768, 768, "return relu(reshape(matmul(x, w, b), [2,64,768]))",
          "return reshape(matmul(x, w, b) {activation=\"relu\"}, [2,64,768])"),
    matmul("residual - matmul", 128, 768, 768, "return sub(r, matmul(x, w))", "return matmul(x, w, _, r) {scale=-1.0}", residual="1,128,768"),
    matmuls("scaled operand of a matmul", "return matmul(mul(q, 0.125:$T), k) {transpose_b=true}",
             "return matmul(q, k) {transpose_b=true, scale=0.125}"),
    plain("softplus + tanh", "1,96,56,56", "s = softplus(x)  return tanh(s)", "return softplus(x) {activation=\"tanh\"}"),
    plain("softplus + leaky relu", "1,128,768", "s = softplus(x)  return leaky_relu(s) {alpha=0.25}",
          "return softplus(x) {activation=\"leaky_relu\", activation_alpha=0.25}"),
    after_conv("batch norm + relu", 256, 28, "n = batch_norm(given0, s, o, o, v)  return relu(n)",
                "return batch_norm(given0, s, o, o, v) {activation=\"relu\"}", "s = const $T[256]  o = const $T[256]  v = exp(o)"),
    after_conv("swish as x sigmoid(x)", 96, 56, "s = sigmoid(given0)  return mul(given0, s)", "return swish(given0)"),
    after_conv("mish as x tanh(softplus(x))", 96, 56, "s = softplus(given0)  t = tanh(s)  return mul(given0, t)", "return mish(given0)"),
    after_conv("hard swish as x relu6(x + 3) / 6", 96, 56, "a = add(given0, 3.0:$T)  r = relu6(a)  m = mul(given0, r)  return div(m, 6.0:$T)",
                "return hard_swish(given0)"),
    after_conv("hard sigmoid as clip(0.2 x + 0.5, 0, 1)", 96, 56, "m = mul(given0, 0.2:$T)  a = add(m, 0.5:$T)  return clip(a, 0.0:$T, 1.0:$T)",
                "return hard_sigmoid(given0)"),
    after_conv("clip as minimum and maximum", 96, 56, "m = maximum(given0, 0.5:$T)  return minimum(m, 4.0:$T)", "return clip(given0, 0.5:$T, 4.0:$T)"),
    after_conv("relu as maximum", 96, 56, "return maximum(given0, 0.0:$T)", "return relu(given0)"),
    after_conv("channel shuffle", 58, 28,
                "c = concat(given0, given1, 1)  a = reshape(c, [1,2,58,28,28])  t = transpose(a, [0,2,1,3,4])  return reshape(t, [1,116,28,28])",
                "a = unsqueeze(given0, [2])  c = unsqueeze(given1, [2])  t = concat(a, c, 2)  return reshape(t, [1,116,28,28])", images=2),
    after_conv("add + add + relu", 256, 56, "a = add(given0, given1)  c = add(a, given2)  return relu(c)",
                "return binary_chain(given0, given1, given2) {ops=[\"add\", \"add\"], activation=\"relu\"}", images=3),
    after_conv("add + add + relu, small", 64, 14, "a = add(given0, given1)  c = add(a, given2)  return relu(c)",
                "return binary_chain(given0, given1, given2) {ops=[\"add\", \"add\"], activation=\"relu\"}", images=3),
    after_conv("mul + add, one a channel", 256, 28, "a = mul(given0, s)  return add(a, o)",
                "return binary_chain(given0, s, o) {ops=[\"mul\", \"add\"]}", "s = const $T[256,1,1]  o = const $T[256,1,1]"),
    plain("mul + add, one a column", "1,128,768", "a = mul(x, s)  return add(a, o)", "return binary_chain(x, s, o) {ops=[\"mul\", \"add\"]}",
          "s = const $T[768]  o = const $T[768]"),
    plain("sub + mul, one a channel of three", "1,224,224,3", "a = sub(x, s)  return mul(a, o)", "return binary_chain(x, s, o) {ops=[\"sub\", \"mul\"]}",
          "s = const $T[3]  o = const $T[3]"),
    plain("mul + add, one a channel of 24", "1,112,112,24", "a = mul(x, s)  return add(a, o)", "return binary_chain(x, s, o) {ops=[\"mul\", \"add\"]}",
          "s = const $T[24]  o = const $T[24]"),
    plain("sub + mul + add of scalars", "1,3,224,224", "a = sub(x, 0.5:$T)  c = mul(a, 4.5:$T)  return add(c, 0.25:$T)",
          "return binary_chain(x, 0.5:$T, 4.5:$T, 0.25:$T) {ops=[\"sub\", \"mul\", \"add\"]}"),
    plain("add + relu", "1,256,28,28", "a = add(x, z)  return relu(a)", "return binary_chain(x, z) {ops=[\"add\"], activation=\"relu\"}",
          more=", z: $T[1,256,28,28]"),
    plain("add + relu, general broadcast", "64,1,56,17", "a = add(x, z)  return relu(a)", "return binary_chain(x, z) {ops=[\"add\"], activation=\"relu\"}",
          more=", z: $T[1,32,56,1]"),
    plain("gelu", "1,128,3072", GELU.format(x="x") + "  return y", "return gelu(x)"),
    plain("gelu by tanh", "1,128,3072", GELU_TANH.format(x="x") + "  return y", "return gelu(x) {approximate=\"tanh\"}"),
    plain("layer norm", "1,128,768", LAYER_NORM + "  return y", "return layer_norm(x, s, o)", "s = const $T[768]  o = const $T[768]"),
    plain("instance norm", "1,64,56,56", INSTANCE_NORM + "  return y", "return instance_norm(x, s, o)",
          "s = const $T[64]  o = const $T[64]  s4 = reshape(s, [64,1,1])  o4 = reshape(o, [64,1,1])"),
    plain("instance norm + relu", "1,64,56,56", "n = instance_norm(x, s, o)  return relu(n)", "return instance_norm(x, s, o) {activation=\"relu\"}",
          "s = const $T[64]  o = const $T[64]"),
    plain("instance norm + leaky relu", "1,64,56,56", "n = instance_norm(x, s, o)  return leaky_relu(n)",
          "return instance_norm(x, s, o) {activation=\"leaky_relu\"}", "s = const $T[64]  o = const $T[64]"),
    plain("scale + softmax", "1,12,128,128", "a = mul(x, 0.125:$T)  return softmax(a)", "return softmax(x) {scale=0.125}"),
    plain("add + softmax", "1,12,128,128", "a = add(x, m)  return softmax(a)", "return softmax(x, m)", more=", m: $T[1,1,1,128]"),
    plain("comparison + cast", "1,256,56,56", "c = greater(x, 0.125:$T)  y: $T[1,256,56,56] = cast(c)  return y",
          "y: $T[1,256,56,56] = greater(x, 0.125:$T)  return y"),
    plain("l2 loss of two + add", "512,512", "a = l2_loss(x)  c = l2_loss(z)  return add(a, c)", "return l2_loss(x, z)", more=", z: $T[2048,128]"),
    matmul("matmul + bias", 128, 768, 768, "m = matmul(x, w)  return add(m, b)", "return matmul(x, w, b)"),
    matmul("matmul + bias + relu", 128, 768, 3072, "m = matmul(x, w, b)  return relu(m)", "return matmul(x, w, b) {activation=\"relu\"}"),
    matmul("matmul + bias + relu, one row", 1, 2048, 1000, "m = matmul(x, w, b)  return relu(m)", "return matmul(x, w, b) {activation=\"relu\"}"),
    matmul("matmul + bias + gelu", 128, 768, 3072, "m = matmul(x, w, b)  " + GELU.format(x="m") + "  return y", "return matmul(x, w, b) {activation=\"gelu\"}"),
    matmul("matmul + bias + gelu (one node)", 128, 768, 3072, "m = matmul(x, w, b)  return gelu(m)", "return matmul(x, w, b) {activation=\"gelu\"}"),
    matmul("matmul + bias + gelu by tanh (one node)", 128, 768, 3072, "m = matmul(x, w, b)  return gelu(m) {approximate=\"tanh\"}",
          "return matmul(x, w, b) {activation=\"gelu_tanh\"}"),
    matmul("matmul + bias + tanh, one row", 1, 768, 768, "m = matmul(x, w, b)  return tanh(m)", "return matmul(x, w, b) {activation=\"tanh\"}"),
    matmul("matmul + bias + residual", 128, 3072, 768, "m = matmul(x, w, b)  return add(m, r)", "return matmul(x, w, b, r)", residual="1,128,768"),
    matmul("matmul + bias + residual + relu", 128, 768, 768, "m = matmul(x, w, b)  a = add(m, r)  return relu(a)",
          "return matmul(x, w, b, r) {activation=\"relu\"}", residual="1,128,768"),
    matmul("matmul + bias + relu + residual (activation first)", 128, 768, 768, "m = matmul(x, w, b) {activation=\"relu\"}  return add(m, r)",
          "return matmul(x, w, b, r) {activation=\"relu\", activation_first=true}", residual="1,128,768"),
    matmul("matmul + bias + swish + residual (activation first)", 512, 256, 256, "m = matmul(x, w, b) {activation=\"swish\"}  return add(m, r)",
          "return matmul(x, w, b, r) {activation=\"swish\", activation_first=true}", residual="1,512,256"),
    matmuls("scale after a matmul", "a = matmul(q, k) {transpose_b=true}  return mul(a, 0.125:$T)", "return matmul(q, k) {transpose_b=true, scale=0.125}"),
    matmuls("scale and broadcast addend after a matmul", "a = matmul(q, k) {transpose_b=true}  c = mul(a, 0.125:$T)  return add(c, m)",
             "return matmul(q, k, _, m) {transpose_b=true, scale=0.125}"),
    matmuls("broadcast addend after a matmul", "a = matmul(q, k) {transpose_b=true}  return add(a, m)", "return matmul(q, k, _, m) {transpose_b=true}"),
    Fusion("matrix addend after a batched matmul", "12 x 128x64 x 64x128", "q: $T[1,12,128,64], k: $T[1,12,128,64], m: $T[128,128]", "",
           "a = matmul(q, k) {transpose_b=true}  return add(a, m)", "return matmul(q, k, _, m) {transpose_b=true}"),
    Fusion("row addend after a matmul", "12 x 128x64 x 64x128", "q: $T[1,12,128,64], k: $T[1,12,128,64], m: $T[1,12,128,1]", "",
           "a = matmul(q, k) {transpose_b=true}  c = add(a, m)  return relu(c)", "return matmul(q, k, _, m) {transpose_b=true, activation=\"relu\"}"),
    matmul("matmul + bias + residual of one row", 128, 768, 768, "m = matmul(x, w, b)  return add(m, r)", "return matmul(x, w, b, r)", residual="768"),
    *[attention(12, steps, 64, masked) for steps in (16, 32, 64, 128, 512, 1024) for masked in (False, True)],
    attention(1, 49, 32, False), attention(8, 256, 40, False), attention(12, 8, 64, False), attention(12, 128, 64, True, queries=1),
    attention(12, 128, 64, True, queries=8),
    *[bert_attention(steps) for steps in (128, 512)],
    *[lstm_cell(*sizes) for sizes in ((1, 28, 128), (1, 256, 512), (64, 28, 128))],
    *[gru_cell(*sizes) for sizes in ((1, 28, 128), (1, 256, 512), (64, 28, 128))], gru_cell(64, 36, 36, attention=True),
    *[linear_gru_cell(*sizes) for sizes in ((1, 28, 128), (1, 256, 512), (64, 28, 128))],
    # Several types in a node: the unfused graph has a cast. The last node of both graphs consumes the result.
    *[mixed(f"{name}, f32 out", f"{rows}x{depth} x {depth}x{columns}", f"x: bf16[{rows},{depth}]", f"w = const bf16[{depth},{columns}]",
            f"m = matmul(x, w)  c: f32[{rows},{columns}] = cast(m)  return relu(c)", f"m: f32[{rows},{columns}] = matmul(x, w)  return relu(m)")
      for name, rows, depth, columns in (("matmul of bf16", 128, 768, 768), ("matmul of bf16", 1, 2048, 1000), ("matmul of bf16", 512, 256, 1024))],
    mixed("conv of bf16, f32 out", "64x56x56, kernel 3", "i: bf16[1,8,56,56]",
          "g = const bf16[64,8,1,1]  given = conv(i, g)  w = const bf16[64,64,3,3]",
          "m = conv(given, w) {pads=[1,1,1,1]}  c: f32[1,64,56,56] = cast(m)  return relu(c)",
          "m: f32[1,64,56,56] = conv(given, w) {pads=[1,1,1,1]}  return relu(m)"),
    mixed("conv of bf16 + residual of f32", "64x56x56, kernel 3", "i: bf16[1,8,56,56], j: f32[1,8,56,56]",
          "g = const bf16[64,8,1,1]  given = conv(i, g)  k = const f32[64,8,1,1]  given_r = conv(j, k)  w = const bf16[64,64,3,3]",
          "r: bf16[1,64,56,56] = cast(given_r)  return conv(given, w, _, r) {pads=[1,1,1,1]}",
          "m: bf16[1,64,56,56] = conv(given, w, _, given_r) {pads=[1,1,1,1]}  return m"),
    mixed("matmul of bf16 + residual of f32", "128x768 x 768x768", "x: bf16[128,768], r: f32[128,768]", "w = const bf16[768,768]",
          "s: bf16[128,768] = cast(r)  return matmul(x, w, _, s)", "m: bf16[128,768] = matmul(x, w, _, r)  return m"),
    mixed("softmax of bf16, f32 out", "128x1000", "x: bf16[128,1000]", "", "s = softmax(x)  c: f32[128,1000] = cast(s)  return relu(c)",
          "s: f32[128,1000] = softmax(x)  return relu(s)"),
    mixed("layer norm of bf16, f32 out", "128x768", "x: bf16[128,768]", "s = const bf16[768]  o = const bf16[768]",
          "n = layer_norm(x, s, o)  c: f32[128,768] = cast(n)  return relu(c)", "n: f32[128,768] = layer_norm(x, s, o)  return relu(n)"),
    *[mixed("matmul of f32 in bf16 math mode", f"{rows}x{depth} x {depth}x{columns}", f"x: f32[{rows},{depth}]", f"w = const f32[{depth},{columns}]",
            f"a: bf16[{rows},{depth}] = cast(x)  v: bf16[{depth},{columns}] = cast(w)  m: f32[{rows},{columns}] = matmul(a, v)  return m",
            "return matmul(x, w) {math_mode=\"bf16\"}")
      for rows, depth, columns in ((128, 768, 768), (1, 2048, 1000), (512, 256, 1024), (8, 64, 64))],
    *[mixed("conv of f32 in bf16 math mode", f"{channels}x{size}x{size}, kernel 3", f"i: f32[1,8,{size},{size}]",
            f"g = const f32[{channels},8,1,1]  given = conv(i, g)  w = const f32[{channels},{channels},3,3]",
            f"a: bf16[1,{channels},{size},{size}] = cast(given)  v: bf16[{channels},{channels},3,3] = cast(w)  "
            f"m: f32[1,{channels},{size},{size}] = conv(a, v) {{pads=[1,1,1,1]}}  return m",
            "return conv(given, w) {pads=[1,1,1,1], math_mode=\"bf16\"}")
      for channels, size in ((64, 56), (256, 14), (8, 7))],
]
