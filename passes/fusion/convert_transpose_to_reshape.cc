// SPDX-License-Identifier: Apache-2.0
// transpose(x, p)  =>  reshape(x)          where p moves only dimensions of size 1
//
// Legal when the dimensions that are not known to be 1 keep their order, and at most one dimension is unknown.
// Bit-exact, and it removes a copy: a reshape is a view.

#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

bool KeepsOrder(const Shape& shape, const std::vector<int64_t>& perm) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= shape.rank()) return false;
    if (shape.dim(static_cast<int>(axis)) == Dim::Of(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

class ConvertTransposeToReshape final : public RewriteRule {
 public:
  std::string_view name() const override { return "convert-transpose-to-reshape"; }
  std::string_view equation() const override { return "transpose(x, of dimensions of size 1) => reshape(x)"; }
  OpSet root() const override { return OpKind::kTranspose; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId transpose, const Target&) const override {
    const ValueId x = g.input(transpose, 0);
    const std::optional<std::vector<int64_t>> perm = g.ConstantInts(g.input(transpose, 1));
    if (!perm.has_value()) return No("the permutation is not constant");
    const Shape& shape = g.shape(x);
    if (!shape.has_rank() || static_cast<size_t>(shape.rank()) != perm->size()) return Kept("the rank is not known");
    if (!KeepsOrder(shape, *perm)) return No("it moves elements");
    int unknown = 0;
    for (const Dim& dim : shape.dims()) {
      if (dim.value == 0) return Kept("there are no elements");
      unknown += dim.known() ? 0 : 1;
    }
    if (unknown > 1) return Kept("more than one dimension is unknown");
    return Match({transpose}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Shape& shape = g.shape(m.value(0));
    std::vector<int64_t> dims;
    const std::vector<int64_t> perm = *g.ConstantInts(g.input(m.root(), 1));
    for (const int64_t axis : perm) {
      const Dim& dim = shape.dim(static_cast<int>(axis));
      dims.push_back(dim.known() ? dim.value : -1);
    }
    Node reshape;
    reshape.op = OpKind::kReshape;
    reshape.inputs = {m.value(0), edit.AddConstant("", Tensor::Ints(dims, DataType::kInt64))};
    ReplaceByNode(edit, m.root(), std::move(reshape));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeConvertTransposeToReshape() { return std::make_unique<ConvertTransposeToReshape>(); }

}  // namespace halftone
