// The equivalence check: the same seeded inputs through the graph before and after a pass, by the reference evaluator.
#ifndef HALFTONE_PASSES_CORE_EQUIVALENCE_H_
#define HALFTONE_PASSES_CORE_EQUIVALENCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// "" if both graphs answer alike, else which output differs and how far. `tolerance` is a part of the largest magnitude
// of each output. Free dimensions are bound to small numbers, twice: batches of 1 and of 2. Errors: INVALID_ARGUMENT or
// UNIMPLEMENTED where `before` cannot be run (dimensions for which no number fits, opaque nodes).
absl::StatusOr<std::string> CompareOutputs(const Graph& before, const Graph& after, uint64_t seed, float tolerance);

// What a pass of this declared exactness (kBitExact, kRounding, ...) may do to these graphs: types below f32 round
// coarsely, unless every number stays as it is.
float AllowedDifference(float declared, const Graph& before, const Graph& after);

// CompareOutputs for the gate: INTERNAL if answers moved beyond what the pass declares. A graph that cannot be run is a
// note in the context, once.
absl::Status CheckEquivalence(const Pass& pass, const Graph& before, const Graph& after, PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_EQUIVALENCE_H_
