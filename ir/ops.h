// The closed set of canonical ops. One row an op in ops.cc; the comments here say what each op means.
//
// Conventions
//   layout      attribute "layout": "NCHW" (default; channel is dimension 1) or "NHWC" (channel is last). The words also
//               stand for 1-D and 3-D data. Nobody transposes at import.
//   small ints  axes, permutations, shapes, pads are *inputs* (usually constants), as in the newest ONNX opsets and in
//               TensorFlow. Where a format holds them as an attribute, its importer makes an unnamed constant, and its
//               exporter turns the constant into the attribute again. See Graph::ConstantInts.
//   absent      an optional input that is absent is kNoValue; trailing absent inputs are left out.
//   attributes  present in Node::attributes only if the file had them or a pass set them: absent means the default.
//   fused       conv and matmul: y = activation(op(x, weights) + bias + residual); attributes "activation" ("relu", "relu6",
//               "clip", "elu", "leaky_relu", "tanh", "sigmoid"; absent: none), "activation_alpha", "activation_beta"
//               (clip: low and high; elu, leaky_relu: alpha).
#ifndef HALFTONE_IR_OPS_H_
#define HALFTONE_IR_OPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/types.h"

namespace halftone {

enum class OpKind : uint8_t {
  kInput,              // () -> y                a graph's input (TensorFlow: Placeholder)
  kConstant,           // () -> y                {value: tensor}
  kOpaque,             // (...) -> (...)         an op that this table does not know; Node::spelling is its type
  kIdentity,           // x -> x
  kDropout,            // x, ratio?, training? -> y, mask?   {ratio}: identity at inference
  kConv,               // x, weights, bias?, residual? -> y  {layout, weights_layout, strides, dilations, pads, auto_pad, group} + fused
                       //   weights_layout "OIHW" (default; [O, I/group, spatial...]), "HWIO" ([spatial..., I/group, O]),
                       //   "HWCM" (depthwise: [spatial..., C, M], group = C, output channel = c * M + m).
                       //   strides, dilations: one a spatial dimension; pads: begins, then ends; auto_pad "NOTSET" (default),
                       //   "SAME_UPPER", "SAME_LOWER", "VALID". bias has rank 1. residual has y's shape and layout.
  kMatMul,             // a, b, bias?, residual? -> y   {transpose_a, transpose_b: of the last two dimensions} + fused
                       //   numpy's matmul with broadcast leading dimensions. bias has rank 1 (last dimension), residual y's shape.
  kGemm,               // a, b, c? -> y          {alpha, beta, transpose_a, transpose_b}: alpha a b + beta c; rank 2, c broadcasts to y
  kBiasAdd,            // x, b -> y              {layout}: b has rank 1 and is added along the channel
  kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kPow, kSquaredDifference,  // a, b -> y   numpy broadcasting
  kAbs, kNeg, kExp, kLog, kSqrt, kRsqrt, kReciprocal, kSquare, kFloor, kErf,                   // x -> y
  kRelu, kRelu6, kTanh, kSigmoid, kSoftplus,     // x -> y
  kElu, kLeakyRelu,    // x -> y                 {alpha}: default 1 and 0.01 (TensorFlow's 0.2 is written out by its importer)
  kClip,               // x, low?, high? -> y    scalars
  kSoftmax,            // x -> y                 {axis: default -1; flatten: true = ONNX before opset 13: x as a matrix cut at axis}
  kBatchNorm,          // x, scale, offset, mean, variance -> y, ...   {epsilon: 1e-5, layout, is_training, momentum}
                       //   further outputs (running or batch statistics) only matter in training and stay unread here
  kMaxPool,            // x -> y, indices?       {layout, kernel, strides, pads, auto_pad, dilations, ceil_mode, storage_order}
  kAveragePool,        // x -> y                 {as kMaxPool, count_include_pad: default false}
  kGlobalAveragePool,  // x -> y                 {layout}: mean over the spatial dimensions, which stay as 1
  kReduceMean, kReduceSum, kReduceMax,  // x, axes? -> y   {keepdims: default true; noop_with_empty_axes}
  kReshape,            // x, shape -> y          {allowzero}: 0 copies the dimension (ONNX) unless allowzero or the graph is a GraphDef's; -1 is inferred
  kFlatten,            // x -> y                 {axis: default 1}
  kTranspose,          // x, perm -> y
  kSqueeze,            // x, axes? -> y
  kUnsqueeze,          // x, axes -> y
  kConcat,             // x0, x1, ..., axis -> y   axis: scalar, the last input
  kPad,                // x, pads, value?, axes? -> y   {mode: "constant" (default), "reflect", "symmetric", "edge"}
                       //   pads of rank 1: begins then ends (ONNX); of rank 2 [rank, 2]: (begin, end) a dimension (TensorFlow)
  kSlice,              // x, starts, ends, axes?, steps? -> y
  kGather,             // x, indices, axis? -> y  axis: scalar, default 0
  kShape,              // x -> y                 {start, end}; y is s64 or s32
  kCast,               // x -> y                 the type is y's
  kResize,             // x, roi?, scales?, sizes? -> y   ONNX Resize 18's attributes, by their ONNX names
  kDepthToSpace,       // x -> y                 {block_size, mode: "DCR" (default) or "CRD", layout}
  // TensorFlow's control flow, kept as written; attributes in Node::extra. No kernel.
  kEnter, kExit, kMerge, kSwitch, kNextIteration, kLoopCond, kNoOp,
};
inline constexpr int kNumOps = static_cast<int>(OpKind::kNoOp) + 1;

// One input or output of an op.
struct Port {
  std::string_view name;
  // What the format ties together: ports with the same letter have the same element type. 'T' is the op's data; others are
  // separate variables ('U': batch norm's statistics; 'I': an index type). '*': tied to nothing.
  char type_variable = 'T';
  bool optional = false;
  bool variadic = false;  // this port stands for any number >= 1 of values
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
  kNormalize,    // batch norm, softmax
  kPool,
  kReduce,
  kMove,         // moves or copies values, makes no new ones
  kShape,        // reads shapes
  kStructural,   // control flow
  kOpaque,
};

struct OpInfo {
  OpKind kind;
  std::string_view name;  // snake_case: the word of the text form
  OpGroup group;
  std::span<const Port> inputs;
  std::span<const Port> outputs;  // trailing ones may be absent
  std::span<const std::string_view> attributes;  // every name that Node::attributes may hold
  Tolerance tolerance;
};

const OpInfo& Info(OpKind kind);
inline std::string_view OpName(OpKind kind) { return Info(kind).name; }
std::optional<OpKind> OpFromName(std::string_view name);

// The port of input or output `index` of a node with `count` inputs (variadic ports spread over the middle). nullptr if the
// op has no such port.
const Port* InputPort(OpKind kind, int index, int count);
const Port* OutputPort(OpKind kind, int index);

// Activations that can be fused into a contraction. Names: see "fused" above.
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kClip, kElu, kLeakyRelu, kTanh, kSigmoid };
std::string_view ActivationName(Activation activation);  // "" for kNone
std::optional<Activation> ActivationFromName(std::string_view name);

}  // namespace halftone

#endif  // HALFTONE_IR_OPS_H_
