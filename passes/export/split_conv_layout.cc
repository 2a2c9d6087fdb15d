// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_conv_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/window.h"
#include "passes/export/parts.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

Shape Permuted(const Shape& shape, const std::vector<int64_t>& perm) {
  if (!shape.has_rank()) return Shape();
  std::vector<Dim> dims;
  for (const int64_t axis : perm) dims.push_back(shape.dim(static_cast<int>(axis)));
  return Shape(std::move(dims));
}

ValueId Transposed(Parts& parts, const Graph& g, ValueId x, const std::vector<int64_t>& perm) {
  const ValueId order = parts.Constant("perm", Tensor::Ints(perm));
  return parts.Apply(OpKind::kTranspose, {x, order}, {g.type(x), Permuted(g.shape(x), perm), ""});
}

}  // namespace

absl::Status SplitConvLayout::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kConv || !IsChannelsLast(g.node(id).attributes) || file_.Writes(g, id)) continue;
    const std::optional<int> rank = ResultRank(g, id);
    if (!rank.has_value() || *rank < 3) continue;
    std::vector<int64_t> to_nchw(*rank), to_nhwc(*rank);
    std::iota(to_nchw.begin(), to_nchw.end(), 0);
    std::iota(to_nhwc.begin(), to_nhwc.end(), 0);
    std::rotate(to_nchw.begin() + 1, to_nchw.end() - 1, to_nchw.end());
    std::rotate(to_nhwc.begin() + 1, to_nhwc.begin() + 2, to_nhwc.end());
    Parts parts(edit, id);
    Node conv = g.node(id);
    const ValueId y = g.output(id);
    conv.attributes.Erase("layout");
    conv.inputs[0] = Transposed(parts, g, conv.inputs[0], to_nchw);
    if (HasResidual(g, id)) conv.inputs[kResidualInput] = Transposed(parts, g, conv.inputs[kResidualInput], to_nchw);
    const ValueSpec inside{g.type(y), Permuted(g.shape(y), to_nchw), ""};
    const ValueId image = parts.Apply(OpKind::kConv, std::move(conv.inputs), inside, std::move(conv.attributes));
    parts.Finish(Transposed(parts, g, image, to_nhwc));
  }
  return absl::OkStatus();
}

}  // namespace halftone
