// SPDX-License-Identifier: Apache-2.0
// How many operators an ONNX file holds.
#ifndef HALFTONE_FORMATS_ONNX_NODE_COUNT_H_
#define HALFTONE_FORMATS_ONNX_NODE_COUNT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace halftone {

// Nodes of the main graph that are no Constant. INVALID_ARGUMENT: no ONNX model.
absl::StatusOr<int64_t> CountOnnxNodes(std::string_view bytes);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_NODE_COUNT_H_
