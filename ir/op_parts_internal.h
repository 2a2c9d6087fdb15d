// SPDX-License-Identifier: Apache-2.0
// What the rows of the op table are made of: lists of ports and of attribute names, and tolerances. One list serves
// every op that has the same. ops.h says what they mean, ops.cc has the table.
#ifndef HALFTONE_IR_OP_PARTS_INTERNAL_H_
#define HALFTONE_IR_OP_PARTS_INTERNAL_H_

#include "ir/ops.h"

namespace halftone::op_parts {

using Names = std::string_view;

constexpr Port DecidesShape(Port port) {
  port.decides_shape = true;
  return port;
}

// --- Ports.
inline constexpr Port kX[] = {{"x"}};
inline constexpr Port kY[] = {{"y"}};
inline constexpr Port kAB[] = {{"a"}, {"b"}};
inline constexpr Port kPowIn[] = {{"a"}, {"b", '*'}};  // ONNX: the exponent may have another type
inline constexpr Port kAny[] = {{.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
inline constexpr Port kTied[] = {{.name = "x", .optional = true, .variadic = true}};
inline constexpr Port kAnyOutput[] = {{.name = "y", .type_variable = '*', .optional = true, .variadic = true}};
inline constexpr Port kDropoutIn[] = {{"x"}, {"ratio", '*', true}, {"training", '*', true}};
inline constexpr Port kDropoutOut[] = {
    {"y"}, {.name = "mask", .type_variable = '*', .optional = true, .type = DataType::kBool}};
inline constexpr Port kContractionIn[] = {{"x"}, {"weights"}, {"bias", 'T', true}, {"residual", 'T', true}};
inline constexpr Port kGemmIn[] = {{"a"}, {"b"}, {"c", 'T', true}};
inline constexpr Port kBiasIn[] = {{"x"}, {"b"}};
// softmax(scale * x + addend): the scale and mask before the softmax of an attention.
inline constexpr Port kSoftmaxIn[] = {{"x"}, {"addend", 'T', true}};
inline constexpr Port kClipIn[] = {{"x"}, {"low", 'T', true}, {"high", 'T', true}};
inline constexpr Port kBatchNormIn[] = {{"x"}, {"scale", 'U'}, {"offset", 'U'}, {"mean", 'U'}, {"variance", 'U'}};
inline constexpr Port kBatchNormOut[] = {
    {"y"}, {"mean", 'U', true}, {"variance", 'U', true}, {"r1", 'U', true}, {"r2", 'U', true}, {"r3", 'U', true}};
inline constexpr Port kMaxPoolOut[] = {
    {"y"}, {.name = "indices", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
inline constexpr Port kReduceIn[] = {{"x"}, DecidesShape({"axes", 'I', true})};
inline constexpr Port kReverseIn[] = {{"x"}, {"axes", 'I'}};
inline constexpr Port kReshapeIn[] = {{"x"}, DecidesShape({"shape", 'I'})};
inline constexpr Port kTransposeIn[] = {{"x"}, DecidesShape({"perm", 'I'})};
inline constexpr Port kUnsqueezeIn[] = {{"x"}, DecidesShape({"axes", 'I'})};
inline constexpr Port kConcatIn[] = {{.name = "x", .variadic = true}, DecidesShape({"axis", 'I'})};
inline constexpr Port kPadIn[] = {
    {"x"}, DecidesShape({"pads", 'I'}), {"value", 'T', true}, DecidesShape({"axes", '*', true})};
inline constexpr Port kSliceIn[] = {{"x"},
                                    DecidesShape({"starts", 'I'}),
                                    DecidesShape({"ends", 'I'}),
                                    DecidesShape({"axes", 'I', true}),
                                    DecidesShape({"steps", 'I', true})};
inline constexpr Port kGatherIn[] = {{"x"}, {"indices", 'I'}, DecidesShape({"axis", '*', true})};
inline constexpr Port kOtherOut[] = {{"y", '*'}};
inline constexpr Port kAnyX[] = {{"x", '*'}};
inline constexpr Port kResizeIn[] = {
    {"x"}, DecidesShape({"roi", '*', true}), DecidesShape({"scales", '*', true}), DecidesShape({"sizes", '*', true})};
inline constexpr Port kMergeOut[] = {{"y"}, {"index", '*', true}};
inline constexpr Port kSwitchIn[] = {{"x"}, {"predicate", '*'}};
inline constexpr Port kSwitchOut[] = {{"if_false", 'T', true}, {"if_true", 'T', true}};
inline constexpr std::span<const Port> kNoPorts;

inline constexpr Port kBoolX[] = {{.name = "x", .type_variable = 'B'}};
inline constexpr Port kBoolY[] = {{.name = "y", .type_variable = 'B', .type = DataType::kBool}};
inline constexpr Port kBoolAB[] = {{"a", 'B'}, {"b", 'B'}};
inline constexpr Port kBoolOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kBool}};
inline constexpr Port kIndexOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kInt64}};
inline constexpr Port kInt32Out[] = {{.name = "y", .type_variable = '*', .type = DataType::kInt32}};
inline constexpr Port kFloatOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kFloat32}};
inline constexpr Port kVariadicX[] = {{.name = "x", .variadic = true}};
inline constexpr Port kVariadicY[] = {{.name = "y", .optional = true, .variadic = true}};
inline constexpr Port kAnyVariadic[] = {{.name = "x", .type_variable = '*', .variadic = true}};
inline constexpr Port kCastLikeIn[] = {{"x", '*'}, {"like", 'L'}};
inline constexpr Port kLikeOut[] = {{"y", 'L'}};
inline constexpr Port kPReluIn[] = {{"x"}, {"slope"}};
inline constexpr Port kWhereIn[] = {{"condition", '*'}, {"a"}, {"b"}};
inline constexpr Port kLayerNormIn[] = {{"x"}, {"scale"}, {"offset", 'T', true}};
inline constexpr Port kLayerNormOut[] = {
    {"y"},
    {.name = "mean", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32}};
inline constexpr Port kRmsNormIn[] = {{"x"}, {"scale"}};
inline constexpr Port kRmsNormOut[] = {
    {"y"}, {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32}};
inline constexpr Port kSkipLayerNormIn[] = {{"x"}, {"skip"}, {"scale"}, {"offset", 'T', true}, {"bias", 'T', true}};
inline constexpr Port kSkipLayerNormOut[] = {
    {"y"},
    {.name = "mean", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {"sum", 'T', true}};
inline constexpr Port kGroupNormIn[] = {{"x"}, {"scale"}, {"offset"}};
inline constexpr Port kConvTransposeIn[] = {
    {"x"}, {"weights"}, {"bias", 'T', true}, DecidesShape({"output_shape", '*', true})};
inline constexpr Port kDeformConvIn[] = {{"x"}, {"weights"}, {"offset"}, {"bias", 'T', true}, {"mask", 'T', true}};
inline constexpr Port kIntegerIn[] = {
    {"x", 'A'}, {"weights", 'W'}, {"x_zero_point", 'A', true}, {"weights_zero_point", 'W', true}};
inline constexpr Port kIntegerToFloatIn[] = {
    {"a", 'A'},         {"b", 'W'}, {"a_scale"}, {"b_scale"}, {"a_zero_point", 'A', true}, {"b_zero_point", 'W', true},
    {"bias", 'T', true}};
inline constexpr Port kCol2ImIn[] = {{"x"}, DecidesShape({"image_shape", 'I'}), DecidesShape({"block_shape", 'I'})};
inline constexpr Port kMaxUnpoolIn[] = {{"x"}, {"indices", '*'}, DecidesShape({"output_shape", '*', true})};
inline constexpr Port kReduceBoolIn[] = {{"x", 'B'}, DecidesShape({"axes", 'I', true})};
inline constexpr Port kAxisIn[] = {{"x"}, DecidesShape({"axis", 'I', true})};
inline constexpr Port kCumIn[] = {{"x"}, {"axis", 'I'}};
inline constexpr Port kTopKIn[] = {{"x"}, DecidesShape({"k", '*'})};
inline constexpr Port kTopKOut[] = {
    {"values"}, {.name = "indices", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
inline constexpr Port kUniqueOut[] = {
    {"y"},
    {.name = "first", .type_variable = '*', .optional = true, .type = DataType::kInt64},
    {.name = "inverse", .type_variable = '*', .optional = true, .type = DataType::kInt64},
    {.name = "counts", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
inline constexpr Port kCompressIn[] = {{"x"}, {"condition", '*'}};
inline constexpr Port kNmsIn[] = {
    {"boxes"}, {"scores"}, {"max_per_class", '*', true}, {"iou_threshold", '*', true}, {"score_threshold", '*', true}};
inline constexpr Port kTileIn[] = {{"x"}, DecidesShape({"repeats", 'I'})};
inline constexpr Port kSplitIn[] = {{"x"}, DecidesShape({"sizes", '*', true}), DecidesShape({"axis", '*', true})};
inline constexpr Port kStridedSliceIn[] = {
    {"x"}, DecidesShape({"begin", 'I'}), DecidesShape({"end", 'I'}), DecidesShape({"strides", 'I'})};
inline constexpr Port kIndexedIn[] = {{"x"}, {"indices", 'I'}};
inline constexpr Port kScatterIn[] = {{"x"}, {"indices", 'I'}, {"updates"}};
inline constexpr Port kScatterNdNewIn[] = {{"indices", 'I'}, {"updates"}, DecidesShape({"shape", 'I'})};
inline constexpr Port kOneHotIn[] = {{"indices", '*'}, DecidesShape({"depth", '*'}), {"values", 'V'}};
inline constexpr Port kOneHotOut[] = {{"y", 'V'}};
inline constexpr Port kTriluIn[] = {{"x"}, {"k", '*', true}};
inline constexpr Port kBandIn[] = {{"x"}, {"lower", 'I'}, {"upper", 'I'}};
inline constexpr Port kRangeIn[] = {DecidesShape({"start"}), DecidesShape({"limit"}), DecidesShape({"delta"})};
inline constexpr Port kLinSpaceIn[] = {{"start"}, {"stop"}, DecidesShape({"count", 'I'})};
inline constexpr Port kFillIn[] = {DecidesShape({"shape", 'I'}), {"value", 'V', true}};
inline constexpr Port kFillOut[] = {{.name = "y", .type_variable = 'V', .type = DataType::kFloat32}};
inline constexpr Port kLengthsIn[] = {{"x"}, {"lengths", '*'}};
inline constexpr Port kSpaceToBatchIn[] = {{"x"}, DecidesShape({"block_shape", '*'}), DecidesShape({"pads", '*'})};
inline constexpr Port kGridSampleIn[] = {{"x"}, {"grid", '*'}};
inline constexpr Port kRoiAlignIn[] = {{"x"}, {"rois"}, {"batch_indices", '*'}};
inline constexpr Port kRoiPoolIn[] = {{"x"}, {"rois"}};
inline constexpr Port kCropAndResizeIn[] = {
    {"x", '*'}, {"boxes", '*'}, {"box_indices", '*'}, DecidesShape({"crop_size", '*'})};
inline constexpr Port kLstmIn[] = {{"x"},
                                   {"w"},
                                   {"r"},
                                   {"b", 'T', true},
                                   {"sequence_lengths", '*', true},
                                   {"initial_h", 'T', true},
                                   {"initial_c", 'T', true},
                                   {"peepholes", 'T', true}};
inline constexpr Port kLstmOut[] = {{"y", 'T', true}, {"y_h", 'T', true}, {"y_c", 'T', true}};
inline constexpr Port kRnnIn[] = {
    {"x"}, {"w"}, {"r"}, {"b", 'T', true}, {"sequence_lengths", '*', true}, {"initial_h", 'T', true}};
inline constexpr Port kGruIn[] = {{"x"},
                                  {"w"},
                                  {"r"},
                                  {"b", 'T', true},
                                  {"sequence_lengths", '*', true},
                                  {"initial_h", 'T', true},
                                  {"attention", 'T', true}};
inline constexpr Port kGruOut[] = {{"y", 'T', true}, {"y_h", 'T', true}};
inline constexpr Port kAttentionIn[] = {
    {"x"}, {"weights"}, {"bias", 'T', true}, {"mask", '*', true}, {"past", 'T', true}, {"attention_bias", 'T', true}};
inline constexpr Port kScaledAttentionIn[] = {{"q"}, {"k"}, {"v"}, {"mask", 'T', true}};
inline constexpr Port kAttentionOut[] = {{"y"}, {"present", 'T', true}};
inline constexpr Port kQuantizeIn[] = {{"x"}, {"scale", '*'}, {"zero_point", 'Q', true}};
inline constexpr Port kQuantizeOut[] = {{.name = "y", .type_variable = 'Q', .type = DataType::kUInt8}};
inline constexpr Port kDequantizeIn[] = {{"x", 'Q'}, {"scale", 'S'}, {"zero_point", 'Q', true}};
inline constexpr Port kDequantizeOut[] = {{"y", 'S'}};
inline constexpr Port kDynamicQuantizeOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kUInt8},
                                               {.name = "scale", .type_variable = '*', .type = DataType::kFloat32},
                                               {.name = "zero_point", .type_variable = '*', .type = DataType::kUInt8}};
inline constexpr Port kFakeQuantIn[] = {{"x"}, {"low"}, {"high"}};
inline constexpr Port kDequantizeRangeIn[] = {{"x", '*'}, {"low", '*'}, {"high", '*'}};
inline constexpr Port kLossIn[] = {{"scores"}, {"target", '*'}, {"weights", 'T', true}};
inline constexpr Port kLossOut[] = {{"y"}, {"log_probabilities", 'T', true}};
inline constexpr Port kDftIn[] = {{"x"}, DecidesShape({"length", '*', true}), DecidesShape({"axis", '*', true})};
inline constexpr Port kStftIn[] = {
    {"signal"}, DecidesShape({"frame_step", '*'}), {"window", 'T', true}, DecidesShape({"frame_length", '*', true})};
inline constexpr Port kSizeIn[] = {DecidesShape({"size", '*'})};
inline constexpr Port kMelIn[] = {DecidesShape({"num_bins", '*'}), DecidesShape({"dft_length", '*'}),
                                  DecidesShape({"sample_rate", '*'}), DecidesShape({"lower_hz", '*'}),
                                  DecidesShape({"upper_hz", '*'})};
inline constexpr Port kShapeIn[] = {DecidesShape({"shape", '*'})};
inline constexpr Port kIfIn[] = {{"condition", '*'},
                                 {.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
inline constexpr Port kLoopIn[] = {{"max_trip_count", '*', true},
                                   {"condition", '*', true},
                                   {.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
inline constexpr Port kTensorArrayOut[] = {{"handle", '*', true}, {"flow", '*', true}};
inline constexpr Port kTensorArrayWriteIn[] = {{"handle", '*'}, {"index", '*'}, {"value"}, {"flow", '*'}};
inline constexpr Port kTensorArrayReadIn[] = {{"handle", '*'}, {"index", '*'}, {"flow", '*'}};
inline constexpr Port kTensorArraySizeIn[] = {{"handle", '*'}, {"flow", '*'}};
inline constexpr Port kTensorArrayConcatOut[] = {{"y", '*'}, {"lengths", '*', true}};
inline constexpr Port kTensorArraySplitIn[] = {{"handle", '*'}, {"value"}, {"lengths", '*'}, {"flow", '*'}};
inline constexpr Port kFlowOut[] = {{"flow", '*'}};

// --- Attributes.
inline constexpr std::span<const Names> kNone;
inline constexpr Names kValue[] = {"value"};
inline constexpr Names kRatio[] = {"ratio"};
inline constexpr Names kConvAttributes[] = {
    "layout",     "weights_layout",   "strides",         "dilations",        "pads",     "auto_pad", "group",
    "activation", "activation_alpha", "activation_beta", "activation_first", "math_mode"};
inline constexpr Names kMatMulAttributes[] = {"transpose_a",      "transpose_b",      "scale",
                                              "activation",       "activation_alpha", "activation_beta",
                                              "activation_first", "math_mode"};
inline constexpr Names kActivationAttributes[] = {"activation", "activation_alpha", "activation_beta"};
inline constexpr Names kBinaryChainAttributes[] = {"ops", "activation", "activation_alpha", "activation_beta"};
inline constexpr Names kGemmAttributes[] = {"alpha", "beta", "transpose_a", "transpose_b", "math_mode"};
inline constexpr Names kLayout[] = {"layout"};
inline constexpr Names kAlpha[] = {"alpha"};
inline constexpr Names kSoftmaxAttributes[] = {"axis", "flatten"};
inline constexpr Names kScaledSoftmaxAttributes[] = {"axis", "flatten", "scale"};
inline constexpr Names kBatchNormAttributes[] = {"epsilon",    "layout",     "is_training",      "momentum",
                                                 "statistics", "activation", "activation_alpha", "activation_beta"};
inline constexpr Names kMaxPoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                               "auto_pad", "dilations", "ceil_mode", "storage_order"};
inline constexpr Names kAveragePoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                                   "auto_pad", "dilations", "ceil_mode", "count_include_pad"};
inline constexpr Names kReduceAttributes[] = {"keepdims", "noop_with_empty_axes"};
inline constexpr Names kAllowZero[] = {"allowzero"};
inline constexpr Names kAxis[] = {"axis"};
inline constexpr Names kOneHotAttributes[] = {"axis", "wrap_negative"};
inline constexpr Names kMode[] = {"mode"};
inline constexpr Names kStartEnd[] = {"start", "end"};
inline constexpr Names kResizeAttributes[] = {"mode",
                                              "coordinate_transformation_mode",
                                              "nearest_mode",
                                              "cubic_coeff_a",
                                              "exclude_outside",
                                              "extrapolation_value",
                                              "antialias",
                                              "axes",
                                              "keep_aspect_ratio_policy"};
inline constexpr Names kDepthToSpaceAttributes[] = {"block_size", "mode", "layout"};
inline constexpr Names kAlphaBeta[] = {"alpha", "beta"};
inline constexpr Names kApproximate[] = {"approximate"};
inline constexpr Names kAlphaGamma[] = {"alpha", "gamma"};
inline constexpr Names kShrinkAttributes[] = {"lambd", "bias"};
inline constexpr Names kIsInfAttributes[] = {"detect_negative", "detect_positive"};
inline constexpr Names kNumber[] = {"number"};
inline constexpr Names kFmod[] = {"fmod"};
inline constexpr Names kDirection[] = {"direction"};
inline constexpr Names kLayerNormAttributes[] = {"axis", "epsilon"};
inline constexpr Names kEpsilon[] = {"epsilon"};
inline constexpr Names kInstanceNormAttributes[] = {"epsilon", "layout", "activation", "activation_alpha",
                                                    "activation_beta"};
inline constexpr Names kGroupNormAttributes[] = {"epsilon", "num_groups", "layout", "per_group"};
inline constexpr Names kLpNormAttributes[] = {"axis", "p"};
inline constexpr Names kLrnAttributes[] = {"size", "alpha", "beta", "bias", "layout"};
inline constexpr Names kAxesAttribute[] = {"axes"};
inline constexpr Names kConvTransposeAttributes[] = {"layout",       "weights_layout", "strides", "dilations",
                                                     "pads",         "auto_pad",       "group",   "output_padding",
                                                     "output_shape", "math_mode"};
inline constexpr Names kDeformConvAttributes[] = {"strides", "dilations", "pads", "group", "offset_group"};
inline constexpr Names kConvIntegerAttributes[] = {"layout", "weights_layout", "strides", "dilations",
                                                   "pads",   "auto_pad",       "group"};
inline constexpr Names kEquation[] = {"equation"};
inline constexpr Names kCol2ImAttributes[] = {"dilations", "pads", "strides"};
inline constexpr Names kLpPoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                              "auto_pad", "dilations", "ceil_mode", "p"};
inline constexpr Names kLayoutP[] = {"layout", "p"};
inline constexpr Names kMaxUnpoolAttributes[] = {"kernel", "strides", "pads"};
inline constexpr Names kArgAttributes[] = {"keepdims", "select_last_index"};
inline constexpr Names kCumAttributes[] = {"exclusive", "reverse"};
inline constexpr Names kTopKAttributes[] = {"axis", "largest", "sorted"};
inline constexpr Names kRows[] = {"rows"};
inline constexpr Names kUniqueAttributes[] = {"axis", "sorted"};
inline constexpr Names kCenterPointBox[] = {"center_point_box"};
inline constexpr Names kStridedSliceAttributes[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                                    "shrink_axis_mask"};
inline constexpr Names kBatchDims[] = {"batch_dims"};
inline constexpr Names kScatterElementsAttributes[] = {"axis", "reduction"};
inline constexpr Names kReduction[] = {"reduction"};
inline constexpr Names kUpper[] = {"upper"};
inline constexpr Names kKAttribute[] = {"k"};
inline constexpr Names kReverseSequenceAttributes[] = {"batch_axis", "time_axis"};
inline constexpr Names kBlockLayout[] = {"block_size", "layout"};
inline constexpr Names kGridSampleAttributes[] = {"mode", "padding_mode", "align_corners"};
inline constexpr Names kAlignCorners[] = {"align_corners"};
inline constexpr Names kRoiAlignAttributes[] = {"mode",           "output_height", "output_width",
                                                "sampling_ratio", "spatial_scale", "coordinate_transformation_mode"};
inline constexpr Names kMaxRoiPoolAttributes[] = {"pooled_shape", "spatial_scale"};
inline constexpr Names kCropAndResizeAttributes[] = {"mode", "extrapolation_value"};
inline constexpr Names kLstmAttributes[] = {
    "hidden_size", "direction",    "activations", "activation_alphas", "activation_betas",
    "clip",        "input_forget", "batch_first", "state_scale",       "state_zero_point"};
inline constexpr Names kGruAttributes[] = {
    "hidden_size", "direction",           "activations", "activation_alphas", "activation_betas",
    "clip",        "linear_before_reset", "batch_first", "state_scale",       "state_zero_point"};
inline constexpr Names kRnnAttributes[] = {"hidden_size",       "direction",        "activations",
                                           "activation_alphas", "activation_betas", "clip",
                                           "batch_first",       "state_scale",      "state_zero_point"};
inline constexpr Names kAttentionAttributes[] = {"num_heads", "unidirectional", "qkv_hidden_sizes", "scale",
                                                 "mask_filter_value"};
inline constexpr Names kScaledAttentionAttributes[] = {"scale", "k_transposed"};
inline constexpr Names kQuantizeAttributes[] = {"axis", "block_size"};
inline constexpr Names kFakeQuantAttributes[] = {"num_bits", "narrow_range", "axis"};
inline constexpr Names kDequantizeRangeAttributes[] = {"mode", "narrow_range", "axis"};
inline constexpr Names kLossAttributes[] = {"ignore_index", "reduction"};
inline constexpr Names kDftAttributes[] = {"inverse", "onesided"};
inline constexpr Names kOnesided[] = {"onesided"};
inline constexpr Names kWindowAttributes[] = {"mode", "periodic"};
inline constexpr Names kRandomUniformAttributes[] = {"low", "high", "seed"};
inline constexpr Names kRandomNormalAttributes[] = {"mean", "scale", "seed"};
inline constexpr Names kThenElse[] = {"then", "else"};
inline constexpr Names kBody[] = {"body"};
inline constexpr Names kScanAttributes[] = {"body",
                                            "num_scan_inputs",
                                            "scan_input_axes",
                                            "scan_input_directions",
                                            "scan_output_axes",
                                            "scan_output_directions"};
inline constexpr Names kConditionBody[] = {"condition", "body"};

// --- Tolerances in f32, against the reference function that sums in f64.
inline constexpr Tolerance kExact{0, 0};
inline constexpr Tolerance kRounded{1e-6f, 1e-7f};       // one rounding or a polynomial
inline constexpr Tolerance kApproximated{1e-6f, 1e-6f};  // small results of large numbers that nearly cancel
inline constexpr Tolerance kAccumulated{1e-5f, 1e-5f};   // sums of many products

}  // namespace halftone::op_parts

#endif  // HALFTONE_IR_OP_PARTS_INTERNAL_H_
