// SPDX-License-Identifier: Apache-2.0
// One run of a model on given tensors.
#ifndef HALFTONE_OPTIMIZER_RUN_H_
#define HALFTONE_OPTIMIZER_RUN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"
#include "optimizer/import.h"

namespace halftone {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct RunResult {
  std::vector<NamedTensor> outputs;
  std::vector<std::string> warnings;
};

// Free dimensions are taken from the tensors. `fuse`: through the optimize pipeline, and a quantized file in integers;
// else op by op as the file is, and of a quantized one a warning says that its ops compute in f32 between quantizations.
// Errors: INVALID_ARGUMENT names every input that is missing, unknown, or of another type or shape than the model
// wants.
absl::StatusOr<RunResult> RunModel(const ModelSource& model, const std::map<std::string, Tensor>& inputs, bool fuse,
                                   int threads);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_RUN_H_
