// SPDX-License-Identifier: Apache-2.0
// Runs a pass over a graph and all graphs nested in it.
#ifndef HALFTONE_PASSES_CORE_NESTED_RUN_H_
#define HALFTONE_PASSES_CORE_NESTED_RUN_H_

#include "absl/status/status.h"
#include "ir/editor.h"
#include "passes/core/pass.h"

namespace halftone {

// Runs `pass` on the graphs that the graph's nodes hold, the innermost first, then on the graph itself, and stores the
// changed nested graphs. Nested graphs have no precision plan: a plan covers only the outermost graph. Entries of the
// log name a nested node by the node that holds its graph: "loop/body/add". REQUIRES: CheckNesting holds. Recurses over
// at most kMaxNestingDepth levels of nesting.
absl::Status RunEverywhere(const Pass& pass, GraphEditor& edit, PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_NESTED_RUN_H_
