// SPDX-License-Identifier: Apache-2.0
// The last passes of every variant: from a fused graph of set precision to the ops of its file's dialect.
#ifndef HALFTONE_OPTIMIZER_EXPORT_GRAPH_H_
#define HALFTONE_OPTIMIZER_EXPORT_GRAPH_H_

#include "absl/status/status.h"
#include "optimizer/converted_graph.h"
#include "optimizer/options.h"
#include "passes/core/pass.h"

namespace halftone {

// `result.graph` is fused and its precision is set; it becomes the file's ops, and `result` gets decisions, casts and
// rewrites. `otherwise` is the reason of nodes that context.plan (nullptr: there is none) says nothing of. context.log
// must be set.
absl::Status ExportGraph(const OptimizeOptions& options, const Reason& otherwise, PassContext& context,
                         ConvertedGraph& result);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_EXPORT_GRAPH_H_
