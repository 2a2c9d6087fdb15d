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
// of each output. Errors: INVALID_ARGUMENT or UNIMPLEMENTED where `before` cannot be run (free dimensions, opaque
// nodes).
absl::StatusOr<std::string> CompareAnswers(const Graph& before, const Graph& after, uint64_t seed, float tolerance);

// CompareAnswers for the gate: INTERNAL if answers moved. A graph that cannot be run is a note in the context, once.
absl::Status CheckEquivalence(const Pass& pass, const Graph& before, const Graph& after, PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_EQUIVALENCE_H_
