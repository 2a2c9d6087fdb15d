// SPDX-License-Identifier: Apache-2.0
// A plan on the CPU backend: what optimizer/ and tools/ use.
#ifndef HALFTONE_RUNTIME_ENGINE_H_
#define HALFTONE_RUNTIME_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/cpu/target.h"
#include "runtime/plan/plan.h"

namespace halftone {

// Plan::Compile with the kernels of runtime/cpu (or, by the options, with the reference functions only).
absl::StatusOr<std::unique_ptr<Plan>> CompilePlan(const Graph& graph, const CompileOptions& options = {});

// What its plans are made with, for those who convert what lies in a plan's memory (runtime/calibrate).
const Backend& EngineBackend(const CompileOptions& options);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_ENGINE_H_
