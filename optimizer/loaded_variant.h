// A file made ready to run in this process, with its samples.
#ifndef HALFTONE_OPTIMIZER_LOADED_VARIANT_H_
#define HALFTONE_OPTIMIZER_LOADED_VARIANT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "optimizer/samples.h"
#include "optimizer/variant_child.h"
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

absl::StatusOr<LoadedVariant> LoadVariant(const RunSpec& spec);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_LOADED_VARIANT_H_
