// SPDX-License-Identifier: Apache-2.0
// A step of a job: the int8 variant, from the fused graph that is calibrated to the quantized one that is written.
#ifndef HALFTONE_OPTIMIZER_LOWER_INT8_H_
#define HALFTONE_OPTIMIZER_LOWER_INT8_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/precision_plan.h"
#include "ir/target.h"
#include "ir/value_ranges.h"
#include "optimizer/converted_graph.h"
#include "optimizer/explain_int8.h"
#include "optimizer/optimize.h"
#include "optimizer/options.h"
#include "optimizer/samples.h"
#include "passes/precision/policy_rules.h"

namespace halftone {

// The fused graph of which int8 is made: calibrated and quantized, both by the names of its values.
struct Int8Base {
  Graph graph;             // fused; origins are nodes of the model as imported
  Ancestry ancestry;       // of its nodes; refers to the OptimizedModel, which must outlive it
  InputDims samples;       // of the arrays that the file will be run with; empty: random inputs
  PrecisionPlan fallback;  // of nodes that are not int8, by origin; empty where these are fp32
  RewriteSummary rewrites;
  std::vector<std::string> warnings;
};

// Nodes of different planned precision are not fused: where options.int8.fallback_precision is bf16, the planner and
// rules of the job plan it here. Where the CPU has no instructions for bf16 and options.force is not set, the fallback
// is fp32, with a warning.
absl::StatusOr<Int8Base> MakeInt8Base(const OptimizedModel& model, const Target& target,
                                      const OptimizeOptions& options);

// With options.int8.smooth: outlier channels go from the left operands of matmuls into their weights
// (passes/quantize/smooth_activations.h). `ranges` were made of the base's graph, and change with it.
absl::Status SmoothBase(Int8Base& base, ValueRanges& ranges, const Target& target, const OptimizeOptions& options);

// The variant, ready to be written.
// A model of which nothing can be int8 is no error: it stays fp32, with the reason in summary and warnings.
absl::StatusOr<ConvertedGraph> MakeInt8(const Int8Base& base, const ValueRanges& ranges, const OptimizedModel& model,
                                        const Target& target, const OptimizeOptions& options,
                                        const Int8Search& search = {});

// The base's graph with these nodes quantized, and the others as base.fallback has them: before its export.
absl::StatusOr<Graph> QuantizeNodes(const Int8Base& base, const ValueRanges& ranges, const std::set<NodeId>& nodes,
                                    const Target& target, const OptimizeOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOWER_INT8_H_
