// SPDX-License-Identifier: Apache-2.0
// One node of a file as a canonical node.
#ifndef HALFTONE_FORMATS_ONNX_CANONICAL_NODE_H_
#define HALFTONE_FORMATS_ONNX_CANONICAL_NODE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "formats/onnx/op_map.h"
#include "ir/editor.h"

namespace halftone::onnx_format {

// The node that its row makes of it, with inputs and attributes but not yet added to the graph; attributes that are
// inputs of the canonical op become constants, which are added. nullopt: the canonical op cannot say what the node
// says, so that it must stay opaque (nothing was added). Errors: INVALID_ARGUMENT for inputs, outputs and attributes
// that ONNX does not allow.
absl::StatusOr<std::optional<Node>> CanonicalNode(NodeInFile file, const OpRow& row, GraphEditor& edit);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_CANONICAL_NODE_H_
