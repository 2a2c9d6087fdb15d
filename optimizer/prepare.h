// SPDX-License-Identifier: Apache-2.0
// Making a graph ready to be planned: the one way for every process that runs a model, for calibration, for the search
// after an accuracy goal and for tests.
#ifndef HALFTONE_OPTIMIZER_PREPARE_H_
#define HALFTONE_OPTIMIZER_PREPARE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "optimizer/dim_sizes.h"
#include "optimizer/samples.h"
#include "passes/pipelines.h"

namespace halftone {

// Binds the dynamic dimensions of the inputs and infers all shapes. A dimension that `sizes` names has that size. Another
// dynamic first dimension becomes the batch, or, where its array has another length than that of the first such input,
// that length: it is no batch. Others are those of `samples`; those that differ from sample to sample stay dynamic.
// Errors: INVALID_ARGUMENT names the inputs and dimensions that are still dynamic and says how to give them, a batch
// other than that of inputs whose first dimension is static, or a name that no input has.
absl::Status BindShapes(Graph& graph, const DimSizes& sizes, const InputDims& samples);

// BindShapes, then MakePreparePipeline: what a Plan is made of.
absl::Status PrepareToRun(Graph& graph, const DimSizes& sizes, const InputDims& samples, Preparation preparation,
                          const Target& target);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PREPARE_H_
