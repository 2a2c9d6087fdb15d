// SPDX-License-Identifier: Apache-2.0
// A file made ready to run in this process, with its samples.
#ifndef HALFTONE_OPTIMIZER_LOADED_VARIANT_H_
#define HALFTONE_OPTIMIZER_LOADED_VARIANT_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "optimizer/run_spec.h"
#include "optimizer/samples.h"
#include "runtime/engine.h"

namespace halftone {

struct LoadedVariant {
  Graph graph;
  std::unique_ptr<SampleSource> samples;
  std::unique_ptr<Plan> plan;
  double load_ms = 0;      // bytes to graph
  double optimize_ms = 0;  // shapes and, where the spec wants it, the optimize pipeline
  double plan_ms = 0;
};

// Looks at the graph as it was imported; nullptr: there is nothing to look at.
using ImportedHook = std::function<absl::Status(const Graph& imported)>;

absl::StatusOr<LoadedVariant> LoadVariant(const RunSpec& spec, const ImportedHook& imported = nullptr);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOADED_VARIANT_H_
