// SPDX-License-Identifier: Apache-2.0
// What the steps that set precisions (convert.h, quantize.h) hand to the export of a variant.
#ifndef HALFTONE_OPTIMIZER_CONVERTED_GRAPH_H_
#define HALFTONE_OPTIMIZER_CONVERTED_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "optimizer/explain.h"
#include "optimizer/rewrites.h"
#include "optimizer/variant_kind.h"

namespace halftone {

// Casts between floating types; -1: not known.
struct CastCounts {
  int64_t planned = 0;  // as the plan placed them
  int64_t in_file = 0;  // of the written graph
  int64_t run = -1;     // steps of the file as it runs that convert and do nothing else
};

struct ConvertedGraph {
  VariantKind kind = VariantKind::kFp32;
  Graph graph;  // of the ops that its format and dialect have
  std::string summary;
  std::string calibration;  // for the file: where the ranges of int8 come from; "": none
  bool emulated = false;
  std::string not_measured;             // why it is written but not run; "": it is run
  std::vector<NodeDecision> decisions;  // why each node has its precision
  CastCounts casts;
  RewriteSummary rewrites;
  std::vector<std::string> warnings;
  std::vector<std::string> refused_by;  // why widely used runtimes do not load the file, one sentence each
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_CONVERTED_GRAPH_H_
