// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/opset_changes.h"

#include "onnx/defs/schema.h"

namespace halftone::onnx_format {

int FirstChange(const onnx::NodeProto& node, int from, int to) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return 0;
  if (from >= to) return 0;
  if (onnx::OpSchemaRegistry::Schema(node.op_type(), from, "") == nullptr) return from + 1;
  // A version that only adds types counts, too: the registry does not say whether the meaning is the same.
  for (int opset = from + 1; opset <= to; ++opset) {
    if (onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "")->since_version() == opset) return opset;
  }
  return 0;
}

}  // namespace halftone::onnx_format
