// SPDX-License-Identifier: Apache-2.0
// Import functions of the rows of op_map.cc, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_IMPORT_RULES_H_
#define HALFTONE_FORMATS_ONNX_IMPORT_RULES_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// Why the node stays opaque, or "".
std::string_view DropoutIsOpaque(const NodeInFile& node);
std::string_view BatchNormIsOpaque(const NodeInFile& node);
std::string_view TransposeIsOpaque(const NodeInFile& node);
std::string_view CastIsOpaque(const NodeInFile& node);
std::string_view ResizeIsOpaque(const NodeInFile& node);

absl::Status CheckKernelShape(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishSoftmax(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishTranspose(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishResize(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// Adds a node before the one that is being imported; its value, of the type and shape that inference says.
// INVALID_ARGUMENT if one of its first two inputs is missing.
absl::StatusOr<ValueId> AddBefore(GraphEditor& edit, OpKind op, std::vector<ValueId> inputs, Attributes attributes);

// Whether the attribute is the type of the first output, whatever the operator: "to", "dtype", "output_datatype",
// "output_dtype".
bool SaysOutputType(std::string_view attribute);
// Attributes that the functions above read, so that they are not unknown: "spatial", "kernel_shape", "to".
bool IsReadByRule(std::string_view onnx_op, std::string_view attribute);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_IMPORT_RULES_H_
