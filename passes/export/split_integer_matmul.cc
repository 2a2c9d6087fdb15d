// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_integer_matmul.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "passes/export/parts.h"

namespace halftone {
namespace {

constexpr int kA = 0, kB = 1, kAScale = 2, kBScale = 3, kAZeroPoint = 4, kBZeroPoint = 5, kBias = 6;

void SplitIntoMatMulInteger(GraphEditor& edit, NodeId id) {
  const Graph& g = edit.graph();
  const ValueId a_scale = g.input(id, kAScale), b_scale = g.input(id, kBScale), bias = g.input(id, kBias);
  std::vector<ValueId> operands = {g.input(id, kA), g.input(id, kB), g.input(id, kAZeroPoint),
                                   g.input(id, kBZeroPoint)};
  while (!operands.back().valid()) operands.pop_back();
  const DataType type = g.type(g.output(id));
  const Shape shape = g.shape(g.output(id));
  Parts parts(edit, id);
  const ValueId sums = parts.Apply(OpKind::kMatMulInteger, std::move(operands), {DataType::kInt32, shape, ""});
  const ValueId numbers = parts.Apply(OpKind::kCast, {sums}, {type, shape, ""});
  const std::optional<Shape> scales = BroadcastShapes(g.shape(a_scale), g.shape(b_scale));
  const ValueId scale = parts.Apply(OpKind::kMul, {a_scale, b_scale}, {type, scales.value_or(Shape()), ""});
  ValueId y = parts.Apply(OpKind::kMul, {numbers, scale}, {type, shape, ""});
  if (bias.valid()) y = parts.Apply(OpKind::kAdd, {y, bias}, {type, shape, ""});
  parts.Finish(parts.Activate(y));
}

// What a dynamic_quantize_linear makes of matrices, times bytes that TensorFlow's products take: s8, or u8 with a zero
// point.
bool HasProduct(const Graph& g, NodeId id) {
  const ValueId a = g.input(id, kA), b = g.input(id, kB), scale = g.input(id, kBScale), zero = g.input(id, kBZeroPoint);
  if (g.op(a) != OpKind::kDynamicQuantizeLinear) return false;
  const bool is_u8 = g.type(b) == DataType::kUInt8;
  if (is_u8 ? zero.valid() && (!g.IsConstant(zero) || g.shape(zero).num_elements() != 1) : zero.valid()) return false;
  const NodeId maker = g.producer(a);
  const bool is_whole = a == g.output(maker, 0) && g.input(id, kAScale) == g.output(maker, 1) &&
                        g.input(id, kAZeroPoint) == g.output(maker, 2);
  if (!is_whole || !g.IsConstant(b) || g.IsOutput(b) || !(is_u8 || g.type(b) == DataType::kInt8)) return false;
  if (!g.IsConstant(scale)) return false;
  if (!g.shape(b).has_rank() || g.shape(b).rank() != 2 || g.shape(scale).num_elements() != 1) return false;
  const Shape& rows = g.shape(a);
  if (!rows.has_rank() || rows.rank() == 0) return false;
  if (std::count(rows.dims().begin(), rows.dims().end(), Dim::Of(0)) > 0) return false;  // which no reshape can say
  const std::vector<Use>& uses = g.uses(b);
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.index == kB && g.op(use.node) == OpKind::kMatMulIntegerToFloat;
  });
}

void MultiplyAsNumbers(GraphEditor& edit, NodeId id) {
  const Graph& g = edit.graph();
  Parts parts(edit, id);
  Node product;
  product.op = OpKind::kMatMul;
  product.attributes = g.node(id).attributes;
  for (const auto& [integers, scale, zero] :
       {std::tuple(kA, kAScale, kAZeroPoint), std::tuple(kB, kBScale, kBZeroPoint)}) {
    std::vector<ValueId> inputs = {g.input(id, integers), g.input(id, scale)};
    if (g.input(id, zero).valid()) inputs.push_back(g.input(id, zero));
    Attributes attributes;
    if (g.shape(inputs[1]).num_elements() != 1 && g.shape(inputs[0]).has_rank())
      attributes.Set("axis", int64_t{g.shape(inputs[0]).rank() - 1});
    const ValueSpec numbers{DataType::kFloat32, g.shape(inputs[0]), ""};
    product.inputs.push_back(parts.Apply(OpKind::kDequantizeLinear, std::move(inputs), numbers, std::move(attributes)));
  }
  if (g.input(id, kBias).valid()) product.inputs.push_back(g.input(id, kBias));
  const ValueSpec result{DataType::kFloat32, g.shape(g.output(id)), ""};
  parts.Finish(g.output(parts.AddNode(std::move(product), {result})));
}

// The shape of x with `columns` in the place of its last dimension.
ValueId ShapeWithColumns(Parts& parts, const Graph& g, ValueId x, int64_t columns) {
  const Shape& shape = g.shape(x);
  std::vector<int64_t> dims;
  for (int i = 0; i + 1 < shape.rank(); ++i) dims.push_back(shape.dim(i).known() ? shape.dim(i).value : -1);
  const int64_t rows = static_cast<int64_t>(dims.size());
  if (std::count(dims.begin(), dims.end(), -1) <= 1) {
    dims.push_back(columns);
    return parts.Constant("shape", Tensor::Ints(dims));
  }
  const auto ints = [](int64_t count) { return ValueSpec{DataType::kInt64, Shape::Of({count}), ""}; };
  const auto constant = [&](const char* word, int64_t number) {
    return parts.Constant(word, Tensor::Ints(std::vector<int64_t>{number}));
  };
  const ValueId all = parts.Apply(OpKind::kShape, {x}, ints(rows + 1));
  const ValueId first = parts.Apply(OpKind::kSlice, {all, constant("begin", 0), constant("end", rows)}, ints(rows));
  const ValueId axis = parts.Constant("axis", Tensor::IntScalar(0));
  return parts.Apply(OpKind::kConcat, {first, constant("columns", columns), axis}, ints(rows + 1));
}

// `matrices`: a quantization of all rows as one matrix, by that of x.
void MultiplyMatrices(GraphEditor& edit, NodeId id, std::map<NodeId, NodeId>& matrices) {
  const Graph& g = edit.graph();
  const NodeId maker = g.producer(g.input(id, kA));
  const ValueId x = g.input(maker, 0);
  const int64_t depth = g.shape(g.input(id, kB)).dim(0).value, columns = g.shape(g.input(id, kB)).dim(1).value;
  Parts parts(edit, id);
  const bool inside = g.node(id).attributes.String("activation", "none") == "relu";
  Node product;
  product.op = OpKind::kMatMulIntegerToFloat;
  product.inputs = g.node(id).inputs;
  if (inside) product.attributes = g.node(id).attributes;
  const bool is_matrix = g.shape(x).rank() == 2;
  Shape rows = g.shape(g.output(id));
  if (!is_matrix) {
    const std::optional<int64_t> numbers = g.shape(x).num_elements();
    const Dim all_rows = numbers.has_value() && depth > 0 ? Dim::Of(*numbers / depth) : Dim();
    rows = Shape({all_rows, Dim::Of(columns)});
    auto known = matrices.find(maker);
    if (known == matrices.end()) {
      const Shape flat({all_rows, Dim::Of(depth)});
      const ValueId dims = parts.Constant("dims", Tensor::Ints(std::vector<int64_t>{-1, depth}));
      const ValueId matrix = parts.Apply(OpKind::kReshape, {x, dims}, {g.type(x), flat, ""});
      Node quantize;
      quantize.op = OpKind::kDynamicQuantizeLinear;
      quantize.inputs = {matrix};
      const NodeId made = parts.AddNode(std::move(quantize), {{DataType::kUInt8, flat, ""},
                                                              {DataType::kFloat32, Shape::Scalar(), ""},
                                                              {DataType::kUInt8, Shape::Scalar(), ""}});
      known = matrices.emplace(maker, made).first;
    }
    product.inputs[kA] = g.output(known->second, 0);
    product.inputs[kAScale] = g.output(known->second, 1);
    product.inputs[kAZeroPoint] = g.output(known->second, 2);
  }
  ValueId y = g.output(parts.AddNode(std::move(product), {{DataType::kFloat32, rows, ""}}));
  if (!is_matrix) {
    const ValueId shape = ShapeWithColumns(parts, g, x, columns);
    Attributes literal;  // a computed dimension of 0 is 0
    if (!g.IsConstant(shape)) literal.Set("allowzero", true);
    const ValueSpec result{DataType::kFloat32, g.shape(g.output(id)), ""};
    y = parts.Apply(OpKind::kReshape, {y, shape}, result, std::move(literal));
  }
  parts.Finish(inside ? y : parts.Activate(y));
}

}  // namespace

absl::Status SplitIntegerMatMul::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  std::map<NodeId, NodeId> matrices;
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kMatMulIntegerToFloat) continue;
    if (file_.has(FileFeature::kMatMulInteger)) {
      SplitIntoMatMulInteger(edit, id);
      continue;
    }
    if (!HasProduct(g, id)) {
      MultiplyAsNumbers(edit, id);
      continue;
    }
    const std::string activation = g.node(id).attributes.String("activation", "none");
    const bool is_said = g.shape(g.input(id, kA)).rank() == 2 && (activation == "none" || activation == "relu");
    if (!is_said) MultiplyMatrices(edit, id, matrices);
  }
  return absl::OkStatus();
}

}  // namespace halftone
