// SPDX-License-Identifier: Apache-2.0
// The equivalence check: the reference evaluator runs the graph before and after a pass on the same seeded inputs.
#ifndef HALFTONE_PASSES_CORE_EQUIVALENCE_H_
#define HALFTONE_PASSES_CORE_EQUIVALENCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// "" if the outputs of both graphs agree, else the output that differs and by how much. `tolerance` is relative to the
// largest magnitude of each output. Dynamic dimensions are bound to small numbers, twice: for batch 1 and batch 2.
// Errors: INVALID_ARGUMENT or UNIMPLEMENTED if `before` cannot be run (no numbers match its dimensions, opaque nodes).
absl::StatusOr<std::string> CompareOutputs(const Graph& before, const Graph& after, uint64_t seed, float tolerance);

// The allowed difference for a pass of this declared exactness (kBitExact, kRounding, ...) on these graphs. It is
// larger for graphs with types below f32, except for bit-exact passes.
float AllowedDifference(float declared, const Graph& before, const Graph& after);

// CompareOutputs for the gate: INTERNAL if outputs change by more than the pass declares. A graph that cannot be run
// adds one note to the context.
absl::Status CheckEquivalence(const Pass& pass, const Graph& before, const Graph& after, PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_EQUIVALENCE_H_
