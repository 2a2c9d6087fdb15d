// SPDX-License-Identifier: Apache-2.0
// What TensorFlow's remapper and Intel's extension make: internal ops, each of which says what a fused canonical node
// does. Written only where a node is spelled so; never what a node without spelling becomes, so every row has a writer.
//
// _FusedConv2D and _ITEXFusedConv2D have had two forms, by the attributes TArgs and num_bn_args.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

// --- Types.
constexpr TypeRow kArgs[] = {{"T"}, {"TArgs"}};
constexpr TypeRow kTU[] = {{"T"}, {"U"}};
constexpr TypeRow kPaddings[] = {{"T"}, {"Tpaddings", DataType::kInt32}};
constexpr TypeRow kAcc[] = {{"T", DataType::kBFloat16}, {"Tout", DataType::kFloat32}, {"Tpost", DataType::kFloat32}};

// --- Attributes. The layout comes first: the others are read in its order.
constexpr AttrRow kStrides{.name = "strides", .form = kSpatial, .canonical = "strides", .required = true};
constexpr AttrRow kDilations{.name = "dilations", .form = kSpatial, .canonical = "dilations"};
constexpr AttrRow kPads{.name = "padding", .form = kPadding, .canonical = "auto_pad", .required = true};
constexpr AttrRow kExplicit{.name = "explicit_paddings", .form = kExplicitPads, .canonical = "pads"};
constexpr AttrRow kNumArgs{.name = "num_args", .form = kCount, .required = true};
constexpr AttrRow kFusedOps{.name = "fused_ops", .form = kByRule};
constexpr AttrRow kLeakyAlpha{.name = "leakyrelu_alpha", .form = kByRule};
constexpr AttrRow kEpsilon{
    .name = "epsilon", .form = kFloat, .canonical = "epsilon", .tf_default = 1e-4f, .canonical_default = 1e-5f};

constexpr AttrRow kConvAttrs[] = {kDataFormat, kStrides, kDilations, kPads,
                                  kExplicit,   kNumArgs, kFusedOps,  kLeakyAlpha};
constexpr AttrRow kConvNewAttrs[] = {kDataFormat,
                                     kStrides,
                                     kDilations,
                                     kPads,
                                     kExplicit,
                                     {.name = "num_args", .form = kByRule, .required = true},
                                     {.name = "num_host_args", .form = kCount},
                                     {.name = "filter_format", .form = kByRule},
                                     kFusedOps,
                                     kLeakyAlpha};
constexpr AttrRow kItexConvAttrs[] = {kDataFormat,
                                      kStrides,
                                      kDilations,
                                      kPads,
                                      kExplicit,
                                      kNumArgs,
                                      {.name = "num_bn_args", .form = kCount, .required = true},
                                      kFusedOps,
                                      kLeakyAlpha};
constexpr AttrRow kConv3DAttrs[] = {kDataFormat, kStrides,  kDilations,  kPads,
                                    kNumArgs,    kFusedOps, kLeakyAlpha, {.name = "padding_list", .form = kByRule}};
constexpr AttrRow kPadConvAttrs[] = {kDataFormat, kStrides, kDilations, kPads};
constexpr AttrRow kPadFusedConvAttrs[] = {kDataFormat, kStrides, kDilations, kPads, kNumArgs, kFusedOps, kLeakyAlpha};
constexpr AttrRow kTransposeA{.name = "transpose_a", .form = kBool, .canonical = "transpose_a"};
constexpr AttrRow kTransposeB{.name = "transpose_b", .form = kBool, .canonical = "transpose_b"};
constexpr AttrRow kMatMulAttrs[] = {kTransposeA, kTransposeB, kNumArgs, kFusedOps, kLeakyAlpha};
constexpr AttrRow kBf16MathMode{.name = "is_bf16_math_mode", .form = kByRule};
constexpr AttrRow kAccMatMulAttrs[] = {kTransposeA, kTransposeB, kBf16MathMode};
constexpr AttrRow kFusedAccMatMulAttrs[] = {kTransposeA, kTransposeB, kNumArgs, kFusedOps, kLeakyAlpha, kBf16MathMode};
constexpr AttrRow kBatchMatMulAttrs[] = {{.name = "adj_x", .form = kBool, .canonical = "transpose_a"},
                                         {.name = "adj_y", .form = kBool, .canonical = "transpose_b"},
                                         kNumArgs,
                                         kFusedOps};
constexpr AttrRow kBatchNormExAttrs[] = {
    kDataFormat,
    kEpsilon,
    {.name = "is_training", .form = kBool, .canonical = "is_training", .tf_default = 1, .canonical_default = 0},
    {.name = "num_side_inputs", .form = kCount},
    {.name = "activation_mode", .form = kByRule}};
constexpr AttrRow kMklLayerNormAttrs[] = {
    {.name = "epsilon", .form = kFloat, .canonical = "epsilon", .tf_default = 1e-3f, .canonical_default = 1e-5f}};
constexpr AttrRow kLayerNormAttrs[] = {kEpsilon};
constexpr AttrRow kMklInstanceNormAttrs[] = {
    kEpsilon, {.name = "reduction_axes", .form = kByRule, .required = true}, kFusedOps, kLeakyAlpha};
constexpr AttrRow kInstanceNormAttrs[] = {kDataFormat, kEpsilon};
constexpr AttrRow kFusedInstanceNormAttrs[] = {
    kDataFormat, kEpsilon, {.name = "activation_mode", .form = kByRule}, kLeakyAlpha};
constexpr AttrRow kGeluAttrs[] = {{.name = "approximate", .form = kByRule}};
constexpr AttrRow kOfAlphaOne[] = {
    {.form = kImpliedFloat, .canonical = "alpha", .tf_default = 1, .canonical_default = 1}};
constexpr AttrRow kSwishAttrs[] = {
    {.name = "alpha", .form = kFloat, .canonical = "alpha", .tf_default = 1, .canonical_default = 1}};
constexpr AttrRow kBinaryAttrs[] = {kNumArgs, kFusedOps, {.name = "input_order", .form = kByRule}};
constexpr AttrRow kAttentionAttrs[] = {{.name = "use_mask", .form = kByRule},
                                       {.name = "use_causal", .form = kByRule},
                                       {.name = "is_inference", .form = kByRule}};

// name, kind, inputs, outputs, types, attributes, order, spatial dimensions, import, write
constexpr OpRow kRows[] = {
    // Contractions.
    {"_FusedConv2D", kConv, "T,T,TArgs[],num_host_args*f32", "T", kArgs, kConvNewAttrs, "", 2, ReadFused, WriteFused,
     "", false, "TArgs"},
    {"_FusedConv2D", kConv, "T,T,num_args*T", "T", kT, kConvAttrs, "", 2, ReadFused, WriteFused, "", false, "",
     "TArgs"},
    {"_FusedConv2D", kBatchNorm, "T,T,TArgs[],num_host_args*f32", "T", kArgs, kConvNewAttrs, "", 2, ReadConvBatchNorm,
     WriteConvBatchNorm, "", false, "TArgs"},
    {"_FusedConv2D", kBatchNorm, "T,T,num_args*T", "T", kT, kConvAttrs, "", 2, ReadConvBatchNorm, WriteConvBatchNorm,
     "", false, "", "TArgs"},
    {"_FusedDepthwiseConv2dNative", kConv, "T,T,num_args*T", "T", kT, kConvAttrs, "", 2, ReadFused, WriteFused},
    {"_FusedConv3D", kConv, "T,T,num_args*T", "T", kT, kConv3DAttrs, "", 3, ReadFused, WriteFused},
    {"_FusedMatMul", kMatMul, "T,T,num_args*T", "T", kT, kMatMulAttrs, "", 0, ReadFused, WriteFused},
    {"_MklFusedBatchMatMulV2", kMatMul, "T,T,num_args*T", "T", kT, kBatchMatMulAttrs, "", 0, ReadFused, WriteFused},
    {"_ITEXFusedConv2D", kConv, "T,T,num_args*T,num_bn_args*f32", "T", kT, kItexConvAttrs, "", 2, ReadFused, WriteFused,
     "", false, "num_bn_args"},
    {"_ITEXFusedConv2D", kConv, "T,T,num_args*T", "T", kT, kConvAttrs, "", 2, ReadFused, WriteFused, "", false, "",
     "num_bn_args"},
    {"_ITEXFusedDepthwiseConv2dNative", kConv, "T,T,num_args*T", "T", kT, kConvAttrs, "", 2, ReadFused, WriteFused},
    {"_ITEXFusedConv3D", kConv, "T,T,num_args*T", "T", kT, kConvAttrs, "", 3, ReadFused, WriteFused},
    {"_ITEXPadWithConv2D", kConv, "T,T,Tpaddings", "T", kPaddings, kPadConvAttrs, "01", 2, ReadFused, WriteFused},
    {"_ITEXPadWithDepthwiseConv2dNative", kConv, "T,T,Tpaddings", "T", kPaddings, kPadConvAttrs, "01", 2, ReadFused,
     WriteFused},
    {"_ITEXPadWithConv3D", kConv, "T,T,Tpaddings", "T", kPaddings, kPadConvAttrs, "01", 3, ReadFused, WriteFused},
    {"_ITEXPadWithFusedConv2D", kConv, "T,T,num_args*T,Tpaddings", "T", kPaddings, kPadFusedConvAttrs, "", 2, ReadFused,
     WriteFused},
    {"_ITEXPadWithFusedConv3D", kConv, "T,T,num_args*T,Tpaddings", "T", kPaddings, kPadFusedConvAttrs, "", 3, ReadFused,
     WriteFused},
    {"_ITEXFusedMatMul", kMatMul, "T,T,num_args*T", "T", kFloatT, kMatMulAttrs, "", 0, ReadFused, WriteFused},
    {"_ITEXFusedBatchMatMulV2", kMatMul, "T,T,num_args*T", "T", kFloatT, kBatchMatMulAttrs, "", 0, ReadFused,
     WriteFused},
    {"_ITEXAccMatMul", kMatMul, "T,T", "Tout", kAcc, kAccMatMulAttrs, "", 0, ReadFusedAcc, WriteFused},
    {"_ITEXFusedAccMatMul", kMatMul, "T,T,num_args*Tpost", "Tout", kAcc, kFusedAccMatMulAttrs, "", 0, ReadFusedAcc,
     WriteFused},
    // Normalization.
    {"_FusedBatchNormEx", kBatchNorm, "T,U,U,U,U,num_side_inputs*T", "T,U,U,U,U,U", kTU, kBatchNormExAttrs, "", 2,
     ReadBatchNormEx, WriteBatchNormEx},
    {"_ITEXFusedBatchNormEx", kBatchNorm, "T,U,U,U,U,num_side_inputs*T", "T,U,U,U,U,U", kTU, kBatchNormExAttrs, "", 2,
     ReadBatchNormEx, WriteBatchNormEx},
    {"_MklLayerNorm", kLayerNorm, "T,T,T", "T", kT, kMklLayerNormAttrs, "", 0, nullptr, WriteRow},
    {"_ITEXMklLayerNorm", kLayerNorm, "T,T,T", "T", kT, kLayerNormAttrs, "", 0, nullptr, WriteRow},
    {"ITEXLayerNorm", kLayerNorm, "T,U,U", "T,U,U", kTU, kLayerNormAttrs, "", 0, ReadLayerNorm, WriteLayerNorm, "0"},
    {"_MklFusedInstanceNorm", kInstanceNorm, "T,T,T", "T", kT, kMklInstanceNormAttrs, "", 0, ReadInstanceNorm,
     WriteInstanceNorm},
    {"_ITEXInstanceNorm", kInstanceNorm, "T,U,U", "T", kTU, kInstanceNormAttrs, "", 2, nullptr, WriteInstanceNorm},
    {"_ITEXFusedInstanceNorm", kInstanceNorm, "T,U,U", "T", kTU, kFusedInstanceNormAttrs, "", 2, ReadInstanceNorm,
     WriteInstanceNorm},
    {"_ITEXFusedAddV2WithSoftmax", kSoftmax, "T,T", "T", kFloatT, kNone, "", 0, nullptr, WriteRow},
    // Activations and chains.
    {"_MklSwish", kSwish, "T", "T", kT, kOfAlphaOne, "", 0, nullptr, WriteRow},
    {"_ITEXSwish", kSwish, "T", "T", kFloatT, kSwishAttrs, "", 0, nullptr, WriteRow},
    {"_MklFusedMish", kMish, "T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_ITEXMish", kMish, "T", "T", kFloatT, kNone, "", 0, nullptr, WriteRow},
    {"ITEXGelu", kGelu, "T", "T", kT, kGeluAttrs, "", 0, ReadGelu, WriteGelu},
    {"_ITEXFusedBinary", kBinaryChain, "num_args*T", "T", kT, kBinaryAttrs, "", 0, ReadFusedBinary, WriteFusedBinary},
    // An attention whose heads come after the steps: [batch, steps, heads, size].
    {"ScaledDotProductAttentionInference", kTranspose, "T,T,T,T", "T", kT, kAttentionAttrs, "", 0, ReadAttention,
     WriteTransposedAttention},
    // Comparisons with 1 or 0 as result.
    {"_EqualWithCast", kEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_NotEqualWithCast", kNotEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_LessWithCast", kLess, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_LessEqualWithCast", kLessEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_GreaterWithCast", kGreater, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_GreaterEqualWithCast", kGreaterEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_ITEXEqualWithCast", kEqual, "T,T", "T", kT, kNone, "", 0, ReadEqual, WriteRow},
    {"_ITEXNotEqualWithCast", kNotEqual, "T,T", "T", kT, kNone, "", 0, ReadEqual, WriteRow},
    {"_ITEXLessWithCast", kLess, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_ITEXLessEqualWithCast", kLessEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_ITEXGreaterWithCast", kGreater, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
    {"_ITEXGreaterEqualWithCast", kGreaterEqual, "T,T", "T", kT, kNone, "", 0, nullptr, WriteRow},
};

}  // namespace

std::span<const OpRow> FusedRows() { return kRows; }

}  // namespace halftone::graphdef
