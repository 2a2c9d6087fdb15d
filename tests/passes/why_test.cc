// SPDX-License-Identifier: Apache-2.0
// What rules say of a pattern that they keep: whole sentences, with the values that were compared.

#include "passes/core/why.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

struct KeptCase {
  std::string_view rule, graph, sentence;
};

constexpr KeptCase kCases[] = {
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[2,2,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO", strides=[2, 1]}  return y=batch_to_space(k, b, p) })",
     "the conv's strides are not 1: [2, 1]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[2,2,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO", dilations=[1, 2]}  return y=batch_to_space(k, b, p) })",
     "the conv already has dilations: [1, 2]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[3,3,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO", pads=[1, 0, 1, 0]}  return y=batch_to_space(k, b, p) })",
     "the conv pads its input, which would pad every block: [1, 0, 1, 0]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[3,3,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER"}
        return y=batch_to_space(k, b, p) })",
     "the conv pads its input, which would pad every block: SAME_UPPER"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,3,8,8]) { w = const f32[4,4,1,1]  b = const s64[2] {1, 2}
        p = const s64[2,2] {0, 1, 0, 0}  c = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w)  return y=batch_to_space(k, b, c) })",
     "the conv's layout is not NHWC with weights HWIO: NCHW with weights OIHW"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3], r: f32[4,4,4,4]) { w = const f32[1,1,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w, _, r) {layout="NHWC", weights_layout="HWIO"}  return y=batch_to_space(k, b, p) })",
     "the conv has a residual: 'r' f32[4,4,4,4]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[1,1,3,4]  b = const s64[2] {2, 4}
        c = const s64[2] {4, 2}  p = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO"}  return y=batch_to_space(k, c, p) })",
     "blocks, pads and crops are not constants of one size: 'b' s64[2] {2, 4}, 'p' s64[2,2] {0, 0, 0, 0}, "
     "'c' s64[2] {4, 2}, 'p' s64[2,2] {0, 0, 0, 0}"},
    {"fuse-dilated-conv", R"(graph (x: f32[2,6,3]) { w = const f32[3,1,3,4]  b = const s64[1] {2}
        p = const s64[1,2] {0, 0}  q = const s64[1] {2}  s = space_to_batch(x, b, p)
        k = conv(unsqueeze(s, q), w) {layout="NHWC", weights_layout="HWIO"}
        return y=batch_to_space(squeeze(k, q), b, p) })",
     "the squeeze does not remove the conv's height: 'q' s64[1] {2} and 'q' s64[1] {2} of rank 4, blocks [2]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[1,1,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {0, 0, 0, 0}  c = const s64[2,2] {1, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO"}  return y=batch_to_space(k, b, c) })",
     "more is cropped than was padded: [1, 0, 0, 0] of [0, 0, 0, 0]"},
    {"fuse-dilated-conv", R"(graph (x: f32[1,8,8,3]) { w = const f32[1,1,3,4]  b = const s64[2] {2, 2}
        p = const s64[2,2] {2, 0, 0, 0}  c = const s64[2,2] {0, 0, 0, 0}  s = space_to_batch(x, b, p)
        k = conv(s, w) {layout="NHWC", weights_layout="HWIO"}  return y=batch_to_space(k, b, c) })",
     "the padding is wider than the kernel: [2, 0] for 'w' f32[1,1,3,4] dilated by 2"},

    {"fuse-grouped-conv", R"(graph (x: f32[2,6,5,4]) { v = const f32[3,2,2,3]  w = const f32[3,2,2,3]
        s, t, u = split(x, _, 1)  return y=concat(conv(s, v), conv(t, w), 1), u })",
     "not every part has a conv: 3 parts, 2 concatenated"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[4,1,2,3]  w = const f32[4,1,2,3]
        s, t = split(x, _, 1)  return y=concat(conv(s, v) {group=2}, conv(t, w) {group=2}, 1) })",
     "the convs are already grouped: 2 with weights OIHW"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4], r: f32[2,3,5,4]) { v = const f32[3,2,1,1]  w = const f32[3,2,1,1]
        s, t = split(x, _, 1)  return y=concat(conv(s, v, _, r), conv(t, w), 1) })",
     "a conv has a residual: 'r' f32[2,3,5,4]"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[3,2,2,3]  w = const f32[3,2,2,3]
        a = const s64[] {1}  b = const s64[] {2}  s, t = split(x, _, a)  return y=concat(conv(s, v), conv(t, w), b) })",
     "split or concat is not along the channels: 'a' s64[] {1} and 'b' s64[] {2}, the channels are 1"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[2,2,1,1]  s, t = split(x, _, 1)
        return y=concat(conv(s, v), t, 1) })",
     "one of the parts is not a conv: 't' f32[2,2,5,4]"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[3,2,2,3]  w = const f32[3,2,2,3]
        s, t = split(x, _, 1)  c = conv(t, v)  return y=concat(c, conv(s, w), 1) })",
     "the convs do not read the parts in order: 'c' reads 't' f32[2,2,5,4], not part 0"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[3,2,1,1]  w = const f32[3,2,1,1]
        s, t = split(x, _, 1)  return y=concat(conv(s, v) {pads=[0, 0, 0, 0]}, conv(t, w), 1) })",
     "the convs differ: pads [0, 0, 0, 0] and none"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[3,2,1,1]  w = const f32[3,2,1,1]
        s, t = split(x, _, 1)
        return y=concat(conv(s, v) {activation="relu"}, conv(t, w) {activation="tanh"}, 1) })",
     "the convs differ: activation relu and tanh"},
    {"fuse-grouped-conv", R"(graph (x: f32[2,4,5,4]) { v = const f32[3,1,2,3]  w = const f32[3,3,2,3]
        s, t = split(x, [1, 3], 1)  return y=concat(conv(s, v), conv(t, w), 1) })",
     "weights or biases are not constants of one shape: 'v' f32[3,1,2,3] and 'w' f32[3,3,2,3]"},

    {"fuse-resize-nearest", R"(graph (x: f32[5,2,4]) { p, q = split(x, _, 1)  return y=concat(p, p, q, q, 1) })",
     "it is not an image of rank 4: 'x' f32[5,2,4]"},
    {"fuse-resize-nearest", R"(graph layout=channels_last (x: bool[1,2,2,1]) { a = const s32[] {1}  p, q = split(x, _, a)
        return y=concat(p, p, q, q, a) })",
     "resize does not support the type: 'x' bool[1,2,2,1]"},
    {"fuse-resize-nearest", R"(graph (x: f32[2,5,2,4]) { a = const s64[] {2}  b = const s64[] {3}  p, q = split(x, _, a)
        return y=concat(p, p, q, q, b) })",
     "split and concat are not along the same spatial dimension: 'a' s64[] {2} and 'b' s64[] {3}"},
    {"fuse-resize-nearest", R"(graph (x: f32[2,5,4,3]) { p, q = split(x, _, 2)  return y=concat(p, p, q, q, 2) })",
     "the parts are not single rows: 2 along 2 of 'x' f32[2,5,4,3]"},
    {"fuse-resize-nearest", R"(graph (x: f32[2,5,2,4]) { p, q = split(x, _, 2)  return y=concat(p, p, q, 2) })",
     "the rows are not repeated equally often: 3 concatenated of 2"},
    {"fuse-resize-nearest", R"(graph (x: f32[2,5,2,4]) { p, q = split(x, _, 2) name="s"
        return y=concat(p, q, p, q, 2) })",
     "the rows are not in order: at 1 is output 1 of 's', not 0"},
    {"fuse-resize-nearest",
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,4,2]) { a = const s32[] {3}  p, q = split(x, _, a)
        return y=concat(p, p, q, q, a) })",
     "of a channels-last image, dimensions 1 and 2 are resized, of known sizes: 3 of 'x' f32[2,5,4,2]"},

    {"fuse-conv-transpose-bias",
     R"(graph format=graphdef layout=channels_last (x: f32[2,4,5,3]) { w = const f32[3,3,2,3]
        s = const s32[4] {2, 6, 7, 2}  b = const f32[2]
        c = conv_transpose(x, w, _, s) {layout="NHWC", weights_layout="HWOI", strides=[1, 1], auto_pad="VALID"}
        return y=bias_add(c, b) {layout="NHWC"} })",
     "the operator has no bias: weights HWOI, shape of the result 's' s32[4] {2, 6, 7, 2}"},
    {"fuse-conv-transpose-bias", R"(graph (x: f32[2,3,4,5]) { w = const f32[3,2,3,3]  a = const f32[2] {1, 2}
        b = const f32[2]  return y=bias_add(conv_transpose(x, w, a), b) })",
     "it already has a bias: 'a' f32[2] {1, 2}"},
    {"fuse-conv-transpose-bias", R"(graph (x: f32[2,3,4,5]) { w = const f32[3,2,3,3]  b = const f32[7]
        c = conv_transpose(x, w)  return y=add(c, b) })",
     "the other operand is not a constant vector over the channels: 'b' f32[7] and 'c' f32[2,2,6,7]"},
    {"fuse-conv-transpose-bias", R"(graph (x: f32[2,3,4,5], a: f32[2]) { w = const f32[3,2,3,3]
        b = const f32[2,1,1]  c = conv_transpose(x, w, a)  return y=add(c, b) })",
     "its bias is not an f32 constant with one element per channel: 'a' f32[2] and 'c' f32[2,2,6,7]"},

    {"fuse-conv-layout", R"(graph (x: f32[2,5,4,3]) { w = const f32[6,3,2,3]
        return y=transpose(conv(transpose(x, [0, 3, 2, 1]), w), [0, 2, 3, 1]) })",
     "x is not transposed to the conv's layout: [0, 3, 2, 1], not [0, 3, 1, 2]"},
    {"fuse-conv-layout", R"(graph (x: f32[2,5,4,3]) { w = const f32[6,3,2,3]
        return y=transpose(conv(transpose(x, [0, 3, 1, 2]), w), [0, 3, 2, 1]) })",
     "the result is not transposed to the other layout: [0, 3, 2, 1], not [0, 2, 3, 1]"},
    {"fuse-conv-layout", R"(graph (x: f32[2,5,4,3], r: f32[2,6,5,4]) { w = const f32[6,3,1,1]
        return y=transpose(conv(transpose(x, [0, 3, 1, 2]), w, _, r), [0, 2, 3, 1]) })",
     "the conv's residual is not transposed: 'r' f32[2,6,5,4]"},
    {"fuse-conv-layout", R"(graph (x: f32[2,5,4,3], r: f32[2,4,5,6]) { w = const f32[6,3,1,1]
        return y=transpose(conv(transpose(x, [0, 3, 1, 2]), w, _, transpose(r, [0, 3, 2, 1])), [0, 2, 3, 1]) })",
     "the conv's residual is not transposed as x is: [0, 3, 2, 1], not [0, 3, 1, 2]"},

    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7]) { s = matmul(q, k)
        return y=matmul(softmax(s) {axis=1}, v) })",
     "the softmax is not over the last axis of 's' f32[2,4,6]: axis 1"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7], m: f32[4,6], n: f32[4,6]) {
        return y=matmul(softmax(matmul(q, k, _, m), n), v) })",
     "there are two masks: 'n' f32[4,6] and 'm' f32[4,6]"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7], m: f32[4,6]) {
        return y=matmul(softmax(matmul(q, k, _, m)) {scale=0.5}, v) })",
     "the softmax scales the mask: 'm' f32[4,6] by 0.5"},
    {"fuse-attention", R"(graph (q: f32[2,5,4], k: f32[2,5,6], v: f32[2,6,7]) {
        return y=matmul(softmax(matmul(q, k) {transpose_a=true}), v) })",
     "a left operand is transposed: 'q' f32[2,5,4]"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7]) { s = matmul(q, k) {activation="relu"}
        return y=matmul(softmax(s), v) })",
     "a matmul has an activation: 's' relu"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,7,6]) {
        return y=matmul(softmax(matmul(q, k)), v) {transpose_b=true} })",
     "the second matmul transposes 'v' f32[2,7,6]"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7]) {
        return y=matmul(softmax(matmul(q, k)), v) {scale=0.25} })",
     "the second matmul scales by 0.25"},
    {"fuse-attention", R"(graph (q: f32[2,4,5], k: f32[2,5,6], v: f32[2,6,7]) { b = const f32[7]
        return y=matmul(softmax(matmul(q, k)), v, b) })",
     "the second matmul adds 'b' f32[7]"},

    {"fuse-lstm-cell", R"(graph (x: f32[2,3], h: f32[2,4], c: f32[2,4], w: f32[7,16]) {
        g = matmul(concat(x, h, 1:s32), w)  i, j, f, o = split(g, _, 1:s32)
        state = add(mul(c, sigmoid(f)), mul(sigmoid(i), tanh(j)))  return y=mul(tanh(state), sigmoid(o)) })",
     "the gates are not a matmul of rows with constant f32 weights: 'g' f32[2,16]"},
    {"fuse-lstm-cell", R"(graph (x: f32[2,3], h: f32[2,4], c: f32[1,4]) { w = const f32[7,16]
        i, j, f, o = split(matmul(concat(x, h, 1:s32), w), _, 1:s32)
        state = add(mul(c, sigmoid(f)), mul(sigmoid(i), tanh(j)))  return y=mul(tanh(state), sigmoid(o)) })",
     "input and states are not known to have as many rows: 'x' f32[2,3] and 'c' f32[1,4], of 4 columns"},
    {"fuse-lstm-cell", R"(graph (x: f32[2,3], h: f32[2,4], c: f32[2,4]) { w = const f32[7,16]
        i, j, f, o = split(matmul(concat(x, h, 1:s32), w), _, 1:s32) name="s"
        state = add(mul(c, sigmoid(i)), mul(sigmoid(i), tanh(j)))  return y=mul(tanh(state), sigmoid(o)) })",
     "two gates are the same: output 0 of 's'"},
    {"fuse-lstm-cell", R"(graph (x: f32[2,3], h: f32[2,4], c: f32[2,4]) { w = const f32[7,16]
        m = matmul(concat(x, h, 1:s32), w)  i, j, f, o = split(m, _, 1:s32) name="s"
        a, b, d, e = split(m, _, 1:s32) name="t"
        state = add(mul(c, sigmoid(f)), mul(sigmoid(i), tanh(j)))  return y=mul(tanh(state), sigmoid(e)) })",
     "the gates are computed by different matmuls: split 's' and 't'"},
    {"fuse-lstm-cell", R"(graph (x: f32[2,3], c: f32[2,4]) { w = const f32[3,16]
        i, j, f, o = split(matmul(x, w), _, 1:s32)
        state = add(mul(c, sigmoid(f)), mul(sigmoid(i), tanh(j)))  return y=mul(tanh(state), sigmoid(o)) })",
     "the gates do not read an input and a state: the number of multiplied values is 1"},

    {"fuse-concat-activation", R"(graph (x: f32[2,3,5,4]) { v = const f32[2,3,1,1]  c = conv(x, v)
        return y=relu(concat(c, c, 1:s32)) })",
     "a part occurs twice: 'c' f32[2,2,5,4]"},
    {"fuse-concat-activation", R"(graph (x: f32[2,3,5,4], a: f32[]) { v = const f32[2,3,1,1]  w = const f32[4,3,1,1]
        b = const f32[] {6}  return y=clip(concat(conv(x, v), conv(x, w), 1:s32), a, b) })",
     "the bounds are not constant: 'a' f32[] and 'b' f32[] {6}"},
    {"fuse-concat-activation", R"(graph (x: f32[2,3,5,4]) { v = const f32[2,3,1,1]  w = const f32[4,3,1,1]
        return y=clip(concat(conv(x, v), conv(x, w), 1:s32), 6.0:f32, 0.5:f32) })",
     "the bounds are not in order: 6 and 0.5"},
    {"fuse-concat-activation", R"(graph (x: f32[2,3,5,4]) { v = const f32[2,3,1,1]  w = const f32[4,3,1,1]
        c = conv(x, v) {activation="tanh"}  return y=relu(concat(c, conv(x, w), 1:s32)) })",
     "a part has an activation already: 'c' tanh"},

    {"fuse-negated-residual", R"(graph (x: f32[2,3], r: f32[2,5]) { w = const f32[3,5]  b = const f32[5]
        return y=sub(r, matmul(x, w, b)) })",
     "the matmul already has a bias or a residual: 'b' f32[5]"},
    {"fuse-negated-residual", R"(graph (x: f32[2,3], r: f32[2,5]) { w = const f32[3,5]
        return y=sub(r, matmul(x, w) {activation="relu"}) })",
     "the matmul already has an activation: relu"},
    {"fuse-negated-residual", R"(graph (x: f32[2,3], r: f32[1,5]) { w = const f32[3,5]  m = matmul(x, w)
        return y=sub(r, m) })",
     "the operands are not known to have the same shape: 'm' f32[2,5] and 'r' f32[1,5]"},

    {"fuse-l2-loss", R"(graph (x: f32[2,3], z: f32[5], u: f32[]) { return y=add_n(l2_loss(x), l2_loss(z), u) })",
     "an operand is not an l2_loss: 'u' f32[]"},
    {"fuse-l2-loss", R"(graph (x: f32[2,3]) { a = l2_loss(x)  return y=add(a, a) })",
     "a loss is added twice: 'a' f32[]"},
};

// What `rule` says of the nodes that it keeps, in the graph as it is.
std::vector<std::string> Sentences(std::string_view rule, std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return {graph.status().ToString()};
  const PermissiveTarget target;
  std::vector<std::string> sentences;
  for (const NodeReasons& node : ExplainNodes(MakeOptimizePipeline(), *graph, rule, {.target = target})) {
    for (const RuleReason& reason : node.reasons) {
      if (reason.matched) sentences.push_back(reason.text);
    }
  }
  return sentences;
}

TEST(Why, NamesTheValuesThatWereCompared) {
  for (const KeptCase& kept : kCases) {
    EXPECT_THAT(Sentences(kept.rule, kept.graph), testing::ElementsAre(std::string(kept.sentence)))
        << kept.rule << ": " << kept.graph;
  }
}

}  // namespace
}  // namespace halftone
