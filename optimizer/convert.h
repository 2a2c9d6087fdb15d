// SPDX-License-Identifier: Apache-2.0
// A step of a job: the fp32 baseline and the variants in bf16 and fp16, ready to be written, with a reason for each node.
#ifndef HALFTONE_OPTIMIZER_CONVERT_H_
#define HALFTONE_OPTIMIZER_CONVERT_H_

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "optimizer/converted_graph.h"
#include "optimizer/optimize.h"
#include "optimizer/options.h"

namespace halftone {

// The fused fp32 baseline.
absl::StatusOr<ConvertedGraph> MakeBaseline(const OptimizedModel& model, const Target& target,
                                            const OptimizeOptions& options);

// A variant of reduced precision (kBf16, kFp16) by the planner and rules of `options`, or the baseline for kFp32.
// Without native instructions for the type and without options.force: bf16 stays fp32, with a sentence that says so (it
// would be slower, and the file would be of no use here); fp16 is written and not run, as it is meant for another CPU.
absl::StatusOr<ConvertedGraph> ConvertPrecision(VariantKind kind, const OptimizedModel& model, const Target& target,
                                                const OptimizeOptions& options);

// The baseline in the place of a variant to which the model cannot be converted: `why` is its summary and a warning.
absl::StatusOr<ConvertedGraph> KeepFp32(VariantKind kind, const OptimizedModel& model, const Target& target,
                                        const OptimizeOptions& options, const Reason& why);

// The imported model in fp32 where the baseline cannot be written: `why` is its summary and a warning. (A fused op may
// need an opset in which an op that is passed through unchanged does not exist.)
absl::StatusOr<ConvertedGraph> KeepUnfused(VariantKind kind, const OptimizedModel& model, const Target& target,
                                           const OptimizeOptions& options, const Reason& why);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_CONVERT_H_
