// SPDX-License-Identifier: Apache-2.0
// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))  =>  gelu(x) {approximate="tanh"}
//
// Legal with the factors in any order, and the cube as a power or as multiplications. Each constant must be exact to
// the last digits of its type. Not bit-exact: it rounds once where the ops round eight times.

#include <cmath>
#include <numbers>

#include "passes/fusion/contraction.h"
#include "passes/fusion/gelu.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The nodes that compute the cube of x; empty if the value is not x^3.
std::vector<NodeId> CubeOf(const Graph& g, ValueId cube, ValueId x) {
  const auto power = NumberOperand(g, cube, OpKind::kPow, /*swap=*/false);
  if (power.has_value()) return power->x == x && power->number == 3 ? std::vector{power->node} : std::vector<NodeId>();
  if (g.op(cube) != OpKind::kMul) return {};
  auto [one, square] = g.inputs<2>(g.producer(cube));
  if (one != x) std::swap(one, square);
  if (one != x || !square.valid()) return {};
  const NodeId node = g.producer(square);
  if (g.op(node) == OpKind::kSquare && g.input(node, 0) == x) return {g.producer(cube), node};
  if (g.op(node) != OpKind::kMul || g.input(node, 0) != x || g.input(node, 1) != x) return {};
  return {g.producer(cube), node};
}

class FuseGeluTanh final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-gelu-tanh"; }
  std::string_view equation() const override {
    return "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) => gelu(x) {approximate=\"tanh\"}";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    return FindGelu(g, mul, OpKind::kTanh, [&](ValueId argument, ValueId x, std::vector<NodeId>& nodes) {
      const DataType type = g.type(x);
      const auto scaled = NumberOperand(g, argument, OpKind::kMul);
      if (!scaled.has_value() || !IsNumber(scaled->number, std::sqrt(2 / std::numbers::pi), type)) return false;
      if (g.op(scaled->x) != OpKind::kAdd) return false;
      const NodeId sum = g.producer(scaled->x);
      auto [self, rest] = g.inputs<2>(sum);
      if (self != x) std::swap(self, rest);
      const auto part = NumberOperand(g, rest, OpKind::kMul);
      if (self != x || !part.has_value() || !IsNumber(part->number, 0.044715, type)) return false;
      const std::vector<NodeId> cube = CubeOf(g, part->x, x);
      if (cube.empty()) return false;
      nodes.insert(nodes.end(), {scaled->node, sum, part->node});
      nodes.insert(nodes.end(), cube.begin(), cube.end());
      return true;
    });
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kGelu;
    node.inputs = {m.value(0)};
    node.attributes.Set("approximate", std::string("tanh"));
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseGeluTanh() { return std::make_unique<FuseGeluTanh>(); }

}  // namespace halftone
