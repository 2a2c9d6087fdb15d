// SPDX-License-Identifier: Apache-2.0
// skip_layer_norm(x, skip, scale, offset, bias)  =>  layer_norm(x + bias + skip, scale, offset)
//
// Applied when x or skip is a matmul without other consumers: its kernel adds bias and skip at no cost, as in files
// that ONNX Runtime did not fuse. Legal when the statistics have no consumers. The sum of three values may round in a
// different order.

#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/fusion/contraction.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

bool IsRead(const Graph& g, ValueId value) {
  return value.valid() && (!g.uses(value).empty() || g.IsOutput(value) || g.IsCaptured(value));
}

// Whether the value is a matmul, or one with a bias, that can fuse another addend.
bool IsFusableMatMul(const Graph& g, ValueId value) {
  if (g.uses(value).size() != 1 || g.IsOutput(value)) return false;
  const NodeId node = g.producer(value);
  if (g.op(node) == OpKind::kMatMul || g.op(node) == OpKind::kGemm) return true;
  if (g.op(node) != OpKind::kAdd) return false;
  for (const int i : {0, 1}) {
    if (g.op(g.producer(g.input(node, i))) == OpKind::kMatMul && g.IsConstant(g.input(node, 1 - i))) return true;
  }
  return false;
}

class SplitSkipLayerNorm final : public RewriteRule {
 public:
  std::string_view name() const override { return "split-skip-layer-norm"; }
  std::string_view equation() const override {
    return "skip_layer_norm(x, skip, scale, offset, bias) => layer_norm(x + bias + skip, scale, offset)";
  }
  OpSet root() const override { return OpKind::kSkipLayerNorm; }

  FindResult Find(const Graph& g, NodeId norm, const Target&) const override {
    const auto [x, skip] = g.inputs<2>(norm);
    if (IsRead(g, g.output(norm, 1)) || IsRead(g, g.output(norm, 2))) return Kept("its statistics have consumers");
    if (!g.shape(x).has_rank() || g.shape(x).rank() < 2) return Kept("its rank is not known");
    if (!IsFusableMatMul(g, x) && !IsFusableMatMul(g, skip))
      return Kept("neither operand is a matmul that can add the other");
    return Match({norm}, {x, skip});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const NodeId norm = m.root();
    const Node node = g.node(norm);
    const ValueSpec like{g.type(node.outputs[0]), g.shape(node.outputs[0]), ""};
    const auto add = [&](ValueId a, ValueId b) {
      Node sum;
      sum.op = OpKind::kAdd;
      sum.name = FreshName(g, Concat(g.Label(norm), "/add"));
      sum.inputs = {a, b};
      sum.origin = node.origin;
      return g.output(edit.AddNode(std::move(sum), {like}));
    };
    const auto [x, skip] = std::pair(m.value(0), m.value(1));
    // The bias is added to the matmul, which is the first operand.
    const bool x_first = IsFusableMatMul(g, x);
    ValueId sum = x_first ? x : skip;
    if (const ValueId bias = g.input(norm, 4); bias.valid()) sum = add(sum, bias);
    sum = add(sum, x_first ? skip : x);
    Node plain;
    plain.op = OpKind::kLayerNorm;
    plain.inputs = {sum, g.input(norm, 2)};
    if (const ValueId offset = g.input(norm, 3); offset.valid()) plain.inputs.push_back(offset);
    plain.attributes.Set("epsilon", node.attributes.Float("epsilon", 1e-12f));
    plain.origin = node.origin;
    const NodeId fresh = edit.AddNode(std::move(plain), {like});
    if (const ValueId whole = g.output(norm, 3); IsRead(g, whole)) edit.ReplaceUses(whole, sum);
    edit.ReplaceNode(norm, fresh);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeSplitSkipLayerNorm() { return std::make_unique<SplitSkipLayerNorm>(); }

}  // namespace halftone
