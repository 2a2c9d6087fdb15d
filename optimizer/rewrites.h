// SPDX-License-Identifier: Apache-2.0
// What the passes did to a graph and what they left alone, for the report.
#ifndef HALFTONE_OPTIMIZER_REWRITES_H_
#define HALFTONE_OPTIMIZER_REWRITES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

struct RewriteResult {
  std::string pass, node, reason;
};

// What one rule or pass did in the whole graph.
struct FusionCount {
  std::string pass;
  int64_t count = 0;
  std::string equation;  // "": not the same everywhere
};

// How the graph of a variant came about.
struct RewriteSummary {
  // Nodes that compute: as imported, and as they are run. Operators of the file, constants and inputs aside.
  int64_t nodes_before = 0, nodes_after = 0, nodes_written = 0;
  std::vector<RewriteResult> applied;
  std::vector<FusionCount> fusions;    // by pass; see SortFusions
  std::vector<RewriteResult> refused;  // patterns that did not fuse, and the fact that stopped them
  int64_t passes_verified = 0;         // runs of passes whose outputs were compared
};

// Nodes that compute something: neither inputs, constants, opaque nor control flow as written.
bool Computes(OpKind op);
int64_t CountComputing(const Graph& graph);

// Adds what a run of passes left in `context` (whose log must be set). A refusal counts once, and not where the same rule
// applied to the same node, in this run or another one.
void AddRewrites(const PassContext& context, RewriteSummary& summary);

// Puts the most frequent fusions first; of equal ones those that were added first.
void SortFusions(RewriteSummary& summary);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_REWRITES_H_
