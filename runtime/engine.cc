// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include "runtime/cpu/backend.h"

namespace halftone {

const Backend& EngineBackend(const CompileOptions& options) {
  return options.reference_only ? ReferenceBackend() : CpuBackend();
}

absl::StatusOr<std::unique_ptr<Plan>> CompilePlan(const Graph& graph, const CompileOptions& options) {
  return Plan::Compile(graph, options, EngineBackend(options));
}

}  // namespace halftone
