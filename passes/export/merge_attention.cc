// SPDX-License-Identifier: Apache-2.0
// The projections of queries, keys and values of one x, their scaled dot product attention over heads, and the heads
// joined again  =>  attention(x, weights side by side, biases side by side, _, _, mask) {num_heads}
//
// For ONNX Runtime's dialect, which has it as Attention: one matmul instead of three. Legal in f32 where the
// attention could be a MultiHeadAttention, all three matmuls read x and constant matrices, and the values between
// have no other consumers. Without biases it has zeros. Exact but for the order of sums.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/attention.h"
#include "ir/attention_heads.h"
#include "ir/file_dialect.h"
#include "passes/export/merges.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// x * weights + bias.
struct Projection {
  ValueId x;
  const Tensor* weights = nullptr;  // [input, columns]
  const Tensor* bias = nullptr;     // [columns]; nullptr: none
  std::vector<NodeId> nodes;

  int64_t columns() const { return weights->dims()[1]; }
};

bool IsPlainMatMul(const Graph& g, NodeId id) {
  const Attributes& attributes = g.node(id).attributes;
  return g.op(id) == OpKind::kMatMul && !HasBias(g, id) && !HasResidual(g, id) && !HasActivation(g, id) &&
         attributes.Float("scale", 1) == 1 && !attributes.Bool("transpose_a", false) &&
         !attributes.Bool("transpose_b", false);
}

std::optional<Projection> ProjectionOf(const Graph& g, ValueId y) {
  Projection projection;
  NodeId product = g.producer(y);
  if (g.op(product) == OpKind::kAdd) {
    projection.nodes.push_back(product);
    auto [a, b] = g.inputs<2>(product);
    if (g.IsConstant(a)) std::swap(a, b);
    if (!g.IsConstant(b)) return std::nullopt;
    projection.bias = g.ConstantTensor(b);
    product = g.producer(a);
  }
  if (!IsPlainMatMul(g, product) || !g.IsConstant(g.input(product, kWeightsInput))) return std::nullopt;
  projection.nodes.push_back(product);
  projection.x = g.input(product, 0);
  projection.weights = g.ConstantTensor(g.input(product, kWeightsInput));
  const Tensor *weights = projection.weights, *bias = projection.bias;
  if (weights == nullptr || weights->type() != DataType::kFloat32 || weights->rank() != 2) return std::nullopt;
  if (projection.nodes.size() == 1) return projection;
  const bool fits = bias != nullptr && bias->type() == DataType::kFloat32 && bias->rank() == 1 &&
                    bias->dims()[0] == projection.columns();
  return fits ? std::optional(projection) : std::nullopt;
}

using Projections = std::array<Projection, 3>;  // of queries, keys and values

std::optional<Projections> ProjectionsOf(const Graph& g, const AttentionHeads& heads) {
  Projections projections;
  for (size_t i = 0; i < projections.size(); ++i) {
    const std::optional<Projection> one = heads.whole[i].valid() ? ProjectionOf(g, heads.whole[i]) : std::nullopt;
    if (!one.has_value() || one->x != (i == 0 ? one->x : projections[0].x)) return std::nullopt;
    projections[i] = *one;
  }
  const Shape& x = g.shape(projections[0].x);
  return x.has_rank() && x.rank() == 3 ? std::optional(projections) : std::nullopt;
}

int64_t ColumnsOf(const Projections& projections) {
  int64_t columns = 0;
  for (const Projection& projection : projections) columns += projection.columns();
  return columns;
}

// One part of each, [rows, columns] or [columns], side by side; zeros where one has none.
Tensor SideBySide(const Projections& projections, const Tensor* Projection::* part, std::vector<int64_t> dims) {
  const int64_t rows = dims.size() == 2 ? dims[0] : 1, columns = dims.back();
  Tensor result(DataType::kFloat32, std::move(dims));
  const std::span<float> to = result.mutable_data<float>();
  std::ranges::fill(to, 0.0f);
  int64_t first = 0;
  for (const Projection& projection : projections) {
    const int64_t count = projection.columns();
    for (int64_t row = 0; row < rows && projection.*part != nullptr; ++row) {
      const std::span<const float> from = (projection.*part)->data<float>().subspan(row * count, count);
      std::ranges::copy(from, to.begin() + row * columns + first);
    }
    first += count;
  }
  return result;
}

class MergeAttention final : public RewriteRule {
 public:
  explicit MergeAttention(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "merge-attention"; }
  std::string_view equation() const override {
    return "join(attend(split(x a + d), split(x b + e), split(x c + f), mask)) => "
           "attention(x, [a b c], [d e f], _, _, mask) {num_heads}";
  }
  OpSet root() const override { return OpKind::kReshape; }

  FindResult Find(const Graph& g, NodeId reshape, const Target&) const override {
    const NodeId transpose = g.producer(g.input(reshape, 0));
    if (g.op(transpose) != OpKind::kTranspose) return No("it joins no heads");
    const NodeId attention = g.producer(g.input(transpose, 0));
    if (g.op(attention) != OpKind::kScaledDotProductAttention) return No("it joins no heads of an attention");
    if (!file_.Writes(g, attention)) return Kept("the file's dialect has no such attention");
    const AttentionHeads heads = FindAttentionHeads(g, attention);
    if (heads.joined != reshape) return Kept("others read its value before the heads are joined");
    const std::optional<Projections> projections = ProjectionsOf(g, heads);
    if (!projections.has_value())
      return Kept("queries, keys and values are not three products of one x with constant matrices");
    std::vector<NodeId> nodes = {reshape, transpose, attention};
    for (int i = 0; i < 3; ++i) {
      const NodeId exchange = g.producer(g.input(attention, i));
      nodes.insert(nodes.end(), {exchange, g.producer(g.input(exchange, 0))});
      nodes.insert(nodes.end(), (*projections)[i].nodes.begin(), (*projections)[i].nodes.end());
    }
    return Match(std::move(nodes), {(*projections)[0].x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const NodeId attention = m.nodes()[2];
    const Projections projections = *ProjectionsOf(g, FindAttentionHeads(g, attention));
    const Shape q = g.shape(g.input(attention, 0)), v = g.shape(g.input(attention, 2));
    const std::string label = g.Label(attention);
    const auto add_constant = [&](const char* word, Tensor tensor) {
      return edit.AddConstant(FreshName(g, Concat(label, "/", word)), std::move(tensor));
    };
    Node merged;
    merged.op = OpKind::kAttention;
    const int64_t rows = projections[0].weights->dims()[0], columns = ColumnsOf(projections);
    merged.inputs = {m.value(0),
                     add_constant("weights", SideBySide(projections, &Projection::weights, {rows, columns})),
                     add_constant("bias", SideBySide(projections, &Projection::bias, {columns}))};
    if (const ValueId mask = g.input(attention, 3); mask.valid()) {
      merged.inputs.resize(kAttentionAddend, kNoValue);
      const auto dims = ExpandedMask(g.shape(mask), q.dim(1), q.dim(2), v.dim(2));
      merged.inputs.push_back(dims.has_value() ? Expand(mask, *dims, attention, edit) : mask);
    }
    merged.attributes.Set("num_heads", q.dim(1).value);
    if (g.node(attention).attributes.has("scale"))
      merged.attributes.Set("scale", g.node(attention).attributes.Float("scale", 1));
    const int64_t key_columns = projections[1].columns(), value_columns = projections[2].columns();
    if (key_columns != value_columns) {
      merged.attributes.Set("qkv_hidden_sizes",
                            std::vector<int64_t>{projections[0].columns(), key_columns, value_columns});
    }
    ReplaceByNode(edit, m.root(), std::move(merged));
    return absl::OkStatus();
  }

 private:
  static ValueId Expand(ValueId mask, const std::vector<int64_t>& dims, NodeId attention, GraphEditor& edit) {
    const Graph& g = edit.graph();
    const std::string name = FreshName(g, Concat(g.Label(attention), "/mask_dims"));
    Node expand;
    expand.op = OpKind::kExpand;
    expand.inputs = {mask, edit.AddConstant(name, Tensor::Ints(dims))};
    expand.device = g.node(attention).device;
    Shape shape = Shape::Of(dims);
    if (g.shape(mask).rank() == 4) shape.mutable_dim(0) = g.shape(mask).dim(0);
    return g.output(edit.AddNode(std::move(expand), {{g.type(mask), std::move(shape), ""}}));
  }

  const FileDialect& file_;
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeAttention(const FileDialect& file) {
  return std::make_unique<MergeAttention>(file);
}

}  // namespace halftone
