// SPDX-License-Identifier: Apache-2.0
// 0.5 * x * (1 + erf(x / sqrt(2)))  =>  gelu(x)
//
// Legal with the factors in any order, with a division by sqrt(2) or a multiplication by its reciprocal. Each constant
// must be exact to the last digits of its type. Not bit-exact: it rounds once where the ops round five times.

#include <numbers>

#include "passes/fusion/contraction.h"
#include "passes/fusion/gelu.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseGelu final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-gelu"; }
  std::string_view equation() const override { return "0.5 * x * (1 + erf(x / sqrt(2))) => gelu(x)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    return FindGelu(g, mul, OpKind::kErf, [&](ValueId argument, ValueId x, std::vector<NodeId>& nodes) {
      auto scaled = NumberOperand(g, argument, OpKind::kDiv, /*swap=*/false);
      double exact = std::numbers::sqrt2;
      if (!scaled.has_value()) {
        scaled = NumberOperand(g, argument, OpKind::kMul);
        exact = 1 / std::numbers::sqrt2;
      }
      if (!scaled.has_value() || scaled->x != x || !IsNumber(scaled->number, exact, g.type(x))) return false;
      nodes.push_back(scaled->node);
      return true;
    });
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kGelu;
    node.inputs = {m.value(0)};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseGelu() { return std::make_unique<FuseGelu>(); }

}  // namespace halftone
