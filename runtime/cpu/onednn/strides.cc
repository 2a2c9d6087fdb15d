// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/strides.h"

namespace halftone::onednn {

std::optional<Dims> StridesAsItLies(const NodeContext& context, int i) {
  const Dims dims = context.InputDims(i);
  const Placement there = context.InputPlacement(i);
  if (there.plain() || there.type != context.InputType(i)) return std::nullopt;
  const Desc desc = DescOf(dims, there);
  if (desc.get_inner_nblks() != 0 || desc.get_padded_dims() != dims) return std::nullopt;
  return desc.get_strides();
}

std::optional<Dims> StridesForTranspose(const NodeContext& context, const Dims& dst) {
  const Graph& graph = context.graph();
  const ValueId y = graph.output(context.id());
  const std::vector<Use>& uses = graph.uses(y);
  if (uses.size() != 1 || graph.IsOutput(y) || graph.op(uses[0].node) != OpKind::kTranspose) return std::nullopt;
  const std::optional<std::vector<int64_t>> perm = graph.ConstantInts(graph.input(uses[0].node, 1));
  if (!perm.has_value() || perm->size() != dst.size() || perm->back() + 1 != static_cast<int64_t>(dst.size()))
    return std::nullopt;
  Dims strides(dst.size(), 0);
  int64_t stride = 1;
  for (size_t i = perm->size(); i-- > 0;) {
    strides[(*perm)[i]] = stride;
    stride *= dst[(*perm)[i]];
  }
  return strides;
}

}  // namespace halftone::onednn
