// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/use_bf16_math_mode.h"

#include <string>

#include "passes/fusion/contraction.h"
#include "passes/precision/mixed_types.h"

namespace halftone {

absl::Status UseBf16MathMode::Run(GraphEditor& edit, PassContext& context) const {
  constexpr DataType kF32 = DataType::kFloat32;
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (!MathModeOps().has(g.op(id)) || g.node(id).attributes.has("math_mode")) continue;
    const ValueId x = g.input(id, 0), weights = g.input(id, kWeightsInput);
    if (!g.IsConstant(weights) || g.type(x) != kF32 || g.type(weights) != kF32 || g.type(g.output(id)) != kF32)
      continue;
    if (!RunsAs(context.target, g, id, {kF32, kF32, kF32, true, /*bf16_math=*/true})) continue;
    edit.SetAttribute(id, "math_mode", std::string("bf16"));
  }
  return absl::OkStatus();
}

}  // namespace halftone
