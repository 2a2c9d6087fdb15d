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

struct LoweredGraph {
  VariantKind kind = VariantKind::kFp32;
  Graph graph;  // standard ops of its format
  std::string summary;
  bool emulated = false;
  std::map<std::string, std::string> reasons;     // by the node's label: why it has its precision
  std::vector<RewriteResult> rewrites;
  std::vector<std::string> warnings;
};

// The fused fp32 baseline.
absl::StatusOr<LoweredGraph> MakeBaseline(const Graph& imported, const Target& target);

// bf16 by the planner on the graph as imported, then fused, then lowered. On a CPU without bf16 instructions every node
// stays fp32, with a sentence that says so, unless options.force.
absl::StatusOr<LoweredGraph> MakeBf16(const Graph& imported, const Target& target, const OptimizeOptions& options);

// The baseline in the place of bf16, where the model cannot be lowered: `why` is its summary and a warning.
absl::StatusOr<LoweredGraph> KeepFp32(const Graph& imported, const Target& target, std::string_view why);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOWER_H_
