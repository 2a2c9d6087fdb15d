// SPDX-License-Identifier: Apache-2.0
// Graph -> TensorFlow GraphDef.
#ifndef HALFTONE_FORMATS_TENSORFLOW_EXPORTER_H_
#define HALFTONE_FORMATS_TENSORFLOW_EXPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

// Writes a .pb (as_text: a .pbtxt, without fields that this version does not know). Nodes that are as ImportGraphDef
// made them become the NodeDefs that they came from; new and changed ones have every required attribute. The tensors
// that the graph's outputs name ("node", "node:1") compute these outputs.
//
// Errors: UNIMPLEMENTED names a node that no TensorFlow op can express; INTERNAL one that no exporter may see (fused
// activations and biases); RESOURCE_EXHAUSTED for more than 2 GiB.
// `quantized_ops`: with TensorFlow's ops on quantized tensors (QuantizedConv2DWithBiasAndReluAndRequantize, ...)
// instead of pairs wherever there is one (quantized_groups.h).
absl::StatusOr<std::string> ExportGraphDef(const Graph& graph, bool as_text, bool quantized_ops = false);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_EXPORTER_H_
