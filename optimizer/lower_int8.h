// The int8 variant: which graph is calibrated, and what becomes of it.
#ifndef HALFTONE_OPTIMIZER_LOWER_INT8_H_
#define HALFTONE_OPTIMIZER_LOWER_INT8_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/precision_plan.h"
#include "optimizer/calibrate.h"
#include "optimizer/job.h"
#include "optimizer/lower.h"
#include "passes/precision/policy_rules.h"

namespace halftone {

// The fused graph of which int8 is made: calibrated and quantized, both by the names of its values.
struct Int8Base {
  Graph graph;         // fused; origins are nodes of the model as imported
  Ancestry ancestry;   // of its nodes; refers to the PreparedModel, which must outlive it
  InputDims samples;   // of the arrays that the file will be run with; empty: random inputs
  PrecisionPlan rest;  // of what is not int8, by origin; nothing where that is fp32
  RewriteSummary rewrites;
  std::vector<std::string> warnings;
};

// Fused with options.int8.rest in mind: bf16 is planned here by the planner and rules of the job. Where the CPU has no
// instructions for bf16 and options.force is not set, the rest is fp32, with a warning.
absl::StatusOr<Int8Base> MakeInt8Base(const PreparedModel& model, const Target& target, const OptimizeOptions& options);

// With options.int8.smooth: outlier channels go from the left operands of products into their weights
// (passes/quantize/smooth_activations.h). `ranges` were made of the base's graph, and change with it.
absl::Status SmoothBase(Int8Base& base, ValueRanges& ranges, const Target& target, const OptimizeOptions& options);

// What a search after an accuracy goal (accuracy_control.h) found out.
struct Int8Search {
  std::map<NodeId, Reason> excluded;    // stay out of int8
  std::map<NodeId, double> sqnr_alone;  // in dB, of the worst output where this node alone is int8
};

// The variant, ready to be written.
// A model of which nothing can be int8 is no error: it stays fp32, with the reason in summary and warnings.
absl::StatusOr<LoweredGraph> MakeInt8(const Int8Base& base, const ValueRanges& ranges, const PreparedModel& model,
                                      const Target& target, const OptimizeOptions& options,
                                      const Int8Search& search = {});

// The base's graph with pairs around these nodes, and the others as base.rest has them: before its export.
absl::StatusOr<Graph> LowerBase(const Int8Base& base, const ValueRanges& ranges, const std::set<NodeId>& nodes,
                                const Target& target, const OptimizeOptions& options);

// Of the multiply-adds of a file's contractions, those that its plan computes in int8: 0 to 1, 0 where there are none.
// The file is read, fused and folded as for a run.
absl::StatusOr<double> Int8ShareOf(const RunSpec& file, const Target& target);

// The same of a graph that is ready to be planned.
double Int8ShareOf(const Graph& folded);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOWER_INT8_H_
