// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/constants.h"

#include <algorithm>
#include <cstring>

#include "formats/onnx/element_types.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"

namespace halftone::onnx_format {

std::optional<Tensor> TakeConstant(onnx::NodeProto& node) {
  if (node.attribute_size() != 1 || node.input_size() > 0 || node.output_size() != 1 || node.output(0).empty())
    return std::nullopt;
  onnx::AttributeProto& attribute = *node.mutable_attribute(0);
  const std::string& name = attribute.name();
  if (!attribute.ref_attr_name().empty()) return std::nullopt;
  if (name == "value" && attribute.has_t() && FromOnnxType(attribute.t().data_type()) != DataType::kUnknown) {
    return TakeTensor(*attribute.mutable_t());
  }
  if (name == "value_float" && attribute.has_f()) return Tensor::Scalar(attribute.f());
  if (name == "value_int" && attribute.has_i()) return Tensor::IntScalar(attribute.i());
  if (name == "value_floats") {
    const std::vector<float> floats(attribute.floats().begin(), attribute.floats().end());
    return Tensor::Of<float>({static_cast<int64_t>(floats.size())}, floats);
  }
  if (name == "value_ints") return Tensor::Ints(std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  if (name == "value_string" && attribute.has_s()) return Tensor::OfStrings({}, {attribute.s()});
  if (name == "value_strings") {
    return Tensor::OfStrings({attribute.strings_size()}, {attribute.strings().begin(), attribute.strings().end()});
  }
  return std::nullopt;
}

std::optional<Tensor> FilledTensor(onnx::NodeProto& node, const std::vector<int64_t>& dims, int64_t budget) {
  Tensor element = Tensor::Scalar(0);
  if (node.output_size() != 1 || node.output(0).empty() || node.attribute_size() > 1 || dims.size() > kMaxRank)
    return std::nullopt;
  if (node.attribute_size() == 1) {
    onnx::AttributeProto attribute = node.attribute(0);
    if (attribute.name() != "value" || !attribute.has_t() || ElementSize(FromOnnxType(attribute.t().data_type())) == 0)
      return std::nullopt;
    element = TakeTensor(*attribute.mutable_t());
  }
  const std::optional<int64_t> elements = CheckedProduct(dims);
  const int64_t size = static_cast<int64_t>(ElementSize(element.type()));
  if (element.num_elements() != 1 || !elements.has_value() || *elements > budget / size) return std::nullopt;
  Tensor result(element.type(), dims);
  const bool zero = std::all_of(element.raw(), element.raw() + size, [](std::byte b) { return b == std::byte{0}; });
  for (int64_t i = 0; !zero && i < *elements; ++i) std::memcpy(result.mutable_raw() + i * size, element.raw(), size);
  return result;
}

bool IsUniform(const Tensor& tensor) {
  const size_t size = ElementSize(tensor.type());
  return tensor.byte_size() <= size || std::memcmp(tensor.raw(), tensor.raw() + size, tensor.byte_size() - size) == 0;
}

}  // namespace halftone::onnx_format
