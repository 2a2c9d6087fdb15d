// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_scaled_attention.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/export/parts.h"

namespace halftone {
namespace {

// What 1 / sqrt(depth) or the attribute says; nullopt: neither is known.
std::optional<double> ScaleOf(const Graph& g, NodeId attention) {
  const Attributes& attributes = g.node(attention).attributes;
  if (attributes.has("scale")) return attributes.Float("scale", 1);
  const Shape& q = g.shape(g.input(attention, 0));
  if (!q.has_rank() || q.rank() < 2 || !q.dim(-1).known()) return std::nullopt;
  return 1 / std::sqrt(static_cast<double>(q.dim(-1).value));
}

// q k^T; unknown where a rank is.
Shape ShapeOfScores(const Shape& q, const Shape& k, bool k_transposed) {
  if (!q.has_rank() || !k.has_rank() || q.rank() < 2 || k.rank() < 2) return Shape();
  const auto leading = [](const Shape& s) { return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - 2)); };
  const std::optional<Shape> batch = BroadcastShapes(leading(q), leading(k));
  if (!batch.has_value()) return Shape();
  std::vector<Dim> dims = batch->dims();
  dims.push_back(q.dim(-2));
  dims.push_back(k.dim(k_transposed ? -1 : -2));
  return Shape(std::move(dims));
}

// k with its last two dimensions exchanged.
ValueId Transposed(Parts& parts, const Graph& g, ValueId k) {
  Shape shape = g.shape(k);
  std::vector<int64_t> perm(shape.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm.end()[-1], perm.end()[-2]);
  std::swap(shape.mutable_dim(-1), shape.mutable_dim(-2));
  const ValueId order = parts.Constant("perm", Tensor::Of<int64_t>({shape.rank()}, perm));
  return parts.Apply(OpKind::kTranspose, {k, order}, {g.type(k), std::move(shape), ""});
}

}  // namespace

absl::Status SplitScaledAttention::Split(GraphEditor& edit, NodeId id) const {
  const Graph& g = edit.graph();
  const Node node = g.node(id);
  const auto [q, k, v] = g.inputs<3>(id);
  const ValueId mask = g.input(id, 3);
  const bool k_transposed = node.attributes.Bool("k_transposed", false);
  const std::optional<double> scale = ScaleOf(g, id);
  if (!scale.has_value()) {
    return absl::UnimplementedError(
        Concat("node '", g.Label(id), "': no scale is given and the last dimension of q is not known"));
  }
  const DataType type = g.type(g.output(id));
  const ValueSpec scores{type, ShapeOfScores(g.shape(q), g.shape(k), k_transposed), ""};
  Parts parts(edit, id);
  Attributes product;
  ValueId keys = k;
  if (!k_transposed && file_.has(FileFeature::kMatMulTransposes)) {
    product.Set("transpose_b", true);
  } else if (!k_transposed) {
    if (!g.shape(k).has_rank()) {
      return absl::UnimplementedError(Concat("node '", g.Label(id), "': the rank of k is not known"));
    }
    keys = Transposed(parts, g, k);
  }
  if (*scale != 1) product.Set("scale", static_cast<float>(*scale));
  std::vector<ValueId> operands{q, keys};
  if (mask.valid()) operands.insert(operands.end(), {kNoValue, mask});  // no bias
  ValueId x = parts.Apply(OpKind::kMatMul, std::move(operands), scores, std::move(product));
  x = parts.Apply(OpKind::kSoftmax, {x}, scores);
  parts.Finish(parts.Apply(OpKind::kMatMul, {x, v}, {type, g.shape(g.output(id)), ""}));
  return absl::OkStatus();
}

absl::Status SplitScaledAttention::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kScaledDotProductAttention || file_.Writes(g, id)) continue;
    HALFTONE_RETURN_IF_ERROR(Split(edit, id));
  }
  return absl::OkStatus();
}

}  // namespace halftone
