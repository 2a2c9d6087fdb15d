// SPDX-License-Identifier: Apache-2.0
// transpose(transpose(x, p), q)  =>  transpose(x, p of q)          x itself if they are inverse
//
// Legal when both permutations are constant. Bit-exact: the same elements in the same places, moved once.

#include <numeric>
#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The combined permutation; empty if one is not constant.
std::vector<int64_t> Together(const Graph& g, NodeId first, NodeId second) {
  const std::optional<std::vector<int64_t>> p = g.ConstantInts(g.input(first, 1)),
                                            q = g.ConstantInts(g.input(second, 1));
  if (!p.has_value() || !q.has_value() || p->size() != q->size()) return {};
  std::vector<int64_t> both;
  for (const int64_t axis : *q) {
    if (axis < 0 || axis >= static_cast<int64_t>(p->size())) return {};
    both.push_back((*p)[axis]);
  }
  return both;
}

bool IsIdentity(const std::vector<int64_t>& perm) {
  std::vector<int64_t> plain(perm.size());
  std::iota(plain.begin(), plain.end(), 0);
  return perm == plain;
}

class MergeTransposes final : public RewriteRule {
 public:
  std::string_view name() const override { return "merge-transposes"; }
  std::string_view equation() const override { return "transpose(transpose(x, p), q) => transpose(x, p of q)"; }
  OpSet root() const override { return OpKind::kTranspose; }
  float tolerance() const override { return kBitExact; }

  FindResult Find(const Graph& g, NodeId second, const Target&) const override {
    const ValueId between = g.input(second, 0);
    if (g.op(between) != OpKind::kTranspose) return No("the input is not a transpose");
    const NodeId first = g.producer(between);
    const std::vector<int64_t> both = Together(g, first, second);
    if (both.empty()) return Kept("a permutation is not constant");
    const ValueId y = g.output(second);
    if (IsIdentity(both) && (g.IsOutput(y) || g.IsCaptured(y)))
      return Kept("they are inverse, and the name of the result must stay");
    return Match({second, first}, {g.input(first, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [second, first] = m.nodes<2>();
    const std::vector<int64_t> both = Together(g, first, second);
    if (IsIdentity(both)) return Bypass(m, m.value(0), edit);
    const ValueId perm = edit.AddConstant("", Tensor::Ints(both, g.type(g.input(second, 1))));
    edit.SetInputs(second, {m.value(0), perm});
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeTransposes() { return std::make_unique<MergeTransposes>(); }

}  // namespace halftone
