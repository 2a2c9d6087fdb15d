// SPDX-License-Identifier: Apache-2.0
// concat(x_0, x_0, x_1, x_1, ..)  with  x_0, x_1, .. = split(x) into single rows   =>   resize(x) {nearest}
//
// Keras repeats rows and columns this way (UpSampling2D, repeat_elements). Legal over a spatial dimension of an image
// of rank 4 with known sizes and of a type that resize supports, when the split has one row per part and the concat has
// each part equally often, in order, along the same dimension. Bit-exact: row i of the result is row i / n of x.

#include <vector>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The types that TensorFlow's registry lists for resize and that f64, in which a resize may be computed, represents
// exactly.
bool ResizeTakes(DataType type) {
  return IsFloatingPoint(type) || (IsInteger(type) && ElementSize(type) <= 4 && type != DataType::kUInt32);
}

class FuseResizeNearest final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-resize-nearest"; }
  std::string_view equation() const override {
    return "concat(x_0, x_0, x_1, x_1, ..), x_i = split(x) into rows => resize(x) {nearest}";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kConcat; }

  FindResult Find(const Graph& g, NodeId concat, const Target&) const override {
    const int count = static_cast<int>(g.node(concat).inputs.size()) - 1;
    const ValueId first = g.input(concat, 0);
    if (count < 2 || !first.valid() || g.op(first) != OpKind::kSplit)
      return No("it does not concatenate the parts of a split");
    const NodeId split = g.producer(first);
    const int parts = static_cast<int>(g.node(split).outputs.size());
    if (count == parts) return No("it concatenates each part only once");
    const ValueId x = g.input(split, 0);
    const Shape& shape = g.shape(x);
    if (!shape.has_rank() || shape.rank() != 4) return Kept(Concat("it is not an image of rank 4: ", Describe(g, x)));
    if (!ResizeTakes(g.type(x))) return Kept(Concat("resize does not support the type: ", Describe(g, x)));
    const std::optional<double> axis = Axis(g, g.input(concat, count)), across = Axis(g, g.input(split, 2));
    if (!axis.has_value() || axis != across || *axis == 0)
      return Kept(DescribeBoth("split and concat are not along the same spatial dimension", g, g.input(split, 2),
                               g.input(concat, count)));
    const int at = static_cast<int>(*axis);
    if (shape.dim(at).value != parts)
      return Kept(Concat("the parts are not single rows: ", parts, " along ", at, " of ", Describe(g, x)));
    if (count % parts != 0)
      return Kept(Concat("the rows are not repeated equally often: ", count, " concatenated of ", parts));
    for (int i = 0; i < count; ++i) {
      const ValueId row = g.input(concat, i);
      if (row != g.output(split, i / (count / parts)))
        return Kept(Concat("the rows are not in order: at ", i, " is output ", g.value(row).port, " of '",
                           g.Label(g.producer(row)), "', not ", i / (count / parts)));
    }
    if (g.layout() == GraphLayout::kChannelsLast && (at == 3 || !shape.dim(1).known() || !shape.dim(2).known()))
      return Kept(Concat("of a channels-last image, dimensions 1 and 2 are resized, of known sizes: ", at, " of ",
                         Describe(g, x)));
    return Match({concat, split}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [concat, split] = m.nodes<2>();
    const int count = static_cast<int>(g.node(concat).inputs.size()) - 1;
    const int parts = static_cast<int>(g.node(split).outputs.size());
    const int axis = static_cast<int>(*Axis(g, g.input(concat, count)));
    const std::string label = g.Label(concat);
    Node node;
    node.op = OpKind::kResize;
    node.attributes.Set("mode", std::string("nearest"));
    node.attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
    node.attributes.Set("nearest_mode", std::string("floor"));
    if (g.layout() == GraphLayout::kChannelsLast) {
      std::vector<int64_t> sizes = {g.shape(m.value(0)).dim(1).value, g.shape(m.value(0)).dim(2).value};
      sizes[axis - 1] = count;
      node.attributes.Set("axes", std::vector<int64_t>{1, 2});
      node.inputs = {m.value(0), kNoValue, kNoValue,
                     edit.AddConstant(FreshName(g, label + "/size"), Tensor::Ints(sizes, DataType::kInt32))};
    } else {
      std::vector<float> scales(4, 1.0f);
      scales[axis] = static_cast<float>(count / parts);
      node.inputs = {m.value(0), kNoValue,
                     edit.AddConstant(FreshName(g, label + "/scales"), Tensor::Of<float>({4}, scales))};
    }
    ReplaceByNode(edit, concat, std::move(node));
    return absl::OkStatus();
  }

 private:
  // A constant axis of an image, not negative.
  static std::optional<double> Axis(const Graph& g, ValueId axis) {
    std::optional<double> number = axis.valid() ? g.ConstantScalar(axis) : std::optional<double>(0.0);
    if (number.has_value() && *number < 0) *number += 4;
    return number;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseResizeNearest() { return std::make_unique<FuseResizeNearest>(); }

}  // namespace halftone
