// SPDX-License-Identifier: Apache-2.0
// One optimize job from beginning to end: import, optimize, calibrate, convert and quantize, export, evaluate, compare,
// measure, report. Each step is a file of its own; job.cc is their order. No gRPC, no proto.
#ifndef HALFTONE_OPTIMIZER_JOB_H_
#define HALFTONE_OPTIMIZER_JOB_H_

#include "absl/status/statusor.h"
#include "optimizer/options.h"
#include "optimizer/progress.h"
#include "optimizer/result.h"
#include "optimizer/variant_child.h"

namespace halftone {

// Every number of a variant is taken from its exported file, by processes that `children` starts.
// Errors: INVALID_ARGUMENT and UNIMPLEMENTED for the model, samples and policy; INTERNAL for our bugs. A model with
// nodes that cannot run is no error: it is rewritten, and the result has a warning instead of numbers.
absl::StatusOr<OptimizeResult> RunOptimizeJob(const OptimizeOptions& options, ChildRunner& children,
                                              const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_JOB_H_
