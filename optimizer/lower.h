// Graph -> the graphs of the wanted variants, ready for export, with a reason for each node.
#ifndef HALFTONE_OPTIMIZER_LOWER_H_
#define HALFTONE_OPTIMIZER_LOWER_H_

#include <map>
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
};

struct LoweredGraph {
  VariantKind kind = VariantKind::kFp32;
  Graph graph;  // what its format and dialect can say
  std::string summary;
  bool emulated = false;
  std::map<std::string, std::string> reasons;  // by the node's label: why it has its precision
  RewriteSummary rewrites;
  std::vector<std::string> warnings;
};

// Runs options.passes. Errors: INVALID_ARGUMENT for a pass that there is none of, or that has nothing to do in such a
// model.
absl::StatusOr<PreparedModel> PrepareModel(Graph imported, const Target& target, const OptimizeOptions& options);

// The fused fp32 baseline.
absl::StatusOr<LoweredGraph> MakeBaseline(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options);

// bf16 by the planner on the graph before fusion, then fused, then lowered. On a CPU without bf16 instructions every
// node stays fp32, with a sentence that says so, unless options.force.
absl::StatusOr<LoweredGraph> MakeBf16(const PreparedModel& model, const Target& target, const OptimizeOptions& options);

// The baseline in the place of bf16, where the model cannot be lowered: `why` is its summary and a warning.
absl::StatusOr<LoweredGraph> KeepFp32(const PreparedModel& model, const Target& target, const OptimizeOptions& options,
                                      std::string_view why);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOWER_H_
