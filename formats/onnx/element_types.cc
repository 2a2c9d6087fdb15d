// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/element_types.h"

#include <utility>

namespace halftone::onnx_format {
namespace {

constexpr std::pair<int, DataType> kTypes[] = {
    {onnx::TensorProto::FLOAT, DataType::kFloat32},       {onnx::TensorProto::BFLOAT16, DataType::kBFloat16},
    {onnx::TensorProto::FLOAT16, DataType::kFloat16},     {onnx::TensorProto::DOUBLE, DataType::kFloat64},
    {onnx::TensorProto::INT8, DataType::kInt8},           {onnx::TensorProto::UINT8, DataType::kUInt8},
    {onnx::TensorProto::INT16, DataType::kInt16},         {onnx::TensorProto::UINT16, DataType::kUInt16},
    {onnx::TensorProto::INT32, DataType::kInt32},         {onnx::TensorProto::UINT32, DataType::kUInt32},
    {onnx::TensorProto::INT64, DataType::kInt64},         {onnx::TensorProto::UINT64, DataType::kUInt64},
    {onnx::TensorProto::BOOL, DataType::kBool},           {onnx::TensorProto::STRING, DataType::kString},
    {onnx::TensorProto::COMPLEX64, DataType::kComplex64}, {onnx::TensorProto::COMPLEX128, DataType::kComplex128},
};

}  // namespace

DataType FromOnnxType(int onnx_type) {
  for (const auto& [number, type] : kTypes) {
    if (number == onnx_type) return type;
  }
  return DataType::kUnknown;
}

int ToOnnxType(DataType type) {
  for (const auto& [number, known] : kTypes) {
    if (known == type) return number;
  }
  return onnx::TensorProto::UNDEFINED;
}

Shape FromOnnxShape(const onnx::TypeProto::Tensor& type) {
  if (!type.has_shape()) return Shape();
  std::vector<Dim> dims;
  for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.push_back(Dim::Of(dim.dim_value()));
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      dims.push_back(Dim::Symbol(dim.dim_param()));
    } else {
      dims.push_back(Dim::Unknown());  // some exporters write -1
    }
  }
  return Shape(std::move(dims));
}

bool IsPlainTensor(const onnx::TypeProto& type) {
  return type.has_tensor_type() && FromOnnxType(type.tensor_type().elem_type()) != DataType::kUnknown;
}

void SetValueInfo(const std::string& name, DataType type, const Shape& shape, onnx::ValueInfoProto& info) {
  info.set_name(name);
  if (type == DataType::kUnknown) return;
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(ToOnnxType(type));
  if (!shape.has_rank()) return;
  onnx::TensorShapeProto& dims = *tensor.mutable_shape();
  for (const Dim& dim : shape.dims()) {
    onnx::TensorShapeProto::Dimension& written = *dims.add_dim();
    if (dim.known()) {
      written.set_dim_value(dim.value);
    } else if (!dim.symbol.empty()) {
      written.set_dim_param(dim.symbol);
    }
  }
}

}  // namespace halftone::onnx_format
