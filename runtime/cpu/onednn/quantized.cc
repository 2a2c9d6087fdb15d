// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/quantized.h"

#include <algorithm>

#include "base/status.h"
#include "ir/quantization.h"

namespace halftone::onednn {
namespace {

absl::StatusOr<Element> ElementOf(const Graph& graph, ValueId value) {
  const DataType type = graph.type(value);
  const Quantization* quantization = graph.quantization(value);
  if (quantization == nullptr) {
    if (!IsFloat(type)) return absl::UnimplementedError("integers without a scale");
    return Element{type};
  }
  if (!quantization->per_tensor()) return absl::UnimplementedError("a tensor with per-channel scales");
  if (type != DataType::kUInt8 && type != DataType::kInt8)
    return absl::UnimplementedError("quantized integers of 32 bits");
  return Element{type, /*quantized=*/true, quantization->scales[0], quantization->zero_points[0]};
}

absl::StatusOr<PrepackedMemory> PrepackedInteger(int32_t number) {
  const Desc desc = PlainDesc(Dims{1}, DataType::kInt32);
  return Pack(Tensor::Of<int32_t>({1}, std::vector<int32_t>{number}), desc, desc);
}

}  // namespace

absl::StatusOr<Element> InputElement(const NodeContext& context, int i) {
  return ElementOf(context.graph(), context.graph().input(context.id(), i));
}

absl::StatusOr<Element> OutputElement(const NodeContext& context) {
  return ElementOf(context.graph(), context.graph().output(context.id()));
}

simd::Int8Finish FinishOf(const Element& output, const Epilogue& epilogue) {
  return {.type = output.type == DataType::kFloat16 ? DataType::kFloat32 : output.type,
          .scale = output.scale,
          .zero_point = output.zero_point,
          .activation = epilogue.activation,
          .alpha = epilogue.alpha,
          .beta = epilogue.beta};
}

absl::StatusOr<Int8Weights> WeightsOf(const NodeContext& context, int i) {
  const Tensor* tensor = context.Constant(i);
  const Quantization* quantization = context.graph().quantization(context.graph().input(context.id(), i));
  if (tensor == nullptr || quantization == nullptr) return absl::UnimplementedError("weights are no constant integers");
  Int8Weights weights{*tensor, quantization->scales, quantization->axis};
  if (tensor->type() == DataType::kInt8 && quantization->symmetric()) return weights;
  const bool shifted = std::ranges::all_of(quantization->zero_points, [](int32_t zero) { return zero == 128; });
  if (tensor->type() != DataType::kUInt8 || !shifted) return absl::UnimplementedError("weights with zero points");
  Tensor moved(DataType::kInt8, tensor->dims());
  const std::span<const uint8_t> from = tensor->data<uint8_t>();
  const std::span<int8_t> to = moved.mutable_data<int8_t>();
  for (size_t k = 0; k < from.size(); ++k) to[k] = static_cast<int8_t>(static_cast<int>(from[k]) - 128);
  weights.tensor = std::move(moved);
  return weights;
}

std::optional<std::vector<float>> RealNumbers(const NodeContext& context, int i) {
  const Tensor* tensor = context.Constant(i);
  if (tensor == nullptr) return std::nullopt;
  const Quantization* quantization = context.graph().quantization(context.graph().input(context.id(), i));
  if (quantization != nullptr) return Dequantized(*tensor, *quantization).ToFloats();
  if (!IsFloat(tensor->type())) return std::nullopt;
  return tensor->ToFloats();
}

absl::StatusOr<PrepackedMemory> PrepackedFloats(std::vector<float> numbers, const Desc& desc) {
  return Pack(Tensor::Of<float>({static_cast<int64_t>(numbers.size())}, numbers), desc, desc);
}

absl::Status AddZeroPoint(int argument, int32_t zero_point, PrimitiveStep& step) {
  if (zero_point == 0) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, PrepackedInteger(zero_point));
  step.AddPrepacked(DNNL_ARG_ATTR_ZERO_POINTS | argument, std::move(fixed));
  return absl::OkStatus();
}

Desc ChannelsLastDesc(std::span<const int64_t> dims, DataType type) {
  Dims strides(dims.size());
  int64_t stride = dims[1];
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[1] = 1;
  strides[0] = stride;
  return Desc(Dims(dims.begin(), dims.end()), *DnnlType(type), strides, /*allow_empty=*/true);
}

Placement ChannelsLast(std::span<const int64_t> dims, DataType type, bool value_has_channels_last) {
  const std::vector<int> back = ValueOrder(static_cast<int>(dims.size()), value_has_channels_last);
  return PlacementOf(Reordered(ChannelsLastDesc(dims, type), back), type);
}

}  // namespace halftone::onednn
