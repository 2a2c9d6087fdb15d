// One run of a model on given tensors.
#ifndef HALFTONE_OPTIMIZER_RUN_H_
#define HALFTONE_OPTIMIZER_RUN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"
#include "optimizer/model.h"

namespace halftone {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Free dimensions are taken from the tensors. `fuse`: through the optimize pipeline; else as the file is.
// Errors: INVALID_ARGUMENT names every input that is missing, unknown, or of another type or shape than the model
// wants.
absl::StatusOr<std::vector<NamedTensor>> RunModel(const ModelSource& model, const std::map<std::string, Tensor>& inputs,
                                                  bool fuse, int threads);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_RUN_H_
