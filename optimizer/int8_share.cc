// SPDX-License-Identifier: Apache-2.0
#include "optimizer/int8_share.h"

#include <cmath>

#include "passes/quantize/quantizable_ops.h"
#include "runtime/measure/profile.h"

namespace halftone {

double ShareOfMultiplyAdds(const Graph& graph, const std::set<NodeId>& nodes) {
  double all = 0, mine = 0;
  for (const NodeId id : graph.nodes()) {
    const double flop = FlopOf(graph, id);
    all += flop;
    if (nodes.contains(id)) mine += flop;
  }
  return all > 0 ? mine / all : std::nan("");
}

double Int8ShareOf(const Graph& prepared) {
  std::set<NodeId> in_int8;
  for (const NodeId id : prepared.nodes()) {
    if (prepared.op(id) == OpKind::kMatMulIntegerToFloat) in_int8.insert(id);
    if (!MultipliesWeights(QuantizedRoleOf(prepared, id))) continue;
    const auto integers = [&](int i) { return prepared.quantization(prepared.input(id, i)) != nullptr; };
    if (integers(0) && integers(1)) in_int8.insert(id);
  }
  const double share = ShareOfMultiplyAdds(prepared, in_int8);
  return std::isfinite(share) ? share : 0;
}

}  // namespace halftone
