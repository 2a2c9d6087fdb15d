// SPDX-License-Identifier: Apache-2.0
// view(view(x))  =>  reshape(x)          a view: reshape, squeeze, unsqueeze, flatten; x itself if the shape is x's
//
// Legal when at most one dimension of the result is unknown. Bit-exact: no element moves. Views have no cost at run
// time; with fewer of them other rules match more often.

#include <string>
#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/views.h"

namespace halftone {
namespace {

// The shape with -1 for an unknown dimension; empty if more than one is unknown.
std::vector<int64_t> TargetShape(const Shape& shape) {
  std::vector<int64_t> dims;
  int unknown = 0;
  if (!shape.has_rank()) return dims;
  for (const Dim& dim : shape.dims()) {
    unknown += dim.known() ? 0 : 1;
    dims.push_back(dim.known() ? dim.value : -1);
  }
  if (unknown > 1) dims.clear();
  return dims;
}

bool HasZero(const std::vector<int64_t>& dims) {
  for (const int64_t dim : dims) {
    if (dim == 0) return true;
  }
  return false;
}

class MergeReshapes final : public RewriteRule {
 public:
  std::string_view name() const override { return "merge-reshapes"; }
  std::string_view equation() const override { return "view(view(x)) => reshape(x)"; }
  OpSet root() const override { return {OpKind::kReshape, OpKind::kSqueeze, OpKind::kUnsqueeze, OpKind::kFlatten}; }
  float tolerance() const override { return kBitExact; }

  FindResult Find(const Graph& g, NodeId second, const Target&) const override {
    const ValueId between = g.input(second, 0), y = g.output(second);
    if (!IsView(g, g.producer(between))) return No("the input is not a view");
    const NodeId first = g.producer(between);
    const std::vector<int64_t> shape = TargetShape(g.shape(y));
    if (shape.empty() || HasZero(shape)) return Kept("more than one dimension of the result is unknown");
    return Match({second, first}, {g.input(first, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const ValueId x = m.value(0), y = g.output(m.root());
    if (SameShape(g.shape(x), g.shape(y)) && !g.IsOutput(y) && !g.IsCaptured(y)) return Bypass(m, x, edit);
    const std::vector<int64_t> shape = TargetShape(g.shape(y));
    Node reshape;
    reshape.op = OpKind::kReshape;
    reshape.inputs = {x, edit.AddConstant("", Tensor::Ints(shape, DataType::kInt64))};
    ReplaceByNode(edit, m.root(), std::move(reshape));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeReshapes() { return std::make_unique<MergeReshapes>(); }

}  // namespace halftone
