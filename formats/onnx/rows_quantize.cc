// SPDX-License-Identifier: Apache-2.0
// Rows of quantized ops, losses and the com.microsoft ops around them.
#include "formats/onnx/import_rules.h"
#include "formats/onnx/op_rows.h"
#include "formats/onnx/quantize_rules.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using enum OpKind;

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr AttributeRow kQuantizeAttributes[] = {
    {"axis", "axis", K::kInt, 13},
    {"block_size", "block_size", K::kInt, 21},
    {"saturate", "", K::kInt, 19},  // only means something for 8-bit floats
};
constexpr AttributeRow kMicrosoftQuantizeAttributes[] = {
    {"axis", "axis", K::kInt},
    {"block_size", "block_size", K::kInt},
};
constexpr AttributeRow kConvAttributes[] = {
    {"auto_pad", "auto_pad", K::kString}, {"dilations", "dilations", K::kInts}, {"group", "group", K::kInt},
    {"pads", "pads", K::kInts},           {"strides", "strides", K::kInts},
};
constexpr AttributeRow kAveragePoolAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"ceil_mode", "ceil_mode", K::kBool},
    {"count_include_pad", "count_include_pad", K::kBool},
    {"kernel_shape", "kernel", K::kInts},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kGemmAttributes[] = {
    {"alpha", "alpha", K::kFloat},
    {"transA", "transpose_a", K::kBool},
    {"transB", "transpose_b", K::kBool},
};
constexpr AttributeRow kAlpha[] = {{"alpha", "alpha", K::kFloat}};
constexpr AttributeRow kKeepDims[] = {{"keepdims", "keepdims", K::kBool}};
constexpr AttributeRow kAxis[] = {{"axis", "axis", K::kInt}};
constexpr AttributeRow kLossAttributes[] = {
    {"ignore_index", "ignore_index", K::kInt},
    {"reduction", "reduction", K::kString},
};

// An integer operator that becomes several nodes, the last of which is a quantize_linear.
constexpr OpRow Composed(std::string_view name, int inputs,
                         absl::Status (*finish)(const NodeInFile&, GraphEditor&, Node&),
                         std::span<const AttributeRow> attributes = {}, std::string_view domain = kMicrosoft,
                         std::string_view (*keep_opaque)(const NodeInFile&) = nullptr) {
  return {.onnx = name,
          .op = kQuantizeLinear,
          .since = domain.empty() ? 10 : 7,
          .bf16_since = kNever,
          .max_inputs = inputs,
          .attributes = attributes,
          .keep_opaque = keep_opaque,
          .finish = finish,
          .domain = domain};
}

// As in rows_basic.cc.
constexpr OpRow kRows[] = {
    {"QuantizeLinear",
     kQuantizeLinear,
     10,
     19,
     3,
     kQuantizeAttributes,
     {},
     QuantizeIsOpaque,
     nullptr,
     QuantizeMinOpset,
     WriteQuantize},
    {"DequantizeLinear",
     kDequantizeLinear,
     10,
     19,
     3,
     kQuantizeAttributes,
     {},
     QuantizeIsOpaque,
     nullptr,
     DequantizeMinOpset},
    {"DynamicQuantizeLinear", kDynamicQuantizeLinear, 11, kNever, 1},
    {"ConvInteger",
     kConvInteger,
     10,
     kNever,
     4,
     kConvAttributes,
     {},
     nullptr,
     CheckKernelShape,
     nullptr,
     WriteConvInteger},
    {"MatMulInteger", kMatMulInteger, 10, kNever, 4},
    {"NegativeLogLikelihoodLoss", kNegativeLogLikelihood, 12, 22, 3, kLossAttributes},
    {"SoftmaxCrossEntropyLoss", kSoftmaxCrossEntropy, 12, 13, 3, kLossAttributes},
    Composed("QLinearConv", 9, FinishQLinearConv, kConvAttributes, ""),
    Composed("QLinearMatMul", 8, FinishQLinearMatMul, {}, ""),
    Composed("QLinearAdd", 8, FinishQLinearBinary),
    Composed("QLinearMul", 8, FinishQLinearBinary),
    Composed("QLinearGlobalAveragePool", 5, FinishQLinearUnary, {}, kMicrosoft, HasChannelsLast),
    Composed("QLinearAveragePool", 5, FinishQLinearUnary, kAveragePoolAttributes, kMicrosoft, HasChannelsLast),
    Composed("QLinearSigmoid", 5, FinishQLinearUnary),
    Composed("QLinearLeakyRelu", 5, FinishQLinearUnary, kAlpha),
    Composed("QLinearSoftmax", 5, FinishQLinearUnary, kAxis),
    Composed("QLinearReduceMean", 5, FinishQLinearReduceMean, kKeepDims),
    Composed("QLinearWhere", 9, FinishQLinearWhere),
    Composed("QLinearConcat", kNever, FinishQLinearConcat),
    Composed("QGemm", 9, FinishQGemm, kGemmAttributes),
    {.onnx = "MatMulIntegerToFloat",
     .op = kMatMulIntegerToFloat,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 7,
     .domain = kMicrosoft},
    {.onnx = "DynamicQuantizeMatMul",
     .op = kMatMulIntegerToFloat,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 5,
     .finish = FinishDynamicQuantizeMatMul,
     .domain = kMicrosoft},
    {.onnx = "QuantizeLinear",
     .op = kQuantizeLinear,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 3,
     .attributes = kMicrosoftQuantizeAttributes,
     .keep_opaque = QuantizeIsOpaque,
     .write = WriteQuantize,
     .domain = kMicrosoft},
    {.onnx = "DequantizeLinear",
     .op = kDequantizeLinear,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 3,
     .attributes = kMicrosoftQuantizeAttributes,
     .keep_opaque = QuantizeIsOpaque,
     .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> QuantizeRows() { return kRows; }

}  // namespace halftone::onnx_format
