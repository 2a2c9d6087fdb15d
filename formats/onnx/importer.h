// SPDX-License-Identifier: Apache-2.0
// ONNX -> Graph.
#ifndef HALFTONE_FORMATS_ONNX_IMPORTER_H_
#define HALFTONE_FORMATS_ONNX_IMPORTER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

// A ModelProto of IR version 3 or newer and opset 6 to 22, all weights inside. Operators without a canonical op become
// opaque nodes. Memory: the bytes, and one copy of the weights.
//
// Graph::header: "ir_version", "opset" and "opset_domains", "producer_name", "producer_version", "domain",
// "model_version", "doc_string", "metadata_keys" and "metadata_values", "graph_doc_string", "initializer_inputs"
// (constants that are inputs too), "type:NAME" (RawBytes of the TypeProto of an input or output that is no plain
// tensor), "rest" (RawBytes of a ModelProto with functions and training info only), "graph_rest" (RawBytes of a
// GraphProto with annotations only).
//
// Errors: INVALID_ARGUMENT names the node, tensor or field and says what would be right.
absl::StatusOr<Graph> ImportOnnx(std::string_view bytes);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_IMPORTER_H_
