// The table of canonical ops. ops.h says what each means; one row each here.

#include "ir/ops.h"

#include <array>

namespace halftone {
namespace {

using Names = std::string_view;

// --- Ports.
constexpr Port kX[] = {{"x"}};
constexpr Port kY[] = {{"y"}};
constexpr Port kAB[] = {{"a"}, {"b"}};
constexpr Port kPowIn[] = {{"a"}, {"b", '*'}};  // ONNX: the exponent may have another type
constexpr Port kAny[] = {{.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
constexpr Port kTied[] = {{.name = "x", .optional = true, .variadic = true}};
constexpr Port kAnyOutput[] = {{.name = "y", .type_variable = '*', .optional = true, .variadic = true}};
constexpr Port kDropoutIn[] = {{"x"}, {"ratio", '*', true}, {"training", '*', true}};
constexpr Port kDropoutOut[] = {{"y"},
                                {.name = "mask", .type_variable = '*', .optional = true, .type = DataType::kBool}};
constexpr Port kContractionIn[] = {{"x"}, {"weights"}, {"bias", 'T', true}, {"residual", 'T', true}};
constexpr Port kGemmIn[] = {{"a"}, {"b"}, {"c", 'T', true}};
constexpr Port kBiasIn[] = {{"x"}, {"b"}};
constexpr Port kClipIn[] = {{"x"}, {"low", 'T', true}, {"high", 'T', true}};
constexpr Port kBatchNormIn[] = {{"x"}, {"scale", 'U'}, {"offset", 'U'}, {"mean", 'U'}, {"variance", 'U'}};
constexpr Port kBatchNormOut[] = {
    {"y"}, {"mean", 'U', true}, {"variance", 'U', true}, {"r1", 'U', true}, {"r2", 'U', true}, {"r3", 'U', true}};
constexpr Port kMaxPoolOut[] = {{"y"},
                                {.name = "indices", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
constexpr Port kReduceIn[] = {{"x"}, {"axes", 'I', true}};
constexpr Port kReshapeIn[] = {{"x"}, {"shape", 'I'}};
constexpr Port kTransposeIn[] = {{"x"}, {"perm", 'I'}};
constexpr Port kUnsqueezeIn[] = {{"x"}, {"axes", 'I'}};
constexpr Port kConcatIn[] = {{.name = "x", .variadic = true}, {"axis", 'I'}};
constexpr Port kPadIn[] = {{"x"}, {"pads", 'I'}, {"value", 'T', true}, {"axes", '*', true}};
constexpr Port kSliceIn[] = {{"x"}, {"starts", 'I'}, {"ends", 'I'}, {"axes", 'I', true}, {"steps", 'I', true}};
constexpr Port kGatherIn[] = {{"x"}, {"indices", 'I'}, {"axis", '*', true}};
constexpr Port kOtherOut[] = {{"y", '*'}};
constexpr Port kAnyX[] = {{"x", '*'}};
constexpr Port kResizeIn[] = {{"x"}, {"roi", '*', true}, {"scales", '*', true}, {"sizes", '*', true}};
constexpr Port kMergeOut[] = {{"y"}, {"index", '*', true}};
constexpr Port kSwitchIn[] = {{"x"}, {"predicate", '*'}};
constexpr Port kSwitchOut[] = {{"if_false", 'T', true}, {"if_true", 'T', true}};
constexpr std::span<const Port> kNoPorts;

// --- Ports of the ops from acos on. A port of fixed type says it.
constexpr Port kBoolX[] = {{.name = "x", .type_variable = 'B'}};
constexpr Port kBoolY[] = {{.name = "y", .type_variable = 'B', .type = DataType::kBool}};
constexpr Port kBoolAB[] = {{"a", 'B'}, {"b", 'B'}};
constexpr Port kBoolOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kBool}};
constexpr Port kIndexOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kInt64}};
constexpr Port kInt32Out[] = {{.name = "y", .type_variable = '*', .type = DataType::kInt32}};
constexpr Port kFloatOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kFloat32}};
constexpr Port kVariadicX[] = {{.name = "x", .variadic = true}};
constexpr Port kVariadicY[] = {{.name = "y", .optional = true, .variadic = true}};
constexpr Port kAnyVariadic[] = {{.name = "x", .type_variable = '*', .variadic = true}};
constexpr Port kCastLikeIn[] = {{"x", '*'}, {"like", 'L'}};
constexpr Port kLikeOut[] = {{"y", 'L'}};
constexpr Port kPReluIn[] = {{"x"}, {"slope"}};
constexpr Port kWhereIn[] = {{"condition", '*'}, {"a"}, {"b"}};
constexpr Port kLayerNormIn[] = {{"x"}, {"scale"}, {"offset", 'T', true}};
constexpr Port kLayerNormOut[] = {
    {"y"},
    {.name = "mean", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32}};
constexpr Port kRmsNormIn[] = {{"x"}, {"scale"}};
constexpr Port kRmsNormOut[] = {{"y"},
                                {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32}};
constexpr Port kSkipLayerNormIn[] = {{"x"}, {"skip"}, {"scale"}, {"offset", 'T', true}, {"bias", 'T', true}};
constexpr Port kSkipLayerNormOut[] = {
    {"y"},
    {.name = "mean", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {.name = "inv_std", .type_variable = '*', .optional = true, .type = DataType::kFloat32},
    {"sum", 'T', true}};
constexpr Port kGroupNormIn[] = {{"x"}, {"scale"}, {"offset"}};
constexpr Port kConvTransposeIn[] = {{"x"}, {"weights"}, {"bias", 'T', true}, {"output_shape", '*', true}};
constexpr Port kDeformConvIn[] = {{"x"}, {"weights"}, {"offset"}, {"bias", 'T', true}, {"mask", 'T', true}};
constexpr Port kIntegerIn[] = {
    {"x", 'A'}, {"weights", 'W'}, {"x_zero_point", 'A', true}, {"weights_zero_point", 'W', true}};
constexpr Port kCol2ImIn[] = {{"x"}, {"image_shape", 'I'}, {"block_shape", 'I'}};
constexpr Port kMaxUnpoolIn[] = {{"x"}, {"indices", '*'}, {"output_shape", '*', true}};
constexpr Port kReduceBoolIn[] = {{"x", 'B'}, {"axes", 'I', true}};
constexpr Port kAxisIn[] = {{"x"}, {"axis", 'I', true}};
constexpr Port kCumIn[] = {{"x"}, {"axis", 'I'}};
constexpr Port kTopKIn[] = {{"x"}, {"k", '*'}};
constexpr Port kTopKOut[] = {{"values"},
                             {.name = "indices", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
constexpr Port kUniqueOut[] = {{"y"},
                               {.name = "first", .type_variable = '*', .optional = true, .type = DataType::kInt64},
                               {.name = "inverse", .type_variable = '*', .optional = true, .type = DataType::kInt64},
                               {.name = "counts", .type_variable = '*', .optional = true, .type = DataType::kInt64}};
constexpr Port kCompressIn[] = {{"x"}, {"condition", '*'}};
constexpr Port kNmsIn[] = {
    {"boxes"}, {"scores"}, {"max_per_class", '*', true}, {"iou_threshold", '*', true}, {"score_threshold", '*', true}};
constexpr Port kTileIn[] = {{"x"}, {"repeats", 'I'}};
constexpr Port kSplitIn[] = {{"x"}, {"sizes", '*', true}, {"axis", '*', true}};
constexpr Port kStridedSliceIn[] = {{"x"}, {"begin", 'I'}, {"end", 'I'}, {"strides", 'I'}};
constexpr Port kIndexedIn[] = {{"x"}, {"indices", 'I'}};
constexpr Port kScatterIn[] = {{"x"}, {"indices", 'I'}, {"updates"}};
constexpr Port kScatterNdNewIn[] = {{"indices", 'I'}, {"updates"}, {"shape", 'I'}};
constexpr Port kOneHotIn[] = {{"indices", '*'}, {"depth", '*'}, {"values", 'V'}};
constexpr Port kOneHotOut[] = {{"y", 'V'}};
constexpr Port kTriluIn[] = {{"x"}, {"k", '*', true}};
constexpr Port kBandIn[] = {{"x"}, {"lower", 'I'}, {"upper", 'I'}};
constexpr Port kRangeIn[] = {{"start"}, {"limit"}, {"delta"}};
constexpr Port kFillIn[] = {{"shape", 'I'}, {"value", 'V', true}};
constexpr Port kFillOut[] = {{.name = "y", .type_variable = 'V', .type = DataType::kFloat32}};
constexpr Port kLengthsIn[] = {{"x"}, {"lengths", '*'}};
constexpr Port kSpaceToBatchIn[] = {{"x"}, {"block_shape", '*'}, {"pads", '*'}};
constexpr Port kGridSampleIn[] = {{"x"}, {"grid", '*'}};
constexpr Port kRoiAlignIn[] = {{"x"}, {"rois"}, {"batch_indices", '*'}};
constexpr Port kRoiPoolIn[] = {{"x"}, {"rois"}};
constexpr Port kCropAndResizeIn[] = {{"x", '*'}, {"boxes", '*'}, {"box_indices", '*'}, {"crop_size", '*'}};
constexpr Port kLstmIn[] = {{"x"},
                            {"w"},
                            {"r"},
                            {"b", 'T', true},
                            {"sequence_lengths", '*', true},
                            {"initial_h", 'T', true},
                            {"initial_c", 'T', true},
                            {"peepholes", 'T', true}};
constexpr Port kLstmOut[] = {{"y", 'T', true}, {"y_h", 'T', true}, {"y_c", 'T', true}};
constexpr Port kGruIn[] = {
    {"x"}, {"w"}, {"r"}, {"b", 'T', true}, {"sequence_lengths", '*', true}, {"initial_h", 'T', true}};
constexpr Port kGruOut[] = {{"y", 'T', true}, {"y_h", 'T', true}};
constexpr Port kAttentionIn[] = {
    {"x"}, {"weights"}, {"bias", 'T', true}, {"mask", '*', true}, {"past", 'T', true}, {"attention_bias", 'T', true}};
constexpr Port kAttentionOut[] = {{"y"}, {"present", 'T', true}};
constexpr Port kQuantizeIn[] = {{"x"}, {"scale", '*'}, {"zero_point", 'Q', true}};
constexpr Port kQuantizeOut[] = {{.name = "y", .type_variable = 'Q', .type = DataType::kUInt8}};
constexpr Port kDequantizeIn[] = {{"x", 'Q'}, {"scale", 'S'}, {"zero_point", 'Q', true}};
constexpr Port kDequantizeOut[] = {{"y", 'S'}};
constexpr Port kDynamicQuantizeOut[] = {{.name = "y", .type_variable = '*', .type = DataType::kUInt8},
                                        {.name = "scale", .type_variable = '*', .type = DataType::kFloat32},
                                        {.name = "zero_point", .type_variable = '*', .type = DataType::kUInt8}};
constexpr Port kFakeQuantIn[] = {{"x"}, {"low"}, {"high"}};
constexpr Port kDequantizeRangeIn[] = {{"x", '*'}, {"low", '*'}, {"high", '*'}};
constexpr Port kLossIn[] = {{"scores"}, {"target", '*'}, {"weights", 'T', true}};
constexpr Port kLossOut[] = {{"y"}, {"log_probabilities", 'T', true}};
constexpr Port kDftIn[] = {{"x"}, {"length", '*', true}, {"axis", '*', true}};
constexpr Port kStftIn[] = {{"signal"}, {"frame_step", '*'}, {"window", 'T', true}, {"frame_length", '*', true}};
constexpr Port kSizeIn[] = {{"size", '*'}};
constexpr Port kMelIn[] = {
    {"num_bins", '*'}, {"dft_length", '*'}, {"sample_rate", '*'}, {"lower_hz", '*'}, {"upper_hz", '*'}};
constexpr Port kShapeIn[] = {{"shape", '*'}};
constexpr Port kIfIn[] = {{"condition", '*'}, {.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
constexpr Port kLoopIn[] = {{"max_trip_count", '*', true},
                            {"condition", '*', true},
                            {.name = "x", .type_variable = '*', .optional = true, .variadic = true}};
constexpr Port kTensorArrayOut[] = {{"handle", '*', true}, {"flow", '*', true}};
constexpr Port kTensorArrayWriteIn[] = {{"handle", '*'}, {"index", '*'}, {"value"}, {"flow", '*'}};
constexpr Port kTensorArrayReadIn[] = {{"handle", '*'}, {"index", '*'}, {"flow", '*'}};
constexpr Port kTensorArraySizeIn[] = {{"handle", '*'}, {"flow", '*'}};
constexpr Port kTensorArrayConcatOut[] = {{"y", '*'}, {"lengths", '*', true}};
constexpr Port kTensorArraySplitIn[] = {{"handle", '*'}, {"value"}, {"lengths", '*'}, {"flow", '*'}};
constexpr Port kFlowOut[] = {{"flow", '*'}};

// --- Attributes.
constexpr std::span<const Names> kNone;
constexpr Names kValue[] = {"value"};
constexpr Names kRatio[] = {"ratio"};
constexpr Names kConvAttributes[] = {"layout",   "weights_layout", "strides",    "dilations",        "pads",
                                     "auto_pad", "group",          "activation", "activation_alpha", "activation_beta"};
constexpr Names kMatMulAttributes[] = {"transpose_a", "transpose_b", "activation", "activation_alpha",
                                       "activation_beta"};
constexpr Names kGemmAttributes[] = {"alpha", "beta", "transpose_a", "transpose_b"};
constexpr Names kLayout[] = {"layout"};
constexpr Names kAlpha[] = {"alpha"};
constexpr Names kSoftmaxAttributes[] = {"axis", "flatten"};
constexpr Names kBatchNormAttributes[] = {"epsilon", "layout", "is_training", "momentum"};
constexpr Names kMaxPoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                        "auto_pad", "dilations", "ceil_mode", "storage_order"};
constexpr Names kAveragePoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                            "auto_pad", "dilations", "ceil_mode", "count_include_pad"};
constexpr Names kReduceAttributes[] = {"keepdims", "noop_with_empty_axes"};
constexpr Names kAllowZero[] = {"allowzero"};
constexpr Names kAxis[] = {"axis"};
constexpr Names kMode[] = {"mode"};
constexpr Names kStartEnd[] = {"start", "end"};
constexpr Names kResizeAttributes[] = {"mode",
                                       "coordinate_transformation_mode",
                                       "nearest_mode",
                                       "cubic_coeff_a",
                                       "exclude_outside",
                                       "extrapolation_value",
                                       "antialias",
                                       "axes",
                                       "keep_aspect_ratio_policy"};
constexpr Names kDepthToSpaceAttributes[] = {"block_size", "mode", "layout"};
constexpr Names kAlphaBeta[] = {"alpha", "beta"};
constexpr Names kApproximate[] = {"approximate"};
constexpr Names kAlphaGamma[] = {"alpha", "gamma"};
constexpr Names kShrinkAttributes[] = {"lambd", "bias"};
constexpr Names kIsInfAttributes[] = {"detect_negative", "detect_positive"};
constexpr Names kNumber[] = {"number"};
constexpr Names kFmod[] = {"fmod"};
constexpr Names kDirection[] = {"direction"};
constexpr Names kLayerNormAttributes[] = {"axis", "epsilon"};
constexpr Names kEpsilon[] = {"epsilon"};
constexpr Names kEpsilonLayout[] = {"epsilon", "layout"};
constexpr Names kGroupNormAttributes[] = {"epsilon", "num_groups", "layout", "per_group"};
constexpr Names kLpNormAttributes[] = {"axis", "p"};
constexpr Names kLrnAttributes[] = {"size", "alpha", "beta", "bias", "layout"};
constexpr Names kAxesAttribute[] = {"axes"};
constexpr Names kConvTransposeAttributes[] = {"layout",   "weights_layout", "strides",        "dilations",   "pads",
                                              "auto_pad", "group",          "output_padding", "output_shape"};
constexpr Names kDeformConvAttributes[] = {"strides", "dilations", "pads", "group", "offset_group"};
constexpr Names kConvIntegerAttributes[] = {"layout", "weights_layout", "strides", "dilations",
                                            "pads",   "auto_pad",       "group"};
constexpr Names kEquation[] = {"equation"};
constexpr Names kCol2ImAttributes[] = {"dilations", "pads", "strides"};
constexpr Names kLpPoolAttributes[] = {"layout",   "kernel",    "strides",   "pads",
                                       "auto_pad", "dilations", "ceil_mode", "p"};
constexpr Names kLayoutP[] = {"layout", "p"};
constexpr Names kMaxUnpoolAttributes[] = {"kernel", "strides", "pads"};
constexpr Names kArgAttributes[] = {"keepdims", "select_last_index"};
constexpr Names kCumAttributes[] = {"exclusive", "reverse"};
constexpr Names kTopKAttributes[] = {"axis", "largest", "sorted"};
constexpr Names kRows[] = {"rows"};
constexpr Names kUniqueAttributes[] = {"axis", "sorted"};
constexpr Names kCenterPointBox[] = {"center_point_box"};
constexpr Names kStridedSliceAttributes[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                             "shrink_axis_mask"};
constexpr Names kBatchDims[] = {"batch_dims"};
constexpr Names kScatterElementsAttributes[] = {"axis", "reduction"};
constexpr Names kReduction[] = {"reduction"};
constexpr Names kUpper[] = {"upper"};
constexpr Names kKAttribute[] = {"k"};
constexpr Names kReverseSequenceAttributes[] = {"batch_axis", "time_axis"};
constexpr Names kBlockLayout[] = {"block_size", "layout"};
constexpr Names kGridSampleAttributes[] = {"mode", "padding_mode", "align_corners"};
constexpr Names kAlignCorners[] = {"align_corners"};
constexpr Names kRoiAlignAttributes[] = {"mode",           "output_height", "output_width",
                                         "sampling_ratio", "spatial_scale", "coordinate_transformation_mode"};
constexpr Names kMaxRoiPoolAttributes[] = {"pooled_shape", "spatial_scale"};
constexpr Names kCropAndResizeAttributes[] = {"mode", "extrapolation_value"};
constexpr Names kLstmAttributes[] = {"hidden_size",      "direction", "activations",  "activation_alphas",
                                     "activation_betas", "clip",      "input_forget", "batch_first"};
constexpr Names kGruAttributes[] = {"hidden_size",      "direction", "activations",         "activation_alphas",
                                    "activation_betas", "clip",      "linear_before_reset", "batch_first"};
constexpr Names kRnnAttributes[] = {"hidden_size",      "direction", "activations", "activation_alphas",
                                    "activation_betas", "clip",      "batch_first"};
constexpr Names kAttentionAttributes[] = {"num_heads", "unidirectional", "qkv_hidden_sizes", "scale",
                                          "mask_filter_value"};
constexpr Names kQuantizeAttributes[] = {"axis", "block_size"};
constexpr Names kFakeQuantAttributes[] = {"num_bits", "narrow_range", "axis"};
constexpr Names kDequantizeRangeAttributes[] = {"mode", "narrow_range", "axis"};
constexpr Names kLossAttributes[] = {"ignore_index", "reduction"};
constexpr Names kDftAttributes[] = {"inverse", "onesided"};
constexpr Names kOnesided[] = {"onesided"};
constexpr Names kWindowAttributes[] = {"mode", "periodic"};
constexpr Names kRandomUniformAttributes[] = {"low", "high", "seed"};
constexpr Names kRandomNormalAttributes[] = {"mean", "scale", "seed"};
constexpr Names kThenElse[] = {"then", "else"};
constexpr Names kBody[] = {"body"};
constexpr Names kScanAttributes[] = {"body",
                                     "num_scan_inputs",
                                     "scan_input_axes",
                                     "scan_input_directions",
                                     "scan_output_axes",
                                     "scan_output_directions"};
constexpr Names kConditionBody[] = {"condition", "body"};

// --- Tolerances in f32, against the reference function that sums in f64.
constexpr Tolerance kExact{0, 0};
constexpr Tolerance kRounded{1e-6f, 1e-7f};      // one rounding or a polynomial
constexpr Tolerance kApproximated{1e-6f, 1e-6f};  // small results of large numbers that nearly cancel
constexpr Tolerance kAccumulated{1e-5f, 1e-5f};  // sums of many products

using enum OpKind;
using G = OpGroup;

constexpr OpInfo kOps[] = {
    {kInput, "input", G::kSource, kNoPorts, kY, kNone, kExact},
    {kConstant, "const", G::kSource, kNoPorts, kY, kValue, kExact},
    {kOpaque, "opaque", G::kOpaque, kAny, kAnyOutput, kNone, kExact},
    {kIdentity, "identity", G::kMove, kX, kY, kNone, kExact},
    {kDropout, "dropout", G::kMove, kDropoutIn, kDropoutOut, kRatio, kExact},
    {kConv, "conv", G::kContraction, kContractionIn, kY, kConvAttributes, kAccumulated},
    {kMatMul, "matmul", G::kContraction, kContractionIn, kY, kMatMulAttributes, kAccumulated},
    {kGemm, "gemm", G::kContraction, kGemmIn, kY, kGemmAttributes, kAccumulated},
    {kBiasAdd, "bias_add", G::kBinary, kBiasIn, kY, kLayout, kRounded},
    {kAdd, "add", G::kBinary, kAB, kY, kNone, kRounded},
    {kSub, "sub", G::kBinary, kAB, kY, kNone, kRounded},
    {kMul, "mul", G::kBinary, kAB, kY, kNone, kRounded},
    {kDiv, "div", G::kBinary, kAB, kY, kNone, kRounded},
    {kMaximum, "maximum", G::kBinary, kAB, kY, kNone, kExact},
    {kMinimum, "minimum", G::kBinary, kAB, kY, kNone, kExact},
    {kPow, "pow", G::kBinary, kPowIn, kY, kNone, kRounded},
    {kSquaredDifference, "squared_difference", G::kBinary, kAB, kY, kNone, kRounded},
    {kAbs, "abs", G::kUnary, kX, kY, kNone, kExact},
    {kNeg, "neg", G::kUnary, kX, kY, kNone, kExact},
    {kExp, "exp", G::kUnary, kX, kY, kNone, kRounded},
    {kLog, "log", G::kUnary, kX, kY, kNone, kRounded},
    {kSqrt, "sqrt", G::kUnary, kX, kY, kNone, kRounded},
    {kRsqrt, "rsqrt", G::kUnary, kX, kY, kNone, kRounded},
    {kReciprocal, "reciprocal", G::kUnary, kX, kY, kNone, kRounded},
    {kSquare, "square", G::kUnary, kX, kY, kNone, kRounded},
    {kFloor, "floor", G::kUnary, kX, kY, kNone, kExact},
    {kErf, "erf", G::kUnary, kX, kY, kNone, kRounded},
    {kRelu, "relu", G::kUnary, kX, kY, kNone, kExact},
    {kRelu6, "relu6", G::kUnary, kX, kY, kNone, kExact},
    {kTanh, "tanh", G::kUnary, kX, kY, kNone, kRounded},
    {kSigmoid, "sigmoid", G::kUnary, kX, kY, kNone, kRounded},
    {kSoftplus, "softplus", G::kUnary, kX, kY, kNone, kRounded},
    {kElu, "elu", G::kUnary, kX, kY, kAlpha, kRounded},
    {kLeakyRelu, "leaky_relu", G::kUnary, kX, kY, kAlpha, kRounded},
    {kClip, "clip", G::kUnary, kClipIn, kY, kNone, kExact},
    {kSoftmax, "softmax", G::kNormalize, kX, kY, kSoftmaxAttributes, kRounded},
    {kBatchNorm, "batch_norm", G::kNormalize, kBatchNormIn, kBatchNormOut, kBatchNormAttributes, kAccumulated},
    {kMaxPool, "max_pool", G::kPool, kX, kMaxPoolOut, kMaxPoolAttributes, kExact},
    {kAveragePool, "average_pool", G::kPool, kX, kY, kAveragePoolAttributes, kRounded},
    {kGlobalAveragePool, "global_average_pool", G::kPool, kX, kY, kLayout, kAccumulated},
    {kReduceMean, "reduce_mean", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceSum, "reduce_sum", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceMax, "reduce_max", G::kReduce, kReduceIn, kY, kReduceAttributes, kExact},
    {kReshape, "reshape", G::kMove, kReshapeIn, kY, kAllowZero, kExact},
    {kFlatten, "flatten", G::kMove, kX, kY, kAxis, kExact},
    {kTranspose, "transpose", G::kMove, kTransposeIn, kY, kNone, kExact},
    {kSqueeze, "squeeze", G::kMove, kReduceIn, kY, kNone, kExact},
    {kUnsqueeze, "unsqueeze", G::kMove, kUnsqueezeIn, kY, kNone, kExact},
    {kConcat, "concat", G::kMove, kConcatIn, kY, kNone, kExact},
    {kPad, "pad", G::kMove, kPadIn, kY, kMode, kExact},
    {kSlice, "slice", G::kMove, kSliceIn, kY, kNone, kExact},
    {kGather, "gather", G::kMove, kGatherIn, kY, kBatchDims, kExact},
    {kShape, "shape", G::kShape, kAnyX, kIndexOut, kStartEnd, kExact},
    {kCast, "cast", G::kMove, kAnyX, kOtherOut, kNone, kExact},
    {kResize, "resize", G::kMove, kResizeIn, kY, kResizeAttributes, kAccumulated},
    {kDepthToSpace, "depth_to_space", G::kMove, kX, kY, kDepthToSpaceAttributes, kExact},
    {kAcos, "acos", G::kUnary, kX, kY, kNone, kRounded},
    {kAcosh, "acosh", G::kUnary, kX, kY, kNone, kRounded},
    {kAsin, "asin", G::kUnary, kX, kY, kNone, kRounded},
    {kAsinh, "asinh", G::kUnary, kX, kY, kNone, kRounded},
    {kAtan, "atan", G::kUnary, kX, kY, kNone, kRounded},
    {kAtanh, "atanh", G::kUnary, kX, kY, kNone, kRounded},
    {kCos, "cos", G::kUnary, kX, kY, kNone, kRounded},
    {kCosh, "cosh", G::kUnary, kX, kY, kNone, kRounded},
    {kSin, "sin", G::kUnary, kX, kY, kNone, kRounded},
    {kSinh, "sinh", G::kUnary, kX, kY, kNone, kRounded},
    {kTan, "tan", G::kUnary, kX, kY, kNone, kRounded},
    {kCeil, "ceil", G::kUnary, kX, kY, kNone, kExact},
    {kRound, "round", G::kUnary, kX, kY, kNone, kExact},
    {kSign, "sign", G::kUnary, kX, kY, kNone, kExact},
    {kLog1p, "log1p", G::kUnary, kX, kY, kNone, kRounded},
    {kExpm1, "expm1", G::kUnary, kX, kY, kNone, kRounded},
    {kErfc, "erfc", G::kUnary, kX, kY, kNone, kRounded},
    {kSoftsign, "softsign", G::kUnary, kX, kY, kNone, kRounded},
    {kMish, "mish", G::kUnary, kX, kY, kNone, kApproximated},
    {kHardSwish, "hard_swish", G::kUnary, kX, kY, kNone, kRounded},
    {kBitwiseNot, "bitwise_not", G::kUnary, kX, kY, kNone, kExact},
    {kNot, "not", G::kCompare, kBoolX, kBoolY, kNone, kExact},
    {kHardSigmoid, "hard_sigmoid", G::kUnary, kX, kY, kAlphaBeta, kRounded},
    {kGelu, "gelu", G::kUnary, kX, kY, kApproximate, kApproximated},
    {kSelu, "selu", G::kUnary, kX, kY, kAlphaGamma, kRounded},
    {kCelu, "celu", G::kUnary, kX, kY, kAlpha, kRounded},
    {kThresholdedRelu, "thresholded_relu", G::kUnary, kX, kY, kAlpha, kExact},
    {kSwish, "swish", G::kUnary, kX, kY, kAlpha, kRounded},
    {kShrink, "shrink", G::kUnary, kX, kY, kShrinkAttributes, kRounded},
    {kIsNaN, "is_nan", G::kCompare, kX, kBoolOut, kNone, kExact},
    {kIsFinite, "is_finite", G::kCompare, kX, kBoolOut, kNone, kExact},
    {kIsInf, "is_inf", G::kCompare, kX, kBoolOut, kIsInfAttributes, kExact},
    {kFillLike, "fill_like", G::kMove, kX, kY, kNumber, kExact},
    {kCastLike, "cast_like", G::kMove, kCastLikeIn, kLikeOut, kNone, kExact},
    {kPRelu, "prelu", G::kBinary, kPReluIn, kY, kNone, kRounded},
    {kFloorDiv, "floor_div", G::kBinary, kAB, kY, kNone, kExact},
    {kDivNoNan, "div_no_nan", G::kBinary, kAB, kY, kNone, kRounded},
    {kAtan2, "atan2", G::kBinary, kAB, kY, kNone, kRounded},
    {kMod, "mod", G::kBinary, kAB, kY, kFmod, kRounded},
    {kBitShift, "bit_shift", G::kBinary, kAB, kY, kDirection, kExact},
    {kBitwiseAnd, "bitwise_and", G::kBinary, kAB, kY, kNone, kExact},
    {kBitwiseOr, "bitwise_or", G::kBinary, kAB, kY, kNone, kExact},
    {kBitwiseXor, "bitwise_xor", G::kBinary, kAB, kY, kNone, kExact},
    {kEqual, "equal", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kNotEqual, "not_equal", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kLess, "less", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kLessEqual, "less_equal", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kGreater, "greater", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kGreaterEqual, "greater_equal", G::kCompare, kAB, kBoolOut, kNone, kExact},
    {kAnd, "and", G::kCompare, kBoolAB, kBoolY, kNone, kExact},
    {kOr, "or", G::kCompare, kBoolAB, kBoolY, kNone, kExact},
    {kXor, "xor", G::kCompare, kBoolAB, kBoolY, kNone, kExact},
    {kWhere, "where", G::kMove, kWhereIn, kY, kRows, kExact},
    {kAddN, "add_n", G::kBinary, kVariadicX, kY, kNone, kRounded},
    {kMaxN, "max_n", G::kBinary, kVariadicX, kY, kNone, kExact},
    {kMinN, "min_n", G::kBinary, kVariadicX, kY, kNone, kExact},
    {kMeanN, "mean_n", G::kBinary, kVariadicX, kY, kNone, kRounded},
    {kLogSoftmax, "log_softmax", G::kNormalize, kX, kY, kSoftmaxAttributes, kAccumulated},
    {kHardmax, "hardmax", G::kNormalize, kX, kY, kSoftmaxAttributes, kExact},
    {kLayerNorm, "layer_norm", G::kNormalize, kLayerNormIn, kLayerNormOut, kLayerNormAttributes, kAccumulated},
    {kRmsNorm, "rms_norm", G::kNormalize, kRmsNormIn, kRmsNormOut, kLayerNormAttributes, kAccumulated},
    {kSkipLayerNorm, "skip_layer_norm", G::kNormalize, kSkipLayerNormIn, kSkipLayerNormOut, kEpsilon, kAccumulated},
    {kInstanceNorm, "instance_norm", G::kNormalize, kGroupNormIn, kY, kEpsilonLayout, kAccumulated},
    {kGroupNorm, "group_norm", G::kNormalize, kGroupNormIn, kY, kGroupNormAttributes, kAccumulated},
    {kLpNorm, "lp_norm", G::kNormalize, kX, kY, kLpNormAttributes, kAccumulated},
    {kLrn, "lrn", G::kNormalize, kX, kY, kLrnAttributes, kAccumulated},
    {kMeanVarianceNorm, "mean_variance_norm", G::kNormalize, kX, kY, kAxesAttribute, kAccumulated},
    {kConvTranspose, "conv_transpose", G::kContraction, kConvTransposeIn, kY, kConvTransposeAttributes, kAccumulated},
    {kDeformConv, "deform_conv", G::kContraction, kDeformConvIn, kY, kDeformConvAttributes, kAccumulated},
    {kConvInteger, "conv_integer", G::kContraction, kIntegerIn, kInt32Out, kConvIntegerAttributes, kExact},
    {kMatMulInteger, "matmul_integer", G::kContraction, kIntegerIn, kInt32Out, kNone, kExact},
    {kEinsum, "einsum", G::kContraction, kVariadicX, kY, kEquation, kAccumulated},
    {kDet, "det", G::kReduce, kX, kY, kNone, kAccumulated},
    {kCol2Im, "col2im", G::kMove, kCol2ImIn, kY, kCol2ImAttributes, kAccumulated},
    {kLpPool, "lp_pool", G::kPool, kX, kY, kLpPoolAttributes, kAccumulated},
    {kGlobalMaxPool, "global_max_pool", G::kPool, kX, kY, kLayout, kExact},
    {kGlobalLpPool, "global_lp_pool", G::kPool, kX, kY, kLayoutP, kAccumulated},
    {kMaxUnpool, "max_unpool", G::kPool, kMaxUnpoolIn, kY, kMaxUnpoolAttributes, kExact},
    {kReduceMin, "reduce_min", G::kReduce, kReduceIn, kY, kReduceAttributes, kExact},
    {kReduceProd, "reduce_prod", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceL1, "reduce_l1", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceL2, "reduce_l2", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceLogSum, "reduce_log_sum", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceLogSumExp, "reduce_log_sum_exp", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceSumSquare, "reduce_sum_square", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated},
    {kReduceAll, "reduce_all", G::kReduce, kReduceBoolIn, kBoolY, kReduceAttributes, kExact},
    {kReduceAny, "reduce_any", G::kReduce, kReduceBoolIn, kBoolY, kReduceAttributes, kExact},
    {kArgMax, "arg_max", G::kReduce, kAxisIn, kIndexOut, kArgAttributes, kExact},
    {kArgMin, "arg_min", G::kReduce, kAxisIn, kIndexOut, kArgAttributes, kExact},
    {kCumSum, "cum_sum", G::kReduce, kCumIn, kY, kCumAttributes, kAccumulated},
    {kCumProd, "cum_prod", G::kReduce, kCumIn, kY, kCumAttributes, kAccumulated},
    {kTopK, "top_k", G::kMove, kTopKIn, kTopKOut, kTopKAttributes, kExact},
    {kNonZero, "non_zero", G::kMove, kX, kIndexOut, kRows, kExact},
    {kUnique, "unique", G::kMove, kX, kUniqueOut, kUniqueAttributes, kExact},
    {kCompress, "compress", G::kMove, kCompressIn, kY, kAxis, kExact},
    {kNonMaxSuppression, "non_max_suppression", G::kMove, kNmsIn, kIndexOut, kCenterPointBox, kExact},
    {kExpand, "expand", G::kMove, kReshapeIn, kY, kNone, kExact},
    {kTile, "tile", G::kMove, kTileIn, kY, kNone, kExact},
    {kSplit, "split", G::kMove, kSplitIn, kVariadicY, kNone, kExact},
    {kStack, "stack", G::kMove, kVariadicX, kY, kAxis, kExact},
    {kUnstack, "unstack", G::kMove, kX, kVariadicY, kAxis, kExact},
    {kStridedSlice, "strided_slice", G::kMove, kStridedSliceIn, kY, kStridedSliceAttributes, kExact},
    {kGatherElements, "gather_elements", G::kMove, kIndexedIn, kY, kAxis, kExact},
    {kGatherNd, "gather_nd", G::kMove, kIndexedIn, kY, kBatchDims, kExact},
    {kScatterElements, "scatter_elements", G::kMove, kScatterIn, kY, kScatterElementsAttributes, kRounded},
    {kScatterNd, "scatter_nd", G::kMove, kScatterIn, kY, kReduction, kRounded},
    {kScatterNdNew, "scatter_nd_new", G::kMove, kScatterNdNewIn, kY, kNone, kRounded},
    {kOneHot, "one_hot", G::kMove, kOneHotIn, kOneHotOut, kAxis, kExact},
    {kTrilu, "trilu", G::kMove, kTriluIn, kY, kUpper, kExact},
    {kMatrixBandPart, "matrix_band_part", G::kMove, kBandIn, kY, kNone, kExact},
    {kEyeLike, "eye_like", G::kMove, kAnyX, kOtherOut, kKAttribute, kExact},
    {kRange, "range", G::kShape, kRangeIn, kY, kNone, kRounded},
    {kFill, "fill", G::kMove, kFillIn, kFillOut, kNone, kExact},
    {kSize, "size", G::kShape, kAnyX, kIndexOut, kNone, kExact},
    {kRank, "rank", G::kShape, kAnyX, kIndexOut, kNone, kExact},
    {kReverse, "reverse", G::kMove, kUnsqueezeIn, kY, kNone, kExact},
    {kReverseSequence, "reverse_sequence", G::kMove, kLengthsIn, kY, kReverseSequenceAttributes, kExact},
    {kSpaceToDepth, "space_to_depth", G::kMove, kX, kY, kBlockLayout, kExact},
    {kSpaceToBatch, "space_to_batch", G::kMove, kSpaceToBatchIn, kY, kNone, kExact},
    {kBatchToSpace, "batch_to_space", G::kMove, kSpaceToBatchIn, kY, kNone, kExact},
    {kCenterCropPad, "center_crop_pad", G::kMove, kReshapeIn, kY, kAxesAttribute, kExact},
    {kDynamicStitch, "dynamic_stitch", G::kMove, kAnyVariadic, kOtherOut, kNone, kExact},
    {kDynamicPartition, "dynamic_partition", G::kMove, kIndexedIn, kVariadicY, kNone, kExact},
    {kInvertPermutation, "invert_permutation", G::kShape, kX, kY, kNone, kExact},
    {kGridSample, "grid_sample", G::kMove, kGridSampleIn, kY, kGridSampleAttributes, kAccumulated},
    {kAffineGrid, "affine_grid", G::kMove, kReshapeIn, kY, kAlignCorners, kRounded},
    {kRoiAlign, "roi_align", G::kPool, kRoiAlignIn, kY, kRoiAlignAttributes, kAccumulated},
    {kMaxRoiPool, "max_roi_pool", G::kPool, kRoiPoolIn, kY, kMaxRoiPoolAttributes, kExact},
    {kCropAndResize, "crop_and_resize", G::kMove, kCropAndResizeIn, kFloatOut, kCropAndResizeAttributes, kAccumulated},
    {kLstm, "lstm", G::kRecurrent, kLstmIn, kLstmOut, kLstmAttributes, kAccumulated},
    {kGru, "gru", G::kRecurrent, kGruIn, kGruOut, kGruAttributes, kAccumulated},
    {kRnn, "rnn", G::kRecurrent, kGruIn, kGruOut, kRnnAttributes, kAccumulated},
    {kAttention, "attention", G::kContraction, kAttentionIn, kAttentionOut, kAttentionAttributes, kAccumulated},
    {kQuantizeLinear, "quantize_linear", G::kQuantize, kQuantizeIn, kQuantizeOut, kQuantizeAttributes, kExact},
    {kDequantizeLinear, "dequantize_linear", G::kQuantize, kDequantizeIn, kDequantizeOut, kQuantizeAttributes,
     kRounded},
    {kDynamicQuantizeLinear, "dynamic_quantize_linear", G::kQuantize, kX, kDynamicQuantizeOut, kNone, kRounded},
    {kFakeQuant, "fake_quant", G::kQuantize, kFakeQuantIn, kY, kFakeQuantAttributes, kRounded},
    {kDequantizeRange, "dequantize_range", G::kQuantize, kDequantizeRangeIn, kFloatOut, kDequantizeRangeAttributes,
     kRounded},
    {kNegativeLogLikelihood, "negative_log_likelihood", G::kReduce, kLossIn, kY, kLossAttributes, kAccumulated},
    {kSoftmaxCrossEntropy, "softmax_cross_entropy", G::kReduce, kLossIn, kLossOut, kLossAttributes, kAccumulated},
    {kDft, "dft", G::kReduce, kDftIn, kY, kDftAttributes, kAccumulated},
    {kStft, "stft", G::kReduce, kStftIn, kY, kOnesided, kAccumulated},
    {kWindow, "window", G::kShape, kSizeIn, kFloatOut, kWindowAttributes, kRounded},
    {kMelWeightMatrix, "mel_weight_matrix", G::kShape, kMelIn, kFloatOut, kNone, kRounded},
    {kRandomUniform, "random_uniform", G::kSource, kShapeIn, kFloatOut, kRandomUniformAttributes, kExact},
    {kRandomNormal, "random_normal", G::kSource, kShapeIn, kFloatOut, kRandomNormalAttributes, kExact},
    {kIf, "if", G::kStructural, kIfIn, kAnyOutput, kThenElse, kExact},
    {kLoop, "loop", G::kStructural, kLoopIn, kAnyOutput, kBody, kExact},
    {kScan, "scan", G::kStructural, kAny, kAnyOutput, kScanAttributes, kExact},
    {kWhile, "while", G::kStructural, kAny, kAnyOutput, kConditionBody, kExact},
    {kCall, "call", G::kStructural, kAny, kAnyOutput, kBody, kExact},
    {kTensorArray, "tensor_array", G::kStructural, kSizeIn, kTensorArrayOut, kNone, kExact},
    {kTensorArrayWrite, "tensor_array_write", G::kStructural, kTensorArrayWriteIn, kFlowOut, kNone, kExact},
    {kTensorArrayRead, "tensor_array_read", G::kStructural, kTensorArrayReadIn, kOtherOut, kNone, kExact},
    {kTensorArrayGather, "tensor_array_gather", G::kStructural, kTensorArrayReadIn, kOtherOut, kNone, kExact},
    {kTensorArrayScatter, "tensor_array_scatter", G::kStructural, kTensorArrayWriteIn, kFlowOut, kNone, kExact},
    {kTensorArraySize, "tensor_array_size", G::kStructural, kTensorArraySizeIn, kOtherOut, kNone, kExact},
    {kTensorArrayConcat, "tensor_array_concat", G::kStructural, kTensorArraySizeIn, kTensorArrayConcatOut, kNone,
     kExact},
    {kTensorArraySplit, "tensor_array_split", G::kStructural, kTensorArraySplitIn, kFlowOut, kNone, kExact},
    {kEnter, "enter", G::kStructural, kX, kY, kNone, kExact},
    {kExit, "exit", G::kStructural, kX, kY, kNone, kExact},
    {kMerge, "merge", G::kStructural, kTied, kMergeOut, kNone, kExact},
    {kSwitch, "switch", G::kStructural, kSwitchIn, kSwitchOut, kNone, kExact},
    {kNextIteration, "next_iteration", G::kStructural, kX, kY, kNone, kExact},
    {kLoopCond, "loop_cond", G::kStructural, kAnyX, kOtherOut, kNone, kExact},
    {kNoOp, "no_op", G::kStructural, kNoPorts, kNoPorts, kNone, kExact},
};

constexpr bool EveryOpHasOneRow() {
  if (std::size(kOps) != kNumOps) return false;
  for (int i = 0; i < kNumOps; ++i) {
    if (static_cast<int>(kOps[i].kind) != i || kOps[i].name.empty()) return false;
  }
  return true;
}
static_assert(EveryOpHasOneRow(), "add the new op to kOps, in the order of OpKind");

constexpr std::array<std::string_view, 8> kActivationNames = {"",    "relu",       "relu6", "clip",
                                                              "elu", "leaky_relu", "tanh",  "sigmoid"};
static_assert(kActivationNames.size() == static_cast<int>(Activation::kSigmoid) + 1);

}  // namespace

const OpInfo& Info(OpKind kind) { return kOps[static_cast<int>(kind)]; }

std::optional<OpKind> OpFromName(std::string_view name) {
  for (const OpInfo& info : kOps) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

const Port* InputPort(OpKind kind, int index, int count) {
  const std::span<const Port> ports = Info(kind).inputs;
  const int num_ports = static_cast<int>(ports.size());
  for (int i = 0; i < num_ports; ++i) {
    if (!ports[i].variadic) {
      if (index == i) return &ports[i];
      continue;
    }
    const int after = num_ports - i - 1;  // ports behind the variadic one take the last inputs
    if (index < count - after) return &ports[i];
    return index < count ? &ports[num_ports - (count - index)] : nullptr;
  }
  return nullptr;
}

const Port* OutputPort(OpKind kind, int index) {
  const std::span<const Port> ports = Info(kind).outputs;
  if (ports.empty() || index < 0) return nullptr;
  if (index < static_cast<int>(ports.size())) return &ports[index];
  return ports.back().variadic ? &ports.back() : nullptr;
}

std::string_view ActivationName(Activation activation) { return kActivationNames[static_cast<int>(activation)]; }

std::optional<Activation> ActivationFromName(std::string_view name) {
  for (size_t i = 0; i < kActivationNames.size(); ++i) {
    if (kActivationNames[i] == name) return static_cast<Activation>(i);
  }
  return std::nullopt;
}

}  // namespace halftone
