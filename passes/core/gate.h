// SPDX-License-Identifier: Apache-2.0
// Runs one pass. It does for every pass: interruption, skip list, verification, timing, dumps, the equivalence check
// and the reproducer of a failure.
#ifndef HALFTONE_PASSES_CORE_GATE_H_
#define HALFTONE_PASSES_CORE_GATE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// Runs `pass` once over `graph` and returns the number of edits. `pipeline` is only for messages and reproducers.
//
// In a pipeline, only the nodes that the pass touched are verified if the graph has more than kLargeGraph nodes, except
// with verify=full or the equivalence check; the pipeline verifies the whole graph at its end.
absl::StatusOr<int64_t> RunThroughGate(const Pass& pass, std::string_view pipeline, Graph& graph, PassContext& context);

inline constexpr int kLargeGraph = 2000;

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_GATE_H_
