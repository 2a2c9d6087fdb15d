// SPDX-License-Identifier: Apache-2.0
// Rows of convolutions of other kinds, pools, normalizations, images and detection.
#include "formats/onnx/export_rules.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/nn_rules.h"
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using enum OpKind;

constexpr AttributeRow kAxis[] = {{"axis", "axis", K::kInt}};
constexpr AttributeRow kConvTransposeAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"dilations", "dilations", K::kInts},
    {"group", "group", K::kInt},
    {"output_padding", "output_padding", K::kInts},
    {"output_shape", "output_shape", K::kInts},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kDeformConvAttributes[] = {
    {"dilations", "dilations", K::kInts}, {"group", "group", K::kInt},      {"offset_group", "offset_group", K::kInt},
    {"pads", "pads", K::kInts},           {"strides", "strides", K::kInts},
};
constexpr AttributeRow kCol2ImAttributes[] = {
    {"dilations", "dilations", K::kInts},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kLpPoolAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"ceil_mode", "ceil_mode", K::kBool, 18},
    {"dilations", "dilations", K::kInts, 18},
    {"kernel_shape", "kernel", K::kInts},
    {"p", "p", K::kInt},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
constexpr AttributeRow kP[] = {{"p", "p", K::kInt}};
constexpr AttributeRow kMaxUnpoolAttributes[] = {
    {"kernel_shape", "kernel", K::kInts},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
};
// stash_type is the type of the statistics.
constexpr AttributeRow kLayerNormAttributes[] = {
    {"axis", "axis", K::kInt},
    {"epsilon", "epsilon", K::kFloat},
    {"stash_type", "", K::kInt},
};
constexpr AttributeRow kEpsilon[] = {{"epsilon", "epsilon", K::kFloat}};
constexpr AttributeRow kGroupNormAttributes[] = {
    {"epsilon", "epsilon", K::kFloat},
    {"num_groups", "num_groups", K::kInt},
    {"stash_type", "", K::kInt, 21},
};
constexpr AttributeRow kLpNormAttributes[] = {{"axis", "axis", K::kInt}, {"p", "p", K::kInt}};
constexpr AttributeRow kLrnAttributes[] = {
    {"alpha", "alpha", K::kFloat},
    {"beta", "beta", K::kFloat},
    {"bias", "bias", K::kFloat},
    {"size", "size", K::kInt},
};
constexpr AttributeRow kAxes[] = {{"axes", "axes", K::kInts}};
constexpr AttributeRow kUpsampleAttributes[] = {{"mode", "mode", K::kString}};
constexpr AttributeRow kBlockSize[] = {{"blocksize", "block_size", K::kInt}};
constexpr AttributeRow kGridSampleAttributes[] = {
    {"align_corners", "align_corners", K::kBool},
    {"mode", "mode", K::kString},
    {"padding_mode", "padding_mode", K::kString},
};
constexpr AttributeRow kAlignCorners[] = {{"align_corners", "align_corners", K::kBool}};
constexpr AttributeRow kRoiAlignAttributes[] = {
    {"coordinate_transformation_mode", "coordinate_transformation_mode", K::kString, 16},
    {"mode", "mode", K::kString},
    {"output_height", "output_height", K::kInt},
    {"output_width", "output_width", K::kInt},
    {"sampling_ratio", "sampling_ratio", K::kInt},
    {"spatial_scale", "spatial_scale", K::kFloat},
};
constexpr AttributeRow kMaxRoiPoolAttributes[] = {
    {"pooled_shape", "pooled_shape", K::kInts},
    {"spatial_scale", "spatial_scale", K::kFloat},
};
constexpr AttributeRow kNmsAttributes[] = {{"center_point_box", "center_point_box", K::kBool}};

// ONNX op, canonical op, since, bf16 since, inputs at most, attributes, attributes that are inputs; import: keep
// opaque, finish; export: opset, write.
constexpr OpRow kRows[] = {
    {"ConvTranspose",
     kConvTranspose,
     1,
     22,
     3,
     kConvTransposeAttributes,
     {},
     nullptr,
     CheckKernelShape,
     nullptr,
     WriteWithKernelShape},
    {"DeformConv",
     kDeformConv,
     19,
     22,
     5,
     kDeformConvAttributes,
     {},
     nullptr,
     CheckKernelShape,
     nullptr,
     WriteWithKernelShape},
    {"Col2Im", kCol2Im, 18, 18, 3, kCol2ImAttributes},
    {"LpPool", kLpPool, 2, 22, 1, kLpPoolAttributes},
    {"GlobalMaxPool", kGlobalMaxPool, 1, 22, 1},
    {"GlobalLpPool", kGlobalLpPool, 2, kNever, 1, kP},  // bf16 in opsets 2 to 21 only
    {"MaxUnpool", kMaxUnpool, 9, 22, 3, kMaxUnpoolAttributes},
    {"LogSoftmax", kLogSoftmax, 1, 13, 1, kAxis, {}, nullptr, FinishSoftmax, SoftmaxMinOpset, WriteSoftmax},
    {"Hardmax", kHardmax, 1, 13, 1, kAxis, {}, nullptr, FinishSoftmax, SoftmaxMinOpset, WriteSoftmax},
    // ONNX has it since opset 17, ONNX Runtime in all opsets, and its tools write it before 17. A layer_norm that a
    // pass has made is written out before 17.
    {"LayerNormalization", kLayerNorm, 1, 17, 3, kLayerNormAttributes, {}, nullptr, FinishLayerNorm},
    {"", kLayerNorm, 1, 17, 0, kLayerNormAttributes, {}, nullptr, nullptr, nullptr, WriteLayerNorm},
    // ONNX Runtime's; the default domain is the one that its tools write.
    {"SimplifiedLayerNormalization",
     kRmsNorm,
     1,
     17,
     2,
     kLayerNormAttributes,
     {},
     nullptr,
     KeepDomain,
     nullptr,
     WriteRmsNorm},
    {"SimplifiedLayerNormalization",
     kRmsNorm,
     1,
     17,
     2,
     kLayerNormAttributes,
     {},
     nullptr,
     KeepDomain,
     nullptr,
     WriteRmsNorm,
     "com.microsoft"},
    {"InstanceNormalization", kInstanceNorm, 6, 22, 3, kEpsilon},
    {"GroupNormalization",
     kGroupNorm,
     18,
     18,
     3,
     kGroupNormAttributes,
     {},
     nullptr,
     FinishGroupNorm,
     GroupNormMinOpset,
     WriteGroupNorm},
    {"LpNormalization", kLpNorm, 1, 22, 1, kLpNormAttributes},
    {"LRN", kLrn, 1, 13, 1, kLrnAttributes},
    {"MeanVarianceNormalization", kMeanVarianceNorm, 9, 13, 1, kAxes},
    {"Upsample",
     kResize,
     7,
     13,
     2,
     kUpsampleAttributes,
     {},
     UpsampleIsOpaque,
     FinishUpsample,
     UpsampleMinOpset,
     WriteUpsample},
    {"SpaceToDepth", kSpaceToDepth, 1, 13, 1, kBlockSize},
    {"GridSample",
     kGridSample,
     16,
     22,
     2,
     kGridSampleAttributes,
     {},
     nullptr,
     FinishGridSample,
     GridSampleMinOpset,
     WriteGridSample},
    {"AffineGrid", kAffineGrid, 20, 20, 2, kAlignCorners},
    {"RoiAlign", kRoiAlign, 10, 22, 3, kRoiAlignAttributes, {}, nullptr, FinishRoiAlign, RoiAlignMinOpset},
    {"MaxRoiPool", kMaxRoiPool, 1, 22, 2, kMaxRoiPoolAttributes},
    {"NonMaxSuppression", kNonMaxSuppression, 10, kNever, 5, kNmsAttributes},
};

}  // namespace

std::span<const OpRow> NnRows() { return kRows; }

}  // namespace halftone::onnx_format
