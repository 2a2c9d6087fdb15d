// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools, normalization, images.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kTU[] = {{"T"}, {"U"}};
constexpr TypeRow kTshape[] = {{"T"}, {"Tshape", DataType::kInt32}};

constexpr AttrRow kStrides{.name = "strides", .form = kSpatial, .canonical = "strides", .required = true};
constexpr AttrRow kKsize{.name = "ksize", .form = kSpatial, .canonical = "kernel", .required = true};
constexpr AttrRow kDilations{.name = "dilations", .form = kSpatial, .canonical = "dilations"};
constexpr AttrRow kPaddingRow{.name = "padding", .form = kPadding, .canonical = "auto_pad", .required = true};
constexpr AttrRow kExplicit{.name = "explicit_paddings", .form = kExplicitPads, .canonical = "pads"};
constexpr AttrRow kLastChannel{.form = kImpliedString, .canonical = "layout", .text = "NHWC"};

// The layout comes first: the others are read in its order.
constexpr AttrRow kConvAttrs[] = {kDataFormat, kStrides, kDilations, kPaddingRow, kExplicit};
constexpr AttrRow kPoolAttrs[] = {kDataFormat, kKsize, kStrides, kPaddingRow, kExplicit};
constexpr AttrRow kMaxPoolV2Attrs[] = {kDataFormat, kPaddingRow};
constexpr AttrRow kFusedPadAttrs[] = {
    kLastChannel, kStrides, kPaddingRow, {.name = "mode", .form = kKeep, .required = true}};
constexpr AttrRow kBackpropAttrs[] = {
    kDataFormat, kStrides,  kDilations,
    kPaddingRow, kExplicit, {.form = kImpliedString, .canonical = "weights_layout", .text = "HWOI"}};
constexpr AttrRow kBiasAddAttrs[] = {kDataFormat};
constexpr AttrRow kBatchNormAttrs[] = {
    kDataFormat,
    {.name = "epsilon", .form = kFloat, .canonical = "epsilon", .tf_default = 1e-4f, .canonical_default = 1e-5f},
    {.name = "is_training", .form = kBool, .canonical = "is_training", .tf_default = 1, .canonical_default = 0}};
constexpr AttrRow kOldBatchNormAttrs[] = {
    kLastChannel,
    {.name = "variance_epsilon", .form = kFloat, .canonical = "epsilon", .required = true},
    {.name = "scale_after_normalization", .form = kMustBe, .required = true, .tf_default = 1}};
constexpr AttrRow kLrnAttrs[] = {kLastChannel};
constexpr AttrRow kDepthToSpaceAttrs[] = {
    kDataFormat, {.name = "block_size", .form = kInt, .canonical = "block_size", .required = true}};
constexpr AttrRow kBilinear[] = {{.form = kImpliedString, .canonical = "mode", .text = "linear"}};
constexpr AttrRow kNearest[] = {{.form = kImpliedString, .canonical = "mode", .text = "nearest"}};
constexpr AttrRow kBicubic[] = {{.form = kImpliedString, .canonical = "mode", .text = "cubic"}};
constexpr AttrRow kCropAttrs[] = {{.name = "method", .form = kString, .canonical = "mode", .text = "bilinear"},
                                  {.name = "extrapolation_value", .form = kFloat, .canonical = "extrapolation_value"}};
constexpr TypeRow kNmsTypes[] = {{"T", DataType::kFloat32}, {"T_threshold", DataType::kFloat32}};

constexpr OpRow kRows[] = {
    {"Conv2D", kConv, "T,T", "T", kT, kConvAttrs, "", 2, ReadConvWeights},
    {"DepthwiseConv2dNative", kConv, "T,T", "T", kT, kConvAttrs, "", 2, ReadConvWeights},
    {"Conv3D", kConv, "T,T", "T", kT, kConvAttrs, "", 3, ReadConvWeights},
    {"FusedPadConv2D", kConv, "T,s32,T", "T", kT, kFusedPadAttrs, "", 2, ReadFusedPadConv, WriteFusedPadConv},
    {"Conv2DBackpropInput", kConvTranspose, "s32,T,T", "T", kT, kBackpropAttrs, "21-0", 2, nullptr, WriteConvTranspose},
    {"Conv3DBackpropInputV2", kConvTranspose, "Tshape,T,T", "T", kTshape, kBackpropAttrs, "21-0", 3, nullptr,
     WriteConvTranspose},
    {"BiasAdd", kBiasAdd, "T,T", "T", kT, kBiasAddAttrs},
    {"BiasAddV1", kBiasAdd, "T,T", "T", kT, kNone, "", 0, ReadPlainBiasAdd},
    {"FusedBatchNormV3", kBatchNorm, "T,U,U,U,U", "T,U,U,U,U,U", kTU, kBatchNormAttrs},
    {"FusedBatchNormV2", kBatchNorm, "T,U,U,U,U", "T,U,U,U,U", kTU, kBatchNormAttrs},
    {"FusedBatchNorm", kBatchNorm, "T,T,T,T,T", "T,T,T,T,T", kT, kBatchNormAttrs},
    {"BatchNormWithGlobalNormalization", kBatchNorm, "T,T,T,T,T", "T", kT, kOldBatchNormAttrs, "04312"},
    {"LRN", kLrn, "T", "T", kFloatT, kLrnAttrs, "", 2, ReadLrn, WriteLrn},
    {"MaxPool", kMaxPool, "T", "T", kFloatT, kPoolAttrs},
    {"MaxPool3D", kMaxPool, "T", "T", kT, kPoolAttrs, "", 3},
    {"MaxPoolV2", kMaxPool, "T,s32,s32", "T", kFloatT, kMaxPoolV2Attrs, "0", 2, ReadMaxPoolV2, WriteMaxPoolV2},
    {"AvgPool", kAveragePool, "T", "T", kT, kPoolAttrs},
    {"AvgPool3D", kAveragePool, "T", "T", kT, kPoolAttrs, "", 3},
    {"DepthToSpace", kDepthToSpace, "T", "T", kT, kDepthToSpaceAttrs},
    {"SpaceToDepth", kSpaceToDepth, "T", "T", kT, kDepthToSpaceAttrs},
    {"ResizeBilinear", kResize, "T,s32", "f32", kT, kBilinear, "0--1", 2, ReadResize, WriteResize},
    {"ResizeNearestNeighbor", kResize, "T,s32", "T", kT, kNearest, "0--1", 2, ReadResize, WriteResize},
    {"ResizeBicubic", kResize, "T,s32", "f32", kT, kBicubic, "0--1", 2, ReadResize, WriteResize},
    {"NonMaxSuppressionV3", kNonMaxSuppression, "T,T,s32,T_threshold,T_threshold", "s32", kNmsTypes, kNone},
    {"NonMaxSuppressionV2", kNonMaxSuppression, "T,T,s32,T_threshold", "s32", kNmsTypes, kNone},
    {"CropAndResize", kCropAndResize, "T,f32,s32,s32", "f32", kT, kCropAttrs},
};

}  // namespace

std::span<const OpRow> NeuralRows() { return kRows; }

}  // namespace halftone::graphdef
