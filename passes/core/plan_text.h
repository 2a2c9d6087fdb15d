// SPDX-License-Identifier: Apache-2.0
// A precision plan as a line of text: "m=bf16, add=f32, n=bf16->f32" (with an f32 result). Nodes are named by their
// labels; every other node is f32.
#ifndef HALFTONE_PASSES_CORE_PLAN_TEXT_H_
#define HALFTONE_PASSES_CORE_PLAN_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"

namespace halftone {

// The decisions for nodes of `graph` that are not f32; "" if there are none.
std::string PrintPlan(const PrecisionPlan& plan, const Graph& graph);

// INVALID_ARGUMENT names the item that is not node=type.
absl::StatusOr<PrecisionPlan> ParsePlan(std::string_view text, const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PLAN_TEXT_H_
