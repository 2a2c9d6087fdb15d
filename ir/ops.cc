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
constexpr Port kDropoutOut[] = {{"y"}, {"mask", '*', true}};
constexpr Port kContractionIn[] = {{"x"}, {"weights"}, {"bias", 'T', true}, {"residual", 'T', true}};
constexpr Port kGemmIn[] = {{"a"}, {"b"}, {"c", 'T', true}};
constexpr Port kBiasIn[] = {{"x"}, {"b"}};
constexpr Port kClipIn[] = {{"x"}, {"low", 'T', true}, {"high", 'T', true}};
constexpr Port kBatchNormIn[] = {{"x"}, {"scale", 'U'}, {"offset", 'U'}, {"mean", 'U'}, {"variance", 'U'}};
constexpr Port kBatchNormOut[] = {
    {"y"}, {"mean", 'U', true}, {"variance", 'U', true}, {"r1", 'U', true}, {"r2", 'U', true}, {"r3", 'U', true}};
constexpr Port kMaxPoolOut[] = {{"y"}, {"indices", '*', true}};
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

// --- Tolerances in f32, against the reference function that sums in f64.
constexpr Tolerance kExact{0, 0};
constexpr Tolerance kRounded{1e-6f, 1e-7f};      // one rounding or a polynomial
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
    {kGather, "gather", G::kMove, kGatherIn, kY, kNone, kExact},
    {kShape, "shape", G::kShape, kAnyX, kOtherOut, kStartEnd, kExact},
    {kCast, "cast", G::kMove, kAnyX, kOtherOut, kNone, kExact},
    {kResize, "resize", G::kMove, kResizeIn, kY, kResizeAttributes, kRounded},
    {kDepthToSpace, "depth_to_space", G::kMove, kX, kY, kDepthToSpaceAttributes, kExact},
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
