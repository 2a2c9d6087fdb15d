// SPDX-License-Identifier: Apache-2.0
// matmul(softmax(matmul(q, k), m) {scale=s}, v)  =>  scaled_dot_product_attention(q, k, v, m) {scale=s}
//
// The core of an attention with any number of leading dimensions. Heads may come from a reshape and a transpose. k may
// be transposed by the matmul or by an op before it. Scale and mask may be fused into the softmax (fuse-softmax-scale,
// fuse-softmax-addend) or into the first matmul (fuse-matmul-scale, fuse-matmul-mask). A scale of the softmax would
// also multiply a mask of the matmul, so that combination is refused.
//
// Legal when the softmax is over the last axis, the matmuls have no activation, the second matmul has nothing fused, q
// is not transposed, the probabilities have no other consumer, and the target has the kernel. Not bit-exact: below f32
// it rounds once where the parts round four times.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/softmax.h"

namespace halftone {
namespace {

// Scale and mask of the attention.
struct Beside {
  float scale = 1;
  ValueId mask = kNoValue;
};

// Combines scale and mask of softmax and first matmul; a refusal where they cannot be combined.
std::optional<Refusal> Read(const Graph& g, NodeId softmax, NodeId scores, Beside& beside) {
  const float outer = g.node(softmax).attributes.Float("scale", 1);
  const float inner = g.node(scores).attributes.Float("scale", 1);
  beside.scale = outer * inner;
  for (const ValueId added :
       {g.input(softmax, kSoftmaxAddend), g.input(scores, kResidualInput), g.input(scores, kBiasInput)}) {
    if (!added.valid()) continue;
    if (beside.mask.valid()) return Kept(DescribeBoth("there are two masks", g, beside.mask, added));
    beside.mask = added;
  }
  if (beside.mask != g.input(softmax, kSoftmaxAddend) && outer != 1)
    return Kept(Concat("the softmax scales the mask: ", Describe(g, beside.mask), " by ", outer));
  return std::nullopt;
}

class FuseAttention final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-attention"; }
  std::string_view equation() const override {
    return "matmul(softmax(matmul(q, k), m) {scale=s}, v) => scaled_dot_product_attention(q, k, v, m) {scale=s}";
  }
  OpSet root() const override { return OpKind::kMatMul; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    const auto [weights, v] = g.inputs<2>(root);
    if (!weights.valid() || !v.valid() || g.op(weights) != OpKind::kSoftmax)
      return No("the left operand is not a softmax");
    const NodeId softmax = g.producer(weights);
    const ValueId logits = g.input(softmax, 0);
    if (!logits.valid() || g.op(logits) != OpKind::kMatMul) return No("the softmax is not of a matmul");
    const NodeId scores = g.producer(logits);
    const bool flatten = g.node(softmax).attributes.Bool("flatten", false);
    if (!IsOverLastAxis(g, softmax) || flatten)
      return Kept(Concat("the softmax is not over the last axis of ", Describe(g, logits), ": axis ",
                         g.node(softmax).attributes.Int("axis", -1), flatten ? " and all after it" : ""));
    for (const NodeId matmul : {root, scores}) {
      if (g.node(matmul).attributes.Bool("transpose_a", false))
        return Kept(Concat("a left operand is transposed: ", Describe(g, g.input(matmul, 0))));
      if (HasActivation(g, matmul))
        return Kept(Concat("a matmul has an activation: '", g.Label(matmul), "' ",
                           g.node(matmul).attributes.String("activation", "")));
    }
    const Attributes& last = g.node(root).attributes;
    if (last.Bool("transpose_b", false)) return Kept(Concat("the second matmul transposes ", Describe(g, v)));
    if (last.Float("scale", 1) != 1) return Kept(Concat("the second matmul scales by ", last.Float("scale", 1)));
    if (HasBias(g, root) || HasResidual(g, root))
      return Kept(Concat("the second matmul adds ",
                         Describe(g, g.input(root, HasBias(g, root) ? kBiasInput : kResidualInput))));
    const auto [q, k] = g.inputs<2>(scores);
    for (const ValueId part : {q, k, v}) {
      if (!g.shape(part).has_rank() || g.shape(part).rank() < 2)
        return Kept(Concat("the rank of q, k or v is not known: ", Describe(g, part)));
      if (g.type(part) != g.type(g.output(root)) || !IsFloatingPoint(g.type(part)))
        return Kept(DescribeBoth("different types", g, part, g.output(root)));
    }
    Beside beside;
    if (std::optional<Refusal> refusal = Read(g, softmax, scores, beside)) return *std::move(refusal);
    std::vector<ValueId> inputs = {q, k, v};
    if (beside.mask.valid()) inputs.push_back(beside.mask);
    const absl::Status supported = target.SupportsOp(g, OpKind::kScaledDotProductAttention, inputs);
    if (!supported.ok()) return Kept(Describe(g, root, supported));
    return Match({root, softmax, scores}, {v});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [root, softmax, scores] = m.nodes<3>();
    Beside beside;
    if (Read(g, softmax, scores, beside).has_value()) return absl::InternalError("the pattern is gone");
    const auto [q, k] = g.inputs<2>(scores);
    Node node;
    node.op = OpKind::kScaledDotProductAttention;
    node.inputs = {q, k, m.value(0)};
    if (beside.mask.valid()) node.inputs.push_back(beside.mask);
    node.attributes.Set("scale", beside.scale);
    if (!g.node(scores).attributes.Bool("transpose_b", false)) node.attributes.Set("k_transposed", true);
    ReplaceByNode(edit, root, std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseAttention() { return std::make_unique<FuseAttention>(); }

}  // namespace halftone
