// SPDX-License-Identifier: Apache-2.0
// Graph -> ONNX.
#ifndef HALFTONE_FORMATS_ONNX_EXPORTER_H_
#define HALFTONE_FORMATS_ONNX_EXPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace halftone {

// The opset in which ExportOnnx writes the graph: that of the imported model, or the lowest newer one that has all its
// nodes with their types. Errors: UNIMPLEMENTED names an op that ONNX cannot express, or a node that is passed through
// unchanged and does not exist unchanged in that opset.
absl::StatusOr<int> OnnxOpset(const Graph& graph, const ExportOptions& options = {});

// A self-contained ModelProto. Memory beyond the graph's: the result.
// Errors: UNIMPLEMENTED names the node that ONNX cannot express; INTERNAL for fused parts that a pass should have
// split, and for a node that the operator registry of the opset refuses (written_nodes.h); RESOURCE_EXHAUSTED if the
// file would be larger than 2 GiB.
absl::StatusOr<std::string> ExportOnnx(const Graph& graph, const ExportOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_EXPORTER_H_
