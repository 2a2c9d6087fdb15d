// SPDX-License-Identifier: Apache-2.0
#include "optimizer/loaded_variant.h"

#include <chrono>
#include <utility>

#include "base/status.h"
#include "optimizer/prepare.h"
#include "optimizer/prepared_graph.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

// Milliseconds since it was asked last.
class Stopwatch {
 public:
  double Lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

absl::StatusOr<LoadedVariant> LoadVariant(const RunSpec& spec, const ImportedHook& imported) {
  LoadedVariant loaded;
  HALFTONE_ASSIGN_OR_RETURN(loaded.samples, OpenSamplesOrRandom(spec.samples, spec.seed));
  Stopwatch watch;
  if (!spec.prepared_graph.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(loaded.graph, ReadPreparedGraph(spec.prepared_graph, spec.model_sha256));
    loaded.load_ms = watch.Lap();
  } else {
    const std::unique_ptr<Target> target = MakeCpuTarget();
    HALFTONE_ASSIGN_OR_RETURN(loaded.graph, LoadModel(spec.model));
    loaded.load_ms = watch.Lap();
    if (imported != nullptr) HALFTONE_RETURN_IF_ERROR(imported(loaded.graph));
    watch.Lap();
    const Preparation preparation = spec.fuse ? Preparation::kOptimize : Preparation::kPlain;
    HALFTONE_RETURN_IF_ERROR(PrepareToRun(loaded.graph, spec.sizes, loaded.samples->dims(), preparation, *target));
    loaded.optimize_ms = watch.Lap();
  }
  HALFTONE_RETURN_IF_ERROR(loaded.samples->Bind(loaded.graph));
  watch.Lap();
  HALFTONE_ASSIGN_OR_RETURN(loaded.plan, CompilePlan(loaded.graph, {.threads = spec.threads}));
  loaded.plan_ms = watch.Lap();
  return loaded;
}

}  // namespace halftone
