// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/gelu.h"

#include <utility>

#include "passes/core/reasons.h"
#include "passes/fusion/numbers.h"

namespace halftone {
namespace {

// 0.5 * left * right; `inner` is the multiplication that is not the root.
struct HalfProduct {
  NodeId inner;
  ValueId left, right;
};

// The ways to read root = a * b as 0.5 * left * right: (left * right) * 0.5, (0.5 * left) * right, left * (0.5 *
// right).
std::vector<HalfProduct> HalfProducts(const Graph& g, NodeId root) {
  std::vector<HalfProduct> ways;
  const auto is_half = [&](const std::optional<WithNumber>& product) {
    return product.has_value() && product->number == 0.5;
  };
  if (const auto half = NumberOperand(g, g.output(root), OpKind::kMul); is_half(half)) {
    if (g.op(half->x) != OpKind::kMul) return ways;
    const NodeId inner = g.producer(half->x);
    const auto [left, right] = g.inputs<2>(inner);
    if (left.valid() && right.valid()) ways.push_back({inner, left, right});
    return ways;
  }
  const auto [a, b] = g.inputs<2>(root);
  if (!a.valid() || !b.valid()) return ways;
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto half = NumberOperand(g, one, OpKind::kMul); is_half(half))
      ways.push_back({half->node, half->x, other});
  }
  return ways;
}

}  // namespace

FindResult FindGelu(const Graph& g, NodeId mul, OpKind gate_op, const GeluGate& gate) {
  Refusal refusal = No("it is not 0.5 times a product of two values");
  for (const HalfProduct& way : HalfProducts(g, mul)) {
    for (const auto& [x, sum] : {std::pair(way.left, way.right), std::pair(way.right, way.left)}) {
      const std::optional<WithNumber> one = NumberOperand(g, sum, OpKind::kAdd);
      if (!one.has_value() || one->number != 1 || g.op(one->x) != gate_op) continue;
      const NodeId gate_node = g.producer(one->x);
      std::vector<NodeId> nodes = {mul, way.inner, one->node, gate_node};
      if (!gate(g.input(gate_node, 0), x, nodes)) {
        refusal = Kept(
            DescribeBoth("the gate reads a different value or has different numbers", g, g.input(gate_node, 0), x));
        continue;
      }
      if (g.shape(g.output(mul)) != g.shape(x)) {
        refusal = Kept(DescribeBoth("a number is broadcast to another shape", g, x, g.output(mul)));
        continue;
      }
      return Match(std::move(nodes), {x});
    }
  }
  return refusal;
}

}  // namespace halftone
