// SPDX-License-Identifier: Apache-2.0
// matmul(transpose(x, last two), y)  =>  matmul(x, y) {transpose_a}          and the other operand likewise
//
// Legal when the permutation swaps only the last two dimensions; a second transpose undoes the first. Bit-exact: the
// kernel computes the same sums, without the copy.

#include <numeric>
#include <utility>
#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr std::string_view kAttributes[] = {"transpose_a", "transpose_b"};

bool SwapsLastTwo(const Graph& g, NodeId transpose) {
  const std::optional<std::vector<int64_t>> perm = g.ConstantInts(g.input(transpose, 1));
  if (!perm.has_value() || perm->size() < 2) return false;
  std::vector<int64_t> swapped(perm->size());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[perm->size() - 1], swapped[perm->size() - 2]);
  return *perm == swapped;
}

class FoldTransposeIntoMatMul final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-transpose-into-matmul"; }
  std::string_view equation() const override { return "matmul(transpose(x), y) => matmul(x, y) {transpose_a}"; }
  OpSet root() const override { return OpKind::kMatMul; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId matmul, const Target&) const override {
    const auto [a, b] = g.inputs<2>(matmul);
    if (a == b) return No("both operands are the same");
    Refusal refusal = No("no operand is a transpose");
    for (const ValueId operand : {a, b}) {
      if (g.op(operand) != OpKind::kTranspose) continue;
      const NodeId transpose = g.producer(operand);
      if (SwapsLastTwo(g, transpose)) return Match({matmul, transpose}, {g.input(transpose, 0), operand});
      refusal = Kept("the transpose moves more than the last two dimensions");
    }
    return refusal;
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const NodeId matmul = m.root();
    const int operand = edit.graph().input(matmul, 0) == m.value(1) ? 0 : 1;
    const std::string attribute(kAttributes[operand]);
    const bool before = edit.graph().node(matmul).attributes.Bool(attribute, false);
    edit.SetInput(matmul, operand, m.value(0));
    if (before) {
      edit.EraseAttribute(matmul, attribute);
    } else {
      edit.SetAttribute(matmul, attribute, true);
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldTransposeIntoMatMul() { return std::make_unique<FoldTransposeIntoMatMul>(); }

}  // namespace halftone
