#include "formats/onnx/opset_changes.h"

#include "onnx/defs/schema.h"

namespace halftone::onnx_format {

int FirstChange(const onnx::NodeProto& node, int from, int to) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return 0;
  if (from >= to) return 0;
  if (onnx::OpSchemaRegistry::Schema(node.op_type(), from, "") == nullptr) return from + 1;
  // Versions that only add types are changes, too: whether a node may use them is for its author to say.
  for (int opset = from + 1; opset <= to; ++opset) {
    if (onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "")->since_version() == opset) return opset;
  }
  return 0;
}

}  // namespace halftone::onnx_format
