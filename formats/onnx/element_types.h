// SPDX-License-Identifier: Apache-2.0
// Element types, shapes and value infos: ONNX <-> ir.
#ifndef HALFTONE_FORMATS_ONNX_ELEMENT_TYPES_H_
#define HALFTONE_FORMATS_ONNX_ELEMENT_TYPES_H_

#include <optional>
#include <string>

#include "ir/shape.h"
#include "ir/types.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// kUnknown for types that the ir lacks (8-bit floats, 4-bit integers).
DataType FromOnnxType(int onnx_type);
// TensorProto::UNDEFINED for types that ONNX lacks.
int ToOnnxType(DataType type);

Shape FromOnnxShape(const onnx::TypeProto::Tensor& type);

// A dense tensor of a type that the ir knows; false for sequences, maps, optionals, sparse tensors, 8-bit floats, no
// type.
bool IsPlainTensor(const onnx::TypeProto& type);

// `type` unknown: only the name is set.
void SetValueInfo(const std::string& name, DataType type, const Shape& shape, onnx::ValueInfoProto& info);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_ELEMENT_TYPES_H_
