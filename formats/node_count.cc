#include "formats/node_count.h"

#include "formats/onnx/node_count.h"
#include "formats/tensorflow/node_count.h"

namespace halftone {

absl::StatusOr<int64_t> CountNodesOfFile(std::string_view bytes, ModelFormat format) {
  switch (format) {
    case ModelFormat::kOnnx:
      return CountOnnxNodes(bytes);
    case ModelFormat::kGraphDef:
    case ModelFormat::kGraphDefText:
      return CountGraphDefNodes(bytes, format == ModelFormat::kGraphDefText);
  }
  return absl::InternalError("a format whose nodes nobody counts");
}

}  // namespace halftone
