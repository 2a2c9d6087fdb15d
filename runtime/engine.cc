#include "runtime/engine.h"

#include "runtime/onednn/backend.h"

namespace halftone {

absl::StatusOr<std::unique_ptr<Plan>> CompilePlan(const Graph& graph, const CompileOptions& options) {
  return Plan::Compile(graph, options, options.reference_only ? ReferenceBackend() : OneDnnBackend());
}

}  // namespace halftone
