// SPDX-License-Identifier: Apache-2.0
// Nodes of a file that are constants: Constant, and ConstantOfShape of a shape that is known.
#ifndef HALFTONE_FORMATS_ONNX_CONSTANTS_H_
#define HALFTONE_FORMATS_ONNX_CONSTANTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/tensor.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// Bytes that the ConstantOfShape nodes of one file may fill: a hundred bytes of a file can ask for terabytes. Nodes
// beyond this limit stay opaque. (A VGG-19 whose weights are written like this takes 548 MiB.)
inline constexpr int64_t kFillBudget = int64_t{768} << 20;

// Value of a Constant node; nullopt for sparse ones and for types that the graph cannot hold.
std::optional<Tensor> TakeConstant(onnx::NodeProto& node);

// What ConstantOfShape makes of this shape; nullopt if it takes more than `budget` bytes or is malformed.
std::optional<Tensor> FilledTensor(onnx::NodeProto& node, const std::vector<int64_t>& dims, int64_t budget);

// Whether all elements are the same bytes. REQUIRES: a type of fixed size
bool IsUniform(const Tensor& tensor);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_CONSTANTS_H_
