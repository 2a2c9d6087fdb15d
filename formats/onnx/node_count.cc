// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/node_count.h"

#include <memory>

#include "formats/onnx/tensors.h"
#include "onnx/onnx_pb.h"

namespace halftone {

absl::StatusOr<int64_t> CountOnnxNodes(std::string_view bytes) {
  const auto model = std::make_unique<onnx::ModelProto>();
  if (!onnx_format::ParseMessage(bytes, *model)) return absl::InvalidArgumentError("the bytes are no ONNX model");
  int64_t count = 0;
  for (const onnx::NodeProto& node : model->graph().node()) count += node.op_type() == "Constant" ? 0 : 1;
  return count;
}

}  // namespace halftone
