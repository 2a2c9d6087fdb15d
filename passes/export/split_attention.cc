// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_attention.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/attention.h"
#include "passes/export/parts.h"

namespace halftone {
namespace {

// What the parts need to know; nullopt: it stays.
std::optional<AttentionSizes> SizesOfParts(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  const auto has = [&](int i) { return g.input(id, i).valid(); };
  if (node.outputs.size() != 1 || has(kAttentionMask) || has(kAttentionPast)) return std::nullopt;
  if (node.attributes.Bool("unidirectional", false)) return std::nullopt;
  if (g.type(g.input(id, kAttentionX)) != g.type(g.input(id, kAttentionWeights))) return std::nullopt;
  std::vector<Shape> shapes;
  for (const ValueId input : node.inputs) shapes.push_back(input.valid() ? g.shape(input) : Shape());
  const absl::StatusOr<AttentionSizes> sizes = SizesOfAttention(node.attributes, shapes);
  if (!sizes.ok() || !sizes->hidden.known() || !sizes->value_hidden.known()) return std::nullopt;
  return *sizes;
}

class AttentionParts {
 public:
  AttentionParts(GraphEditor& edit, NodeId id, const AttentionSizes& sizes)
      : g_(edit.graph()), id_(id), sizes_(sizes), type_(g_.type(g_.output(id))), parts_(edit, id) {}

  void Write() {
    const int64_t hidden = sizes_.hidden.value, value_hidden = sizes_.value_hidden.value;
    const ValueSpec columns = Spec({sizes_.batch, sizes_.steps, Dim::Of(2 * hidden + value_hidden)});
    ValueId x = parts_.Apply(OpKind::kMatMul, {In(kAttentionX), In(kAttentionWeights)}, columns);
    if (In(kAttentionBias).valid()) x = parts_.Apply(OpKind::kAdd, {x, In(kAttentionBias)}, columns);
    const ValueSpec part = Spec({sizes_.batch, sizes_.steps, sizes_.hidden});
    Node split;
    split.op = OpKind::kSplit;
    split.inputs = {x, Numbers("sizes", {hidden, hidden, value_hidden}), parts_.Constant("axis", Tensor::IntScalar(2))};
    const NodeId qkv =
        parts_.AddNode(std::move(split), {part, part, Spec({sizes_.batch, sizes_.steps, sizes_.value_hidden})});
    const ValueId order = Numbers("perm", {0, 2, 1, 3});
    const ValueId q = Heads(g_.output(qkv, 0), hidden, order), k = Heads(g_.output(qkv, 1), hidden, order);
    const ValueId v = Heads(g_.output(qkv, 2), value_hidden, order);
    std::vector<ValueId> operands = {q, k, v};
    if (In(kAttentionAddend).valid()) operands.push_back(In(kAttentionAddend));
    Attributes attributes;
    const Attributes& given = g_.node(id_).attributes;
    if (given.has("scale")) attributes.Set("scale", given.Float("scale", 1));
    ValueId y = parts_.Apply(OpKind::kScaledDotProductAttention, std::move(operands),
                             Spec(OfHeads(value_hidden, /*heads_first=*/true)), std::move(attributes));
    y = parts_.Apply(OpKind::kTranspose, {y, order}, Spec(OfHeads(value_hidden, /*heads_first=*/false)));
    const ValueId joined = Numbers("join", {0, 0, value_hidden});
    parts_.Finish(parts_.Apply(OpKind::kReshape, {y, joined}, {type_, g_.shape(g_.output(id_)), ""}));
  }

 private:
  ValueId In(AttentionInput i) const { return g_.input(id_, i); }
  ValueSpec Spec(std::vector<Dim> dims) const { return {type_, Shape(std::move(dims)), ""}; }
  ValueId Numbers(std::string_view word, std::vector<int64_t> numbers) {
    return parts_.Constant(word, Tensor::Ints(numbers));
  }
  std::vector<Dim> OfHeads(int64_t columns, bool heads_first) const {
    const Dim heads = Dim::Of(sizes_.heads), head = Dim::Of(columns / sizes_.heads);
    if (heads_first) return {sizes_.batch, heads, sizes_.steps, head};
    return {sizes_.batch, sizes_.steps, heads, head};
  }
  // [batch, steps, columns] -> [batch, heads, steps, columns / heads]
  ValueId Heads(ValueId x, int64_t columns, ValueId order) {
    const ValueId dims = Numbers("heads", {0, 0, sizes_.heads, columns / sizes_.heads});
    const ValueId cut = parts_.Apply(OpKind::kReshape, {x, dims}, Spec(OfHeads(columns, /*heads_first=*/false)));
    return parts_.Apply(OpKind::kTranspose, {cut, order}, Spec(OfHeads(columns, /*heads_first=*/true)));
  }

  const Graph& g_;
  const NodeId id_;
  const AttentionSizes sizes_;
  const DataType type_;
  Parts parts_;
};

}  // namespace

absl::Status SplitAttention::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kAttention || file_.Writes(g, id)) continue;
    const std::optional<AttentionSizes> sizes = SizesOfParts(g, id);
    if (sizes.has_value()) AttentionParts(edit, id, *sizes).Write();
  }
  return absl::OkStatus();
}

}  // namespace halftone
