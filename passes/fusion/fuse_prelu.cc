// SPDX-License-Identifier: Apache-2.0
// relu(x) + slope * (x - |x|) * 0.5,  relu(x) + slope * minimum(x, 0),  relu(x) - slope * relu(-x)
//   =>  prelu(x, slope)
//
// TensorFlow programs, Keras and our own export write it this way. Legal when the slope is a constant that broadcasts
// to x. The factors may have any order, the factor 0.5 may be anywhere, and a negative slope may replace the
// subtraction. Not bit-exact: the multiplications are rounded in a different order.

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The factors of nested multiplications: the constants, and the operands that are no multiplications.
struct Product {
  std::vector<ValueId> constants;
  ValueId rest = kNoValue;
  std::vector<NodeId> nodes;
};

std::optional<Product> ReadProduct(const Graph& g, ValueId value) {
  Product product;
  while (g.op(value) == OpKind::kMul) {
    const NodeId mul = g.producer(value);
    const auto [a, b] = g.inputs<2>(mul);
    if (!a.valid() || !b.valid() || g.IsConstant(a) == g.IsConstant(b)) return std::nullopt;
    product.nodes.push_back(mul);
    product.constants.push_back(g.IsConstant(a) ? a : b);
    value = g.IsConstant(a) ? b : a;
  }
  product.rest = value;
  return product;
}

// The x whose negative part, times the number, is `value`: x - |x| is twice minimum(x, 0), relu(-x) is minus minimum(x,
// 0).
struct NegativePart {
  ValueId x = kNoValue;
  double factor = 1;
  std::vector<NodeId> nodes;
};

std::optional<NegativePart> ReadNegativePart(const Graph& g, ValueId value) {
  const NodeId node = g.producer(value);
  const auto [a, b] = g.inputs<2>(node);
  if (g.op(node) == OpKind::kSub && a.valid() && b.valid() && g.op(b) == OpKind::kAbs) {
    const NodeId abs = g.producer(b);
    if (g.input(abs, 0) != a) return std::nullopt;
    return NegativePart{a, 2, {node, abs}};
  }
  if (g.op(node) == OpKind::kRelu && a.valid() && g.op(a) == OpKind::kNeg)
    return NegativePart{g.input(g.producer(a), 0), -1, {node, g.producer(a)}};
  const auto smaller = NumberOperand(g, value, OpKind::kMinimum);
  if (smaller.has_value() && smaller->number == 0) return NegativePart{smaller->x, 1, {smaller->node}};
  return std::nullopt;
}

// The whole pattern: prelu(x) whose slope is sign * factor * the product of the constants.
struct Whole {
  ValueId x = kNoValue;
  double factor = 1;
  std::vector<ValueId> constants;
  std::vector<NodeId> nodes;
};

std::optional<Whole> ReadWhole(const Graph& g, NodeId root) {
  const bool sub = g.op(root) == OpKind::kSub;
  const auto [a, b] = g.inputs<2>(root);
  if (!a.valid() || !b.valid()) return std::nullopt;
  for (const auto& [positive, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (g.op(positive) != OpKind::kRelu) continue;
    if (sub && positive != a) continue;
    const NodeId relu = g.producer(positive);
    std::optional<Product> product = ReadProduct(g, other);
    if (!product.has_value() || product->constants.empty()) continue;
    const std::optional<NegativePart> part = ReadNegativePart(g, product->rest);
    if (!part.has_value() || !part->x.valid() || part->x != g.input(relu, 0)) continue;
    Whole whole{part->x, sub ? -part->factor : part->factor, std::move(product->constants), {root, relu}};
    whole.nodes.insert(whole.nodes.end(), product->nodes.begin(), product->nodes.end());
    whole.nodes.insert(whole.nodes.end(), part->nodes.begin(), part->nodes.end());
    return whole;
  }
  return std::nullopt;
}

// The slope, computed in f64 and rounded once to f32, in the shape of the only constant that is not a scalar; nullopt
// if there are several.
std::optional<Tensor> SlopeOf(const Graph& g, const Whole& whole) {
  double factor = whole.factor;
  const Tensor* vector = nullptr;
  for (const ValueId constant : whole.constants) {
    const Tensor* tensor = g.ConstantTensor(constant);
    if (tensor->type() != DataType::kFloat32 || (tensor->num_elements() != 1 && vector != nullptr)) return std::nullopt;
    if (tensor->num_elements() != 1) vector = tensor;
    if (tensor->num_elements() == 1) factor *= tensor->ToDoubles()[0];
  }
  const std::vector<double> elements = vector == nullptr ? std::vector<double>{1} : vector->ToDoubles();
  std::vector<float> slope;
  for (const double element : elements) slope.push_back(static_cast<float>(element * factor));
  return Tensor::Of<float>(vector == nullptr ? std::vector<int64_t>{1} : vector->dims(), slope);
}

bool BroadcastsTo(const Tensor& slope, const Shape& x) {
  if (!x.has_rank() || x.rank() < slope.rank()) return false;
  for (int i = 0; i < slope.rank(); ++i) {
    if (slope.dims()[i] != 1 && slope.dims()[i] != x.dim(x.rank() - slope.rank() + i).value) return false;
  }
  return true;
}

class FusePRelu final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-prelu"; }
  std::string_view equation() const override {
    return "relu(x) + slope * minimum(x, 0) => prelu(x, slope), however the minimum is written";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kSub}; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    const std::optional<Whole> whole = ReadWhole(g, root);
    if (!whole.has_value()) return No("it does not add a relu and a multiple of the negative part");
    if (g.type(whole->x) != DataType::kFloat32) return Kept(Concat("its type is not f32: ", Describe(g, whole->x)));
    const std::optional<Tensor> slope = SlopeOf(g, *whole);
    if (!slope.has_value()) return Kept("two of the factors are not scalars");
    if (!BroadcastsTo(*slope, g.shape(whole->x)))
      return Kept(Concat("the slope does not broadcast to ", Describe(g, whole->x)));
    if (g.shape(g.output(root)) != g.shape(whole->x))
      return Kept(DescribeBoth("a number is broadcast to another shape", g, whole->x, g.output(root)));
    return Match(whole->nodes);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Whole whole = *ReadWhole(g, m.root());
    Node node;
    node.op = OpKind::kPRelu;
    node.inputs = {whole.x, edit.AddConstant(FreshName(g, g.Label(m.root()) + "/slope"), *SlopeOf(g, whole))};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFusePRelu() { return std::make_unique<FusePRelu>(); }

}  // namespace halftone
