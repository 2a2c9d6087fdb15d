// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that convolutional networks are made of.
#include "formats/onnx/elementwise_rules.h"
#include "formats/onnx/export_rules.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using Form = MovedRow::Form;
using enum OpKind;

constexpr AttributeRow kDropoutAttributes[] = {{"ratio", "ratio", K::kFloat, 1, 12}, {"seed", "", K::kInt, 12}};
constexpr AttributeRow kConvAttributes[] = {
    {"auto_pad", "auto_pad", K::kString}, {"dilations", "dilations", K::kInts}, {"group", "group", K::kInt},
    {"pads", "pads", K::kInts},           {"strides", "strides", K::kInts},
};
constexpr AttributeRow kGemmAttributes[] = {
    {"alpha", "alpha", K::kFloat},
    {"beta", "beta", K::kFloat},
    {"transA", "transpose_a", K::kBool},
    {"transB", "transpose_b", K::kBool},
};
constexpr AttributeRow kAlpha[] = {{"alpha", "alpha", K::kFloat}};
constexpr AttributeRow kAxis[] = {{"axis", "axis", K::kInt}};
constexpr AttributeRow kBatchNormAttributes[] = {
    {"epsilon", "epsilon", K::kFloat},
    {"momentum", "momentum", K::kFloat},
    {"training_mode", "is_training", K::kBool, 14},
};
constexpr AttributeRow kMaxPoolAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"ceil_mode", "ceil_mode", K::kBool, 10},
    {"dilations", "dilations", K::kInts, 10},
    {"kernel_shape", "kernel", K::kInts},
    {"pads", "pads", K::kInts},
    {"storage_order", "storage_order", K::kInt, 8},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kAveragePoolAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"ceil_mode", "ceil_mode", K::kBool, 10},
    {"count_include_pad", "count_include_pad", K::kBool, 7},
    {"dilations", "dilations", K::kInts, 19},
    {"kernel_shape", "kernel", K::kInts},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kReduceSumAttributes[] = {
    {"keepdims", "keepdims", K::kBool},
    {"noop_with_empty_axes", "noop_with_empty_axes", K::kBool, 13},
};
constexpr AttributeRow kReduceAttributes[] = {
    {"keepdims", "keepdims", K::kBool},
    {"noop_with_empty_axes", "noop_with_empty_axes", K::kBool, 18},
};
constexpr AttributeRow kReshapeAttributes[] = {{"allowzero", "allowzero", K::kBool, 14}};
constexpr AttributeRow kPadAttributes[] = {{"mode", "mode", K::kString}};
constexpr AttributeRow kShapeAttributes[] = {{"start", "start", K::kInt, 15}, {"end", "end", K::kInt, 15}};
constexpr AttributeRow kCastAttributes[] = {{"saturate", "", K::kInt, 19}};  // "to" is the type of the output
constexpr AttributeRow kResizeAttributes[] = {
    // The second and third came with opset 11; the importer sets them for opset 10, where they are implied.
    {"mode", "mode", K::kString, 10},
    {"coordinate_transformation_mode", "coordinate_transformation_mode", K::kString, 10},
    {"nearest_mode", "nearest_mode", K::kString, 10},
    {"cubic_coeff_a", "cubic_coeff_a", K::kFloat, 11},
    {"exclude_outside", "exclude_outside", K::kInt, 11},
    {"extrapolation_value", "extrapolation_value", K::kFloat, 11},
    {"antialias", "antialias", K::kInt, 18},
    {"axes", "axes", K::kInts, 18},
    {"keep_aspect_ratio_policy", "keep_aspect_ratio_policy", K::kString, 18},
};
constexpr AttributeRow kDepthToSpaceAttributes[] = {
    {"blocksize", "block_size", K::kInt},
    {"mode", "mode", K::kString, 11},
};

constexpr MovedRow kClipLimits[] = {{"min", Form::kFloat, 1, 11}, {"max", Form::kFloat, 2, 11}};
constexpr MovedRow kAxesUntil13[] = {{"axes", Form::kInts, 1, 13}};
constexpr MovedRow kAxesUntil18[] = {{"axes", Form::kInts, 1, 18}};
constexpr MovedRow kUnsqueezeAxes[] = {{"axes", Form::kInts, 1, 13, /*required=*/true}};
constexpr MovedRow kPerm[] = {{"perm", Form::kInts, 1}};
constexpr MovedRow kConcatAxis[] = {{"axis", Form::kInt, kLastInput, kNever, /*required=*/true}};
constexpr MovedRow kGatherAxis[] = {{"axis", Form::kInt, 2}};
constexpr MovedRow kPadInputs[] = {{"pads", Form::kInts, 1, 11, /*required=*/true}, {"value", Form::kFloat, 2, 11}};
constexpr MovedRow kSliceInputs[] = {
    {"starts", Form::kInts, 1, 10, /*required=*/true},
    {"ends", Form::kInts, 2, 10, /*required=*/true},
    {"axes", Form::kInts, 3, 10},
    {"", Form::kOnes, 4, 10},
};

// ONNX op, canonical op, since, bf16 since, inputs at most, attributes, attributes that are inputs, functions.
// "Constant" is not here: the importer and the exporter treat constants themselves.
constexpr OpRow kRows[] = {
    {"Identity", kIdentity, 1, 13, 1},
    {"Dropout", kDropout, 7, 13, 3, kDropoutAttributes, {}, DropoutIsOpaque, nullptr, DropoutMinOpset, WriteDropout},
    {"Conv", kConv, 1, 22, 3, kConvAttributes, {}, nullptr, CheckKernelShape, nullptr, WriteConv},
    {"MatMul", kMatMul, 1, 13, 2, {}, {}, nullptr, nullptr, nullptr, WriteMatMul},
    {"Gemm", kGemm, 7, 13, 3, kGemmAttributes, {}, nullptr, nullptr, nullptr, WriteGemm},
    {"Add", kAdd, 7, 13, 2},
    {"Sum", kAdd, 6, 13, kNever, {}, {}, nullptr, FinishVariadic, VariadicMinOpset},
    {"Sub", kSub, 7, 13, 2},
    {"Mul", kMul, 7, 13, 2},
    {"Div", kDiv, 7, 13, 2},
    {"Max", kMaximum, 6, 13, kNever, {}, {}, nullptr, FinishVariadic, VariadicMinOpset},
    {"Min", kMinimum, 6, 13, kNever, {}, {}, nullptr, FinishVariadic, VariadicMinOpset},
    {"Pow", kPow, 7, 15, 2, {}, {}, nullptr, nullptr, PowMinOpset},
    {"Abs", kAbs, 6, 13, 1},
    {"Neg", kNeg, 6, 13, 1},
    {"Exp", kExp, 6, 13, 1},
    {"Log", kLog, 6, 13, 1},
    {"Sqrt", kSqrt, 6, 13, 1},
    {"Reciprocal", kReciprocal, 6, 13, 1},
    {"Floor", kFloor, 6, 13, 1},
    {"Erf", kErf, 9, 13, 1},
    {"Relu", kRelu, 6, 13, 1},
    {"Tanh", kTanh, 6, 13, 1},
    {"Sigmoid", kSigmoid, 6, 13, 1},
    {"Softplus", kSoftplus, 1, 22, 1},
    {"Elu", kElu, 6, 22, 1, kAlpha},
    {"LeakyRelu", kLeakyRelu, 6, 16, 1, kAlpha},
    {"Clip", kClip, 6, 13, 3, {}, kClipLimits, nullptr, nullptr, ClipMinOpset},
    {"Softmax", kSoftmax, 1, 13, 1, kAxis, {}, nullptr, FinishSoftmax, SoftmaxMinOpset, WriteSoftmax},
    {"BatchNormalization",
     kBatchNorm,
     7,
     15,
     5,
     kBatchNormAttributes,
     {},
     BatchNormIsOpaque,
     nullptr,
     nullptr,
     WriteBatchNorm},
    {"MaxPool", kMaxPool, 1, 22, 1, kMaxPoolAttributes, {}, nullptr, nullptr, MaxPoolMinOpset},
    {"AveragePool", kAveragePool, 7, 22, 1, kAveragePoolAttributes},
    {"GlobalAveragePool", kGlobalAveragePool, 1, 22, 1},
    {"ReduceMean", kReduceMean, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceSum", kReduceSum, 1, 13, 2, kReduceSumAttributes, kAxesUntil13},
    {"Reshape", kReshape, 5, 13, 2, kReshapeAttributes},
    {"Flatten", kFlatten, 1, 13, 1, kAxis},
    {"Transpose", kTranspose, 1, 13, 1, {}, kPerm, TransposeIsOpaque, FinishTranspose},
    {"Squeeze", kSqueeze, 1, 13, 2, {}, kAxesUntil13},
    {"Unsqueeze", kUnsqueeze, 1, 13, 2, {}, kUnsqueezeAxes},
    {"Concat", kConcat, 4, 13, kNever, {}, kConcatAxis},
    {"Pad", kPad, 2, 13, 4, kPadAttributes, kPadInputs, nullptr, nullptr, PadMinOpset, WritePad},
    {"Slice", kSlice, 1, 13, 5, {}, kSliceInputs},
    {"Gather", kGather, 1, 13, 2, {}, kGatherAxis},
    {"Shape", kShape, 1, 13, 1, kShapeAttributes},
    {"Cast", kCast, 6, 13, 1, kCastAttributes, {}, CastIsOpaque, nullptr, nullptr, WriteCast},
    {"Resize", kResize, 10, 13, 4, kResizeAttributes, {}, ResizeIsOpaque, FinishResize, ResizeMinOpset, WriteResize},
    {"DepthToSpace", kDepthToSpace, 1, 13, 1, kDepthToSpaceAttributes},
    // Canonical ops without an operator of their own; never found by an ONNX name.
    {"", kBiasAdd, 7, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteBiasAdd},
    {"", kSquaredDifference, 7, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteSquaredDifference},
    {"", kRsqrt, 6, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteRsqrt},
    {"", kSquare, 7, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteSquare},
    {"", kRelu6, 6, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteRelu6},
};

}  // namespace

std::span<const OpRow> BasicRows() { return kRows; }

}  // namespace halftone::onnx_format
