// SPDX-License-Identifier: Apache-2.0
// Upgrades nodes of opset 6 to opset 7, the oldest that the rows know.
#ifndef HALFTONE_FORMATS_ONNX_OPSET6_H_
#define HALFTONE_FORMATS_ONNX_OPSET6_H_

#include <vector>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// Changes attributes and `inputs` of a node of ONNX's domain whose inputs are in the graph already; may add an
// Unsqueeze where the old broadcasting begins at an axis. Errors: UNIMPLEMENTED for nodes in training mode,
// INVALID_ARGUMENT where a rank must be known and is not.
absl::Status UpgradeFromOpset6(onnx::NodeProto& proto, std::vector<ValueId>& inputs, GraphEditor& edit);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OPSET6_H_
