// Graph -> the graphs of the wanted variants, ready for export, with a reason for each node.
#ifndef HALFTONE_OPTIMIZER_LOWER_H_
#define HALFTONE_OPTIMIZER_LOWER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/job.h"

namespace halftone {

// The model after the passes that its owner named: what every variant is made of.
struct PreparedModel {
  Graph graph;
  RewriteSummary rewrites;  // of those passes; nodes_before is of the model as imported
  std::vector<std::string> warnings;
  std::vector<std::string> refused_by;  // why widely used runtimes do not load the file, one sentence each
};

struct LoweredGraph {
  VariantKind kind = VariantKind::kFp32;
  Graph graph;  // what its format and dialect can say
  std::string summary;
  std::string calibration;  // for the file: what the ranges of int8 are of; "": none
  bool emulated = false;
  std::string not_measured;             // why it is written but not run; "": it is run
  std::vector<NodeDecision> decisions;  // why each node has its precision
  CastCounts casts;
  RewriteSummary rewrites;
  std::vector<std::string> warnings;
  std::vector<std::string> refused_by;  // why widely used runtimes do not load the file, one sentence each
};

// Runs options.passes. Errors: INVALID_ARGUMENT for a pass that there is none of, or that has nothing to do in such a
// model.
absl::StatusOr<PreparedModel> PrepareModel(Graph imported, const Target& target, const OptimizeOptions& options);

// The fused fp32 baseline.
absl::StatusOr<LoweredGraph> MakeBaseline(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options);

// A lowered variant (kBf16, kFp16) by the planner and rules of `options`, or the baseline for kFp32. Without native
// instructions for the type and without options.force: bf16 stays fp32, with a sentence that says so (it would be
// slower, and the file would be of no use here); fp16 is written and not run, as it is meant for another CPU.
absl::StatusOr<LoweredGraph> MakeLowered(VariantKind kind, const PreparedModel& model, const Target& target,
                                         const OptimizeOptions& options);

// The baseline in the place of a lowered variant, where the model cannot be lowered: `why` is its summary and a
// warning.
absl::StatusOr<LoweredGraph> KeepFp32(VariantKind kind, const PreparedModel& model, const Target& target,
                                      const OptimizeOptions& options, const Reason& why);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOWER_H_
