// SPDX-License-Identifier: Apache-2.0
// Why nodes of an int8 variant are int8, or are not: what its plan, the search after an accuracy goal and the quantized
// graph say of each node.
#ifndef HALFTONE_OPTIMIZER_EXPLAIN_INT8_H_
#define HALFTONE_OPTIMIZER_EXPLAIN_INT8_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/value_ranges.h"
#include "optimizer/explain.h"
#include "optimizer/int8_options.h"
#include "optimizer/plan_int8.h"

namespace halftone {

// What a search after an accuracy goal (accuracy_control.h) found out.
struct Int8Search {
  std::map<NodeId, Reason> excluded;    // fall back
  std::map<NodeId, double> sqnr_alone;  // in dB, of the worst output where this node alone is int8
};

// By the labels of nodes, as the file's decisions have them.
struct Int8Reasons {
  std::map<std::string, Reason> reasons;
  std::set<std::string> int8;
  std::map<std::string, double> sqnr_alone;  // in dB
  std::map<std::string, ResultRange> results;
};

// `quantized`: the graph after quantization, which keeps the ids of its nodes. `has_fallback_plan`: a planner says why
// the other nodes have their precision.
Int8Reasons ReasonsOfInt8(const Graph& quantized, const Int8Plan& plan, const Int8Search& search, Int8Mode mode,
                          bool has_fallback_plan);

// The ranges of the first outputs of the nodes of `base`, the graph before quantization.
std::map<std::string, ResultRange> ResultRanges(const Graph& base, const ValueRanges& ranges, const Graph& quantized);

void ExplainInt8(const Int8Reasons& reasons, std::vector<NodeDecision>& decisions);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_EXPLAIN_INT8_H_
