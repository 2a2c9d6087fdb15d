#include "optimizer/loaded_variant.h"

#include <chrono>

#include "base/status.h"
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

absl::StatusOr<LoadedVariant> LoadVariant(const RunSpec& spec) {
  LoadedVariant loaded;
  HALFTONE_ASSIGN_OR_RETURN(loaded.samples, OpenSamplesOrRandom(spec.samples, spec.seed));
  const std::unique_ptr<Target> target = MakeCpuTarget();
  Stopwatch watch;
  HALFTONE_ASSIGN_OR_RETURN(loaded.graph, LoadModel(spec.model));
  loaded.load_ms = watch.Lap();
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(loaded.graph, spec.sizes, loaded.samples->dims(), spec.fuse, *target));
  loaded.optimize_ms = watch.Lap();
  HALFTONE_RETURN_IF_ERROR(loaded.samples->Bind(loaded.graph));
  watch.Lap();
  HALFTONE_ASSIGN_OR_RETURN(loaded.plan, CompilePlan(loaded.graph, {.threads = spec.threads}));
  loaded.plan_ms = watch.Lap();
  return loaded;
}

}  // namespace halftone
