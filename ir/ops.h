// SPDX-License-Identifier: Apache-2.0
// The closed set of canonical ops. One row per op in ops.cc; the comments here say what each op means.
//
// Conventions
//   layout      attribute "layout": "NCHW" (default; channel is dimension 1) or "NHWC" (channel is last). The words also
//               stand for 1-D and 3-D data. Importers do not transpose.
//   small ints  axes, permutations, shapes, pads are *inputs* (usually constants), as in the newest ONNX opsets and in
//               TensorFlow. Where a format holds them as an attribute, its importer makes an unnamed constant, and its
//               exporter turns the constant into the attribute again. See Graph::ConstantInts.
//   absent      an optional input that is absent is kNoValue; trailing absent inputs are left out.
//   attributes  present in Node::attributes only if the file had them or a pass set them: absent means the default.
//   fused       conv and matmul: y = activation(scale * op(x, weights) + bias + residual), scale of matmul alone; with
//               activation_first (bool, default false; needs one) y = activation(scale * op(x, weights) + bias) + residual.
//               Attributes "activation" ("relu", "relu6", "clip", "elu", "leaky_relu", "tanh", "sigmoid", "swish",
//               "hard_swish", "hard_sigmoid", "gelu", "gelu_tanh", "mish"; absent: none), "activation_alpha",
//               "activation_beta" (clip: low and high; elu, leaky_relu, swish: alpha; hard_sigmoid: both; defaults as the
//               ops of these names have). batch_norm, instance_norm, binary_chain,
//               matmul_integer_to_float: the activation alone, at the end.
//   types       ports with one letter have one type, as formats have it, but where MayDiffer: the op computes in f32 and
//               rounds once, to the type of its result. "math_mode" ("bf16"; conv, matmul, gemm, conv_transpose of f32):
//               the operands are rounded to bf16 first, sums are f32.
#ifndef HALFTONE_IR_OPS_H_
#define HALFTONE_IR_OPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/types.h"

namespace halftone {

class Shape;
namespace shape_rules {
class Context;
// The shapes of a node's outputs; see ir/shape_inference.h.
using Rule = absl::StatusOr<std::vector<Shape>> (*)(const Context& node);
}  // namespace shape_rules

enum class OpKind : uint8_t {
  kInput,     // () -> y                a graph's input (TensorFlow: Placeholder)
  kConstant,  // () -> y                {value: tensor}
  kOpaque,    // (...) -> (...)         an op that this table does not know; Node::spelling is its type
  kIdentity,  // x -> x
  kDropout,   // x, ratio?, training? -> y, mask?   {ratio}: identity at inference
  kConv,  // x, weights, bias?, residual? -> y  {layout, weights_layout, strides, dilations, pads, auto_pad, group} + fused
          //   weights_layout "OIHW" (default; [O, I/group, spatial...]), "HWIO" ([spatial..., I/group, O]),
          //   "HWCM" (depthwise: [spatial..., C, M], group = C, output channel = c * M + m).
          //   strides, dilations: one a spatial dimension; pads: begins, then ends; auto_pad "NOTSET" (default),
          //   "SAME_UPPER", "SAME_LOWER", "VALID". bias has rank 1. residual has y's shape and layout.
  kMatMul,  // a, b, bias?, residual? -> y   {transpose_a, transpose_b: of the last two dimensions; scale: 1} + fused
            //   numpy's matmul with broadcast leading dimensions. bias has rank 1 (last dimension); residual has
            //   y's shape or broadcasts to it.
  kGemm,  // a, b, c? -> y          {alpha, beta, transpose_a, transpose_b}: alpha a b + beta c; rank 2, c broadcasts to y
  kBiasAdd,  // x, b -> y              {layout}: b has rank 1 and is added along the channel
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kPow,
  kSquaredDifference,  // a, b -> y   numpy broadcasting
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSquare,
  kFloor,
  kErf,  // x -> y
  kRelu,
  kRelu6,
  kTanh,
  kSigmoid,
  kSoftplus,  // x -> y                 softplus: + activation
  kElu,
  kLeakyRelu,  // x -> y                 {alpha}: default 1 and 0.01 (TensorFlow's 0.2 is written out by its importer)
  kClip,       // x, low?, high? -> y    scalars
  kSoftmax,  // x, addend? -> y        {axis: default -1; flatten: true = ONNX before opset 13: x as a matrix cut at axis;
             //   scale: 1}: of scale * x + addend, which broadcasts to x
  kBatchNorm,  // x, scale, offset, mean, variance -> y, ...   {epsilon: 1e-5, layout, is_training, momentum, statistics} + activation
  //   further outputs only matter in training: the running statistics, moved towards those of the batch, or
  //   with statistics="batch" the batch's mean and unbiased variance; then the batch's mean and variance
  kMaxPool,  // x -> y, indices?       {layout, kernel, strides, pads, auto_pad, dilations, ceil_mode, storage_order}
             //   indices count through the whole of x, batch and channels included, as ONNX's do
  kAveragePool,        // x -> y                 {as kMaxPool, count_include_pad: default false}
  kGlobalAveragePool,  // x -> y                 {layout}: mean over the spatial dimensions, which stay as 1
  kReduceMean,
  kReduceSum,
  kReduceMax,  // x, axes? -> y   {keepdims: default true; noop_with_empty_axes: no axes, absent or empty, are none, not all}
  kReshape,    // x, shape -> y          {allowzero}: 0 copies the dimension unless allowzero; -1 is inferred
  kFlatten,    // x -> y                 {axis: default 1}
  kTranspose,  // x, perm -> y
  kSqueeze,    // x, axes? -> y
  kUnsqueeze,  // x, axes -> y
  kConcat,     // x0, x1, ..., axis -> y   axis: scalar, the last input
  kPad,        // x, pads, value?, axes? -> y   {mode: "constant" (default), "reflect", "symmetric", "edge", "wrap"}
               //   pads of rank 1: begins then ends (ONNX); of rank 2 [rank, 2]: (begin, end) a dimension (TensorFlow)
  kSlice,      // x, starts, ends, axes?, steps? -> y
  kGather,     // x, indices, axis? -> y  {batch_dims: default 0}   axis: scalar, default 0
  kShape,      // x -> y                 {start, end}; y is s64 or s32
  kCast,       // x -> y                 the type is y's
  kResize,     // x, roi?, scales?, sizes? -> y   ONNX Resize 18's attributes, by their ONNX names
  kDepthToSpace,  // x -> y                 {block_size, mode: "DCR" (default) or "CRD", layout}
  // --- Elementwise of one: x -> y
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kCos,
  kCosh,
  kSin,
  kSinh,
  kTan,
  kCeil,
  kRound,
  kSign,
  kLog1p,
  kExpm1,
  kErfc,
  kSoftsign,
  kMish,
  kHardSwish,
  // round: half to even. bitwise_not: integers; not: bool
  kBitwiseNot,
  kNot,
  // x -> y  {alpha: 0.2, beta: 0.5}: max(0, min(1, alpha x + beta))
  kHardSigmoid,
  // x -> y  {approximate: "none" (default; erf) or "tanh"}
  kGelu,
  // x -> y  {alpha: 1.67326319217681884765625, gamma: 1.05070102214813232421875}
  kSelu,
  // x -> y  {alpha: 1}; swish: x sigmoid(alpha x)
  kCelu,
  kThresholdedRelu,
  kSwish,
  // x -> y  {lambd: 0.5, bias: 0}
  kShrink,
  // x -> bool
  kIsNaN,
  kIsFinite,
  // x -> bool  {detect_negative: true, detect_positive: true}
  kIsInf,
  // x -> y  {number: default 0}: x's shape, filled with it
  kFillLike,
  // x, like -> y    x in the type of `like`
  kCastLike,
  // --- Elementwise of two: numpy broadcasting. prelu: x, slope (which broadcasts to x)
  kPRelu,
  kFloorDiv,
  kDivNoNan,
  kAtan2,
  // {fmod: default false: the sign is the divisor's; true: the dividend's, as C's fmod}
  kMod,
  // {direction: "LEFT" or "RIGHT"}
  kBitShift,
  // integers
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  // a, b -> bool, or any type that y has: 1 and 0 in it
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // bool, bool -> bool
  kAnd,
  kOr,
  kXor,
  // condition (bool), a, b -> y  {rows: default false}    numpy broadcasting of the three. rows: a condition of rank 1
  // picks rows, of a and b, which have one shape (TensorFlow's Select)
  kWhere,
  // x0, x1, ... -> y    any number >= 1, numpy broadcasting
  kAddN,
  kMaxN,
  kMinN,
  kMeanN,
  // x0, x1, ... -> y  {ops: one for each input but the first} + activation: acc = x0; then for each further input acc =
  // acc op xi, op of "add", "sub", "rsub" (xi - acc), "mul", "div", "rdiv" (xi / acc), "max", "min"; y = activation(acc).
  // Floats. y's shape is that of x0 op x1 (numpy), to which all later inputs broadcast. See ir/binary_chain.h.
  kBinaryChain,
  // --- Softmax family: x -> y {axis, flatten: as softmax}
  kLogSoftmax,
  kHardmax,
  // x, scale, offset? -> y, mean?, inv_std?  {axis: -1: over this and all later dimensions, epsilon: 1e-5}
  kLayerNorm,
  // x, scale -> y, inv_std?  {axis: -1, epsilon: 1e-5}
  kRmsNorm,
  // x, skip, scale, offset?, bias? -> y, mean?, inv_std?, sum?  {epsilon: 1e-12}: layer_norm of sum = x + skip + bias
  kSkipLayerNorm,
  // x, scale, offset -> y  {epsilon: 1e-5, layout} + activation
  kInstanceNorm,
  // x, scale, offset -> y  {epsilon: 1e-5, num_groups, layout, per_group: scale and offset are one a group (ONNX 18),
  // default one a channel}
  kGroupNorm,
  // x -> y  {axis: -1, p: 2}
  kLpNorm,
  // x -> y  {size, alpha: 1e-4, beta: 0.75, bias: 1, layout}: x / (bias + alpha / size * sum over `size` channels of
  // x^2)^beta
  kLrn,
  // x -> y  {axes: default 0, 2, 3}: (x - mean) / sqrt(variance), 1e-9 under the root's result as ONNX's function says
  kMeanVarianceNorm,
  // --- Contractions. x, weights, bias?, output_shape? -> y  {layout, weights_layout "IOHW" (default; [I, O/group,
  // spatial...]) or "HWOI", strides, dilations, pads, auto_pad, group, output_padding, output_shape (spatial)}; the
  // input output_shape is y's whole shape (TensorFlow)
  kConvTranspose,
  // x, weights, offset, bias?, mask? -> y  {strides, dilations, pads, group, offset_group}: NCHW, OIHW (ONNX
  // DeformConv)
  kDeformConv,
  // x, weights, x_zero_point?, weights_zero_point? -> s32  {as conv}: exact
  kConvInteger,
  // a, b, a_zero_point?, b_zero_point? -> s32: exact
  kMatMulInteger,
  // a, b, a_scale, b_scale, a_zero_point?, b_zero_point?, bias? -> y    real numbers of matmul_integer: sums as floats *
  // (a_scale * b_scale) + bias, + activation. a_scale is one number, b_scale and b_zero_point one or one a column, bias one a column.
  // With dynamic_quantize_linear in front: dynamic quantization (com.microsoft.MatMulIntegerToFloat)
  kMatMulIntegerToFloat,
  // x0, x1, ... -> y  {equation}
  kEinsum,
  // x -> y    determinants of the last two dimensions
  kDet,
  // x, image_shape, block_shape -> y  {dilations, pads, strides}
  kCol2Im,
  // --- Pools. x -> y  {as max_pool, p: 2}
  kLpPool,
  // x -> y  {layout}
  kGlobalMaxPool,
  // x -> y  {layout, p: 2}
  kGlobalLpPool,
  // x, indices, output_shape? -> y  {kernel, strides, pads}: NCHW
  kMaxUnpool,
  // --- Reductions: x, axes? -> y  {keepdims: default true; noop_with_empty_axes}
  kReduceMin,
  kReduceProd,
  kReduceL1,
  kReduceL2,
  kReduceLogSum,
  kReduceLogSumExp,
  kReduceSumSquare,
  // x0, x1, ... -> y, a scalar: the sum of all elements' squares / 2 (TensorFlow's L2Loss, of several tensors)
  kL2Loss,
  // bool
  kReduceAll,
  kReduceAny,
  // x, axis? -> s64 or s32  {keepdims: default true, select_last_index}    axis: scalar, default 0
  kArgMax,
  kArgMin,
  // x, axis -> y  {exclusive, reverse}
  kCumSum,
  kCumProd,
  // x, k -> values, indices (s64 or s32)  {axis: -1, largest: true, sorted: true}    of equal ones the lower index
  // first
  kTopK,
  // --- Shapes that depend on data. x -> s64  {rows: default false: [rank, n]; true: [n, rank], as TensorFlow's Where}
  kNonZero,
  // x -> y, first?, inverse?, counts? (s64)  {axis: absent = of the flattened x; sorted: true}
  kUnique,
  // x, condition (bool, rank 1) -> y  {axis: absent = of the flattened x}
  kCompress,
  // boxes [n, boxes, 4], scores [n, classes, boxes], max_per_class?, iou_threshold?, score_threshold? -> s64 [m, 3]
  // {center_point_box}; or, of one image and class, boxes [boxes, 4], scores [boxes] -> s64 [m]: indices of boxes
  kNonMaxSuppression,
  // --- Moving. x, shape -> y    numpy broadcasting of x with an array of that shape
  kExpand,
  // x, repeats -> y
  kTile,
  // x, sizes?, axis? -> y0, y1, ...    axis: scalar, default 0; one size may be -1: what is left; no sizes: as many
  // parts as outputs, equal but for the last, which may be smaller
  kSplit,
  // x0, x1, ... -> y  {axis: default 0}    along a new dimension
  kStack,
  // x -> y0, y1, ...  {axis: default 0}
  kUnstack,
  // x, begin, end, strides -> y  {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask}: TensorFlow's
  // StridedSlice where a mask is set
  kStridedSlice,
  // x, indices -> y  {axis: default 0}
  kGatherElements,
  // x, indices -> y  {batch_dims: default 0}
  kGatherNd,
  // x, indices, updates -> y  {axis: default 0, reduction: "none" (default), "add", "mul", "max", "min"}
  kScatterElements,
  // x, indices, updates -> y  {reduction: as scatter_elements}
  kScatterNd,
  // indices, updates, shape -> y    zeros, to which the updates are added (TensorFlow's ScatterNd)
  kScatterNdNew,
  // indices, depth, values (off, on; rank 1) -> y  {axis: -1, wrap_negative: default true: -1 is the last, else out of range}
  kOneHot,
  // x, k? -> y  {upper: default true}    of the last two dimensions
  kTrilu,
  // x, lower, upper -> y    TensorFlow's MatrixBandPart: numbers of diagonals, negative = all
  kMatrixBandPart,
  // x -> y  {k: default 0}    x's shape (rank 2), ones on diagonal k
  kEyeLike,
  // start, limit, delta -> y (rank 1)
  kRange,
  // start, stop, count -> y (rank 1)    count >= 1 numbers at equal distances, both ends included: TensorFlow's LinSpace
  kLinSpace,
  // shape, value? -> y    value: one element; absent: 0 in f32
  kFill,
  // x -> s64 or s32    number of elements; number of dimensions
  kSize,
  kRank,
  // x, axes -> y
  kReverse,
  // x, lengths -> y  {batch_axis: default 1, time_axis: default 0}
  kReverseSequence,
  // x -> y  {block_size, layout}
  kSpaceToDepth,
  // x, block_shape, pads [m, 2] -> y
  kSpaceToBatch,
  kBatchToSpace,
  // x, shape -> y  {axes}
  kCenterCropPad,
  // indices0, ..., x0, ... -> y    as many indices (s32) as data
  kDynamicStitch,
  // x, partitions (s32) -> y0, y1, ...
  kDynamicPartition,
  // x -> y
  kInvertPermutation,
  // --- Images. x, grid -> y  {mode: "linear" (default), "nearest", "cubic"; padding_mode: "zeros" (default),
  // "border", "reflection"; align_corners}: NCHW, NCDHW
  kGridSample,
  // theta, size -> grid  {align_corners}
  kAffineGrid,
  // x, rois [n, 4], batch_indices -> y  {mode: "avg" (default), "max"; output_height, output_width: 1; sampling_ratio:
  // 0; spatial_scale: 1; coordinate_transformation_mode: "half_pixel" (default), "output_half_pixel"}
  kRoiAlign,
  // x, rois [n, 5] -> y  {pooled_shape, spatial_scale: 1}
  kMaxRoiPool,
  // x (NHWC), boxes [n, 4], box_indices, crop_size [2] -> f32  {mode: "bilinear" (default), "nearest";
  // extrapolation_value: 0}
  kCropAndResize,
  // --- Recurrent, in ONNX's layouts and gate orders. x, w, r, b?, sequence_lengths?, initial_h?, initial_c?,
  // peepholes? -> y?, y_h?, y_c?  {hidden_size, direction: "forward" (default), "reverse", "bidirectional";
  // activations: names, activation_alphas, activation_betas, clip, input_forget, batch_first (ONNX: layout)}
  kLstm,
  // x, w, r, b?, sequence_lengths?, initial_h? -> y?, y_h?  {as lstm; gru: linear_before_reset}. gru has a last input
  // attention? [steps, batch, 1] (batch_first: [batch, steps, 1]): its update gate is multiplied by 1 - attention of that
  // step, in both directions
  kGru,
  kRnn,
  // x, weights, bias?, mask?, past?, attention_bias? -> y, present?  {num_heads, unidirectional, qkv_hidden_sizes,
  // scale, mask_filter_value}: com.microsoft.Attention
  kAttention,
  // q [..., S, D], k [..., T, D], v [..., T, E], mask? -> y [..., S, E]  {scale: default 1 / sqrt(D); k_transposed:
  // default false; true: k is [..., D, T]}    y = softmax(scale * q k^T + mask) v, the softmax over T. Leading dimensions
  // broadcast as matmul's do; mask broadcasts to q k^T
  kScaledDotProductAttention,
  // --- Quantization. x, scale, zero_point? -> y  {axis: default 1, block_size: default 0 = none}    y =
  // saturate(round half even(x / scale) + zero_point); scale: scalar, one a channel of `axis`, or one a block along it
  kQuantizeLinear,
  // x, scale, zero_point? -> y  {axis: default 1, block_size}    y = (x - zero_point) * scale
  kDequantizeLinear,
  // x -> y (u8), scale, zero_point (u8)
  kDynamicQuantizeLinear,
  // x, low, high -> y  {num_bits: 8, narrow_range, axis: absent = low and high are scalars}: TensorFlow's
  // FakeQuantWithMinMax*
  kFakeQuant,
  // x, low, high -> f32  {mode: "MIN_COMBINED" (default), "MIN_FIRST", "SCALED"; narrow_range, axis: -1 = none}:
  // TensorFlow's Dequantize
  kDequantizeRange,
  // --- Losses. log probabilities, target, weights? -> y  {ignore_index: absent = none, reduction: "mean" (default),
  // "sum", "none"}
  kNegativeLogLikelihood,
  // scores, target, weights? -> y, log_probabilities?
  kSoftmaxCrossEntropy,
  // --- Signals; complex numbers are a last dimension of 2. x, length?, axis? (default -2) -> y  {inverse, onesided}
  kDft,
  // signal, frame_step, window?, frame_length? -> y  {onesided: default true}
  kStft,
  // size -> y  {mode: "hann", "hamming", "blackman"; periodic: default true}
  kWindow,
  // num_bins, dft_length, sample_rate, lower_hz, upper_hz -> y
  kMelWeightMatrix,
  // --- Random numbers, which repeat from run to run. shape -> y  {low: 0, high: 1, seed}
  kRandomUniform,
  // shape -> y  {mean: 0, scale: 1, seed}
  kRandomNormal,
  // --- Control flow with nested graphs. A nested graph reads nothing from outside: its inputs are the node's (after
  // those named here), in order; ONNX's captured values are the last ones.
  // condition, x... -> y...  {then, else}
  kIf,
  // max_trip_count?, condition?, state..., captured... -> state..., scanned...  {body: iteration, condition, state...,
  // captured... -> condition, state..., scanned...}
  kLoop,
  // state..., sequences..., captured... -> state..., scanned...  {body, num_scan_inputs, scan_input_axes,
  // scan_input_directions, scan_output_axes, scan_output_directions}
  kScan,
  // x... -> x...  {condition: x... -> bool; body: x... -> x...}: TensorFlow's While
  kWhile,
  // x... -> y...  {body}: a call of a function
  kCall,
  // --- TensorFlow's TensorArrays, kept as written; attributes in Node::extra. No kernel: the loop builder gives them
  // one.
  kTensorArray,
  kTensorArrayWrite,
  kTensorArrayRead,
  kTensorArrayGather,
  kTensorArrayScatter,
  kTensorArraySize,
  kTensorArrayConcat,
  kTensorArraySplit,
  // TensorFlow's control flow, kept as written; attributes in Node::extra. No kernel.
  kEnter,
  kExit,
  kMerge,
  kSwitch,
  kNextIteration,
  kLoopCond,
  kNoOp,
};
inline constexpr int kNumOps = static_cast<int>(OpKind::kNoOp) + 1;

// One input or output of an op.
struct Port {
  std::string_view name;
  // What the format ties together: ports with the same letter have the same element type. 'T' is the op's data; others are
  // separate variables ('U': batch norm's statistics; 'I': an index type). '*': tied to nothing.
  char type_variable = 'T';
  bool optional = false;
  bool variadic = false;               // this port stands for any number >= 1 of values (>= 0 if optional)
  DataType type = DataType::kUnknown;  // of an output: its type where neither the file nor a tied input says one
  // An input whose elements decide shapes: with them as constants, the shapes of the outputs are known. (Where a shape
  // depends on all of the data, as that of non_zero, no input is marked.)
  bool decides_shape = false;
};

// How far a lowered or reordered computation may be from the reference: |a - b| <= absolute + relative * |b|, in f32.
struct Tolerance {
  float relative = 0;
  float absolute = 0;
};

enum class OpGroup : uint8_t {
  kSource,       // input, constant
  kContraction,  // multiplies and sums: conv, matmul, gemm
  kBinary,       // elementwise of two
  kUnary,        // elementwise of one, with arithmetic
  kCompare,      // elementwise, with bools as result
  kNormalize,    // batch norm, softmax
  kRecurrent,    // LSTM, GRU, RNN
  kQuantize,     // between floats and integers by scale and zero point
  kPool,
  kReduce,
  kMove,        // moves or copies values, makes no new ones
  kShape,       // reads shapes
  kStructural,  // control flow
  kOpaque,
};

struct OpInfo {
  OpKind kind;
  std::string_view name;  // snake_case: the word of the text form
  OpGroup group;
  std::span<const Port> inputs;
  std::span<const Port> outputs;                 // trailing ones may be absent
  std::span<const std::string_view> attributes;  // every name that Node::attributes may hold
  Tolerance tolerance;
  shape_rules::Rule shape_rule;
  // The TensorFlow op whose place in the precision lists is this op's; "" where there is none, or where
  // the node's attributes say which (passes/precision/tensorflow_op.cc).
  std::string_view tensorflow;
};

const OpInfo& Info(OpKind kind);
inline std::string_view OpName(OpKind kind) { return Info(kind).name; }
std::optional<OpKind> OpFromName(std::string_view name);

// The port of input or output `index` of a node with `count` inputs (variadic ports spread over the middle). nullptr if the
// op has no such port.
const Port* InputPort(OpKind kind, int index, int count);
const Port* OutputPort(OpKind kind, int index);

// Whether this port may be f32, bf16 or f16 where the ports that are tied to it are another of these: all of a conv,
// matmul, gemm or conv_transpose; the result of a softmax, log_softmax, layer_norm or of a sum, difference, product,
// quotient, maximum or minimum of two. No file has such a node but in a dialect that has an op for it
// (passes/export/split_mixed_types.h).
bool MayDiffer(OpKind kind, const Port& port);

// Activations that can be fused into another op. Names: see "fused" above.
enum class Activation : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kClip,
  kElu,
  kLeakyRelu,
  kTanh,
  kSigmoid,
  kSwish,
  kHardSwish,
  kHardSigmoid,
  kGelu,
  kGeluTanh,
  kMish
};
inline constexpr int kNumActivations = static_cast<int>(Activation::kMish) + 1;
std::string_view ActivationName(Activation activation);  // "" for kNone
std::optional<Activation> ActivationFromName(std::string_view name);

// How many parameters it has (alpha; alpha and beta), and what they are where they are absent.
struct ActivationParameters {
  int count = 0;
  float alpha = 0;
  float beta = 0;
};
ActivationParameters ParametersOf(Activation activation);

}  // namespace halftone

#endif  // HALFTONE_IR_OPS_H_
