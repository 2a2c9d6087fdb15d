// SPDX-License-Identifier: Apache-2.0
// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + offset  =>  layer_norm(x, scale, offset)
//
// In the spellings of normalization.h: PyTorch's exporter before opset 17, TensorFlow's moments and
// batch_normalization, Keras' reshaped batch norm. Scale and offset are optional. Legal over the last axes, when
// epsilon is a constant number, and scale and offset have one element for each element of a row. Not bit-exact: the
// order of the sums differs, and below f32 it rounds once where the ops round nine times.

#include <numeric>
#include <utility>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/normalization.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// Whether a parameter has one element for each element of x's dimensions from `axis` on, and is broadcast over the
// dimensions before `axis`.
bool IsOneARow(const Graph& g, ValueId parameter, const Shape& x, int64_t axis) {
  const Shape& own = g.shape(parameter);
  if (!own.has_rank() || own.rank() > x.rank() || own.rank() < x.rank() - axis) return false;
  for (int i = 0; i < own.rank(); ++i) {
    const int at = x.rank() - own.rank() + i;
    const Dim wanted = at < axis ? Dim::Of(1) : x.dim(at);
    if (!wanted.known() || own.dim(i) != wanted) return false;
  }
  return true;
}

class FuseLayerNorm final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-layer-norm"; }
  std::string_view equation() const override {
    return "(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + offset => layer_norm(x, scale, offset)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return NormalizationRoots(); }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    return FindLongestNormalization(g, root, Check);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Normalization norm = std::get<Normalization>(ReadNormalization(g, m.root()));
    const int64_t axis = norm.axes[0], rank = g.shape(norm.x).rank();
    Node node;
    node.op = OpKind::kLayerNorm;
    node.inputs = {norm.x, norm.scale};
    if (!norm.scale.valid()) {
      const std::vector<int64_t> dims = *RowDims(g.shape(norm.x), axis);
      const std::vector<float> ones(*CheckedProduct(dims), 1.0f);
      Tensor tensor = *Tensor::Of<float>(dims, ones).ConvertTo(g.type(norm.x));  // between floats: cannot fail
      node.inputs[1] = edit.AddConstant(FreshName(g, g.Label(m.root()) + "/scale"), std::move(tensor));
    }
    if (norm.offset.valid()) node.inputs.push_back(norm.offset);
    if (axis != rank - 1) node.attributes.Set("axis", axis - rank);
    node.attributes.Set("epsilon", norm.epsilon);
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  // Find for a pattern that ends in this node, ignoring its consumers.
  static FindResult Check(const Graph& g, NodeId root) {
    auto read = ReadNormalization(g, root);
    if (Refusal* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
    const Normalization& norm = std::get<Normalization>(read);
    const Shape& shape = g.shape(norm.x);
    const int64_t axis = shape.rank() - static_cast<int64_t>(norm.axes.size());
    std::vector<int64_t> last(norm.axes.size());
    std::iota(last.begin(), last.end(), axis);
    if (norm.axes != last) return Kept(Concat("the means are not over the last axes of ", Describe(g, norm.x)));
    if (!IsFloatingPoint(g.type(norm.x))) return Kept("its type is not floating-point");
    for (const ValueId parameter : {norm.scale, norm.offset}) {
      if (!parameter.valid()) continue;
      if (!IsOneARow(g, parameter, shape, axis))
        return Kept(DescribeBoth("scale or offset is not a vector over the last axes", g, parameter, norm.x));
      if (g.type(parameter) != g.type(norm.x)) return Kept(DescribeBoth("different types", g, parameter, norm.x));
    }
    if (!norm.scale.valid() && !RowDims(shape, axis).has_value())
      return Kept(Concat("the size of a row is not known: ", Describe(g, norm.x)));
    return Match(norm.nodes);
  }

  static std::optional<std::vector<int64_t>> RowDims(const Shape& shape, int64_t axis) {
    std::vector<int64_t> dims;
    for (int i = static_cast<int>(axis); i < shape.rank(); ++i) {
      if (!shape.dim(i).known()) return std::nullopt;
      dims.push_back(shape.dim(i).value);
    }
    return dims;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLayerNorm() { return std::make_unique<FuseLayerNorm>(); }

}  // namespace halftone
