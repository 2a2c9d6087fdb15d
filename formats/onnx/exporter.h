// Graph -> ONNX.
#ifndef HALFTONE_FORMATS_ONNX_EXPORTER_H_
#define HALFTONE_FORMATS_ONNX_EXPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

struct OnnxExportOptions {
  int min_opset = 0;
  // Operators of integers (QLinearConv and its like, com.microsoft's too) in the place of pairs of quantize_linear and
  // dequantize_linear, wherever there is one (integer_groups.h).
  bool integer_operators = false;
};

// The opset in which ExportOnnx writes the graph: its own, or the least newer one that has all its nodes with their
// types. Errors: UNIMPLEMENTED names an op without a form in ONNX, or a node kept verbatim that would change its
// meaning there.
absl::StatusOr<int> OnnxOpset(const Graph& graph, const OnnxExportOptions& options = {});

// A self-contained ModelProto. Memory beyond the graph's: the result.
// Errors: UNIMPLEMENTED names the node that has no form in ONNX; INTERNAL for fused parts that a pass should have
// split; RESOURCE_EXHAUSTED if the file would be larger than 2 GiB.
absl::StatusOr<std::string> ExportOnnx(const Graph& graph, const OnnxExportOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_EXPORTER_H_
