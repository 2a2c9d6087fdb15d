// The one way in which a pass is run. Whatever every pass needs is here, once: interruption, skip list, verifying,
// timing, dumps, the equivalence check and the text that reproduces a failure.
#ifndef HALFTONE_PASSES_CORE_GATE_H_
#define HALFTONE_PASSES_CORE_GATE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// Runs `pass` once over `graph`; the number of edits. `pipeline` is only for messages and reproducers.
//
// In a pipeline a graph of more than kLargeGraph nodes is verified only where the pass touched it, unless more is asked
// for (verify=full, the equivalence check); the pipeline verifies the whole at its end.
absl::StatusOr<int64_t> RunThroughGate(const Pass& pass, std::string_view pipeline, Graph& graph, PassContext& context);

inline constexpr int kLargeGraph = 2000;

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_GATE_H_
