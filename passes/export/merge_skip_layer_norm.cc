// SPDX-License-Identifier: Apache-2.0
// layer_norm(x + skip, scale, offset)         =>  skip_layer_norm(x, skip, scale, offset)
// layer_norm(x + bias + skip, scale, offset)  =>  skip_layer_norm(x, skip, scale, offset, bias)
//
// For ONNX Runtime's dialect, which says it as SkipLayerNormalization. Legal in f32 over the last of two or three
// dimensions, where x and skip have one shape and bias is a vector. The sum of three may round in another order.

#include <optional>
#include <utility>
#include <vector>

#include "passes/export/merges.h"

namespace halftone {
namespace {

bool IsVector(const Graph& g, ValueId value) { return g.shape(value).has_rank() && g.shape(value).rank() == 1; }

bool HasKnownShape(const Graph& g, ValueId value, const Shape& shape) {
  const Shape& s = g.shape(value);
  if (!s.has_rank() || s.rank() != shape.rank()) return false;
  for (int i = 0; i < s.rank(); ++i) {
    if (s.dim(i) != shape.dim(i) || (!s.dim(i).known() && s.dim(i).symbol.empty())) return false;
  }
  return true;
}

// x + bias in a sum without other consumers: x and bias.
std::optional<std::pair<ValueId, ValueId>> BiasOf(const Graph& g, ValueId sum, const Shape& shape) {
  const NodeId add = g.producer(sum);
  if (g.op(add) != OpKind::kAdd || g.uses(sum).size() != 1 || g.IsOutput(sum) || g.IsCaptured(sum)) return std::nullopt;
  const auto [a, b] = g.inputs<2>(add);
  if (HasKnownShape(g, a, shape) && IsVector(g, b)) return std::pair(a, b);
  if (HasKnownShape(g, b, shape) && IsVector(g, a)) return std::pair(b, a);
  return std::nullopt;
}

class MergeSkipLayerNorm final : public RewriteRule {
 public:
  std::string_view name() const override { return "merge-skip-layer-norm"; }
  std::string_view equation() const override {
    return "layer_norm(x + bias + skip, scale, offset) => skip_layer_norm(x, skip, scale, offset, bias)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kLayerNorm; }

  FindResult Find(const Graph& g, NodeId norm, const Target&) const override {
    const ValueId sum = g.input(norm, 0);
    const NodeId add = g.producer(sum);
    if (g.op(add) != OpKind::kAdd) return No("its input is no add");
    const Shape& shape = g.shape(sum);
    if (g.type(sum) != DataType::kFloat32) return Kept("there is a fused op in f32 alone");
    if (!shape.has_rank() || (shape.rank() != 2 && shape.rank() != 3))
      return Kept("it has not two or three dimensions");
    const int64_t axis = g.node(norm).attributes.Int("axis", -1);
    if (axis != -1 && axis != shape.rank() - 1) return Kept("it is not over the last dimension");
    for (size_t i = 1; i < g.node(norm).outputs.size(); ++i) {
      const ValueId output = g.output(norm, static_cast<int>(i));
      if (output.valid() && (!g.uses(output).empty() || g.IsOutput(output))) return Kept("its statistics are read");
    }
    const auto [a, b] = g.inputs<2>(add);
    if (!HasKnownShape(g, a, shape) || !HasKnownShape(g, b, shape))
      return Kept("the operands of the add are not of one shape");
    for (const auto& [x, skip] : {std::pair(a, b), std::pair(b, a)}) {
      const auto biased = BiasOf(g, x, shape);
      if (biased.has_value()) return Match({norm, add, g.producer(x)}, {biased->first, skip, biased->second});
    }
    return Match({norm, add}, {a, b, kNoValue});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const NodeId norm = m.root();
    Node fused;
    fused.op = OpKind::kSkipLayerNorm;
    fused.inputs = {m.value(0), m.value(1), g.input(norm, 1), g.input(norm, 2), m.value(2)};
    while (!fused.inputs.back().valid()) fused.inputs.pop_back();
    fused.attributes.Set("epsilon", g.node(norm).attributes.Float("epsilon", 1e-5f));
    fused.origin = g.node(norm).origin;
    const ValueId y = g.output(norm);
    const NodeId id = edit.AddNode(std::move(fused), {{g.type(y), g.shape(y), ""}});
    edit.ReplaceNode(norm, id);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeSkipLayerNorm() { return std::make_unique<MergeSkipLayerNorm>(); }

}  // namespace halftone
