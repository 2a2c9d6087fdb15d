// SPDX-License-Identifier: Apache-2.0
#include "optimizer/int8_share.h"

#include "passes/quantize/quantizable_ops.h"
#include "runtime/measure/profile.h"

namespace halftone {
namespace {

bool ComputesInInt8(const Graph& prepared, NodeId id) {
  if (prepared.op(id) == OpKind::kMatMulIntegerToFloat) return true;
  if (!MultipliesWeights(QuantizedRoleOf(prepared, id))) return false;
  const auto integers = [&](int i) { return prepared.quantization(prepared.input(id, i)) != nullptr; };
  return integers(0) && integers(1);
}

}  // namespace

double Int8ShareOf(const Graph& prepared) {
  double all = 0, int8 = 0;
  for (const NodeId id : prepared.nodes()) {
    const double flop = FlopOf(prepared, id);
    all += flop;
    if (ComputesInInt8(prepared, id)) int8 += flop;
  }
  return all > 0 ? int8 / all : 0;
}

}  // namespace halftone
