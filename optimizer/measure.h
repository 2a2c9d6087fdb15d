// The benchmark of all variants of one job: rounds in random order, each round of each variant a process of its own.
#ifndef HALFTONE_OPTIMIZER_MEASURE_H_
#define HALFTONE_OPTIMIZER_MEASURE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/job.h"

namespace halftone {

// `baseline` is the index of the variant that speed-ups refer to. Method: DESIGN.md part 5; the statistics are in
// runtime/statistics.h. Results in the order of `variants`.
absl::StatusOr<std::vector<BenchmarkResult>> MeasureVariants(const std::vector<RunSpec>& variants, size_t baseline,
                                                             const BenchmarkOptions& options, ChildRunner& children,
                                                             const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_MEASURE_H_
