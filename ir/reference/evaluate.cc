// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/nested.h"
#include "ir/reference/control_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/reference.h"

namespace halftone::reference {
namespace {

// The types that a function supports.
enum class Domain : uint8_t {
  kNumbers,  // floats, integers, bools
  kBytes,    // every type of fixed size: it only moves elements (its small inputs are numbers anyway)
};

struct Row {
  OpKind op;
  Function function;  // nullptr: this op cannot be computed
  Domain domain;
};

using enum OpKind;
using enum Domain;

constexpr Row kFunctions[] = {
    {kInput, nullptr, kBytes},
    {kConstant, Constant, kBytes},
    {kOpaque, nullptr, kBytes},
    {kIdentity, Identity, kBytes},
    {kDropout, Dropout, kNumbers},
    {kConv, Conv, kNumbers},
    {kMatMul, MatMul, kNumbers},
    {kGemm, Gemm, kNumbers},
    {kBiasAdd, BiasAdd, kNumbers},
    {kAdd, Binary, kNumbers},
    {kSub, Binary, kNumbers},
    {kMul, Binary, kNumbers},
    {kDiv, Binary, kNumbers},
    {kMaximum, Binary, kNumbers},
    {kMinimum, Binary, kNumbers},
    {kPow, Binary, kNumbers},
    {kSquaredDifference, Binary, kNumbers},
    {kAbs, Unary, kNumbers},
    {kNeg, Unary, kNumbers},
    {kExp, Unary, kNumbers},
    {kLog, Unary, kNumbers},
    {kSqrt, Unary, kNumbers},
    {kRsqrt, Unary, kNumbers},
    {kReciprocal, Unary, kNumbers},
    {kSquare, Unary, kNumbers},
    {kFloor, Unary, kNumbers},
    {kErf, Unary, kNumbers},
    {kRelu, Unary, kNumbers},
    {kRelu6, Unary, kNumbers},
    {kTanh, Unary, kNumbers},
    {kSigmoid, Unary, kNumbers},
    {kSoftplus, Unary, kNumbers},
    {kElu, Unary, kNumbers},
    {kLeakyRelu, Unary, kNumbers},
    {kClip, Clip, kNumbers},
    {kSoftmax, Softmax, kNumbers},
    {kBatchNorm, BatchNorm, kNumbers},
    {kMaxPool, MaxPool, kNumbers},
    {kAveragePool, AveragePool, kNumbers},
    {kGlobalAveragePool, GlobalPool, kNumbers},
    {kReduceMean, Reduce, kNumbers},
    {kReduceSum, Reduce, kNumbers},
    {kReduceMax, Reduce, kNumbers},
    {kReshape, Reshape, kBytes},
    {kFlatten, Flatten, kBytes},
    {kTranspose, Transpose, kBytes},
    {kSqueeze, Squeeze, kBytes},
    {kUnsqueeze, Unsqueeze, kBytes},
    {kConcat, ConcatAlong, kBytes},
    {kPad, Pad, kBytes},
    {kSlice, Slice, kBytes},
    {kGather, Gather, kBytes},
    {kShape, ShapeOf, kBytes},
    {kCast, Cast, kNumbers},
    {kResize, Resize, kNumbers},
    {kDepthToSpace, DepthToSpace, kBytes},
    {kAcos, Unary, kNumbers},
    {kAcosh, Unary, kNumbers},
    {kAsin, Unary, kNumbers},
    {kAsinh, Unary, kNumbers},
    {kAtan, Unary, kNumbers},
    {kAtanh, Unary, kNumbers},
    {kCos, Unary, kNumbers},
    {kCosh, Unary, kNumbers},
    {kSin, Unary, kNumbers},
    {kSinh, Unary, kNumbers},
    {kTan, Unary, kNumbers},
    {kCeil, Unary, kNumbers},
    {kRound, Unary, kNumbers},
    {kSign, Unary, kNumbers},
    {kLog1p, Unary, kNumbers},
    {kExpm1, Unary, kNumbers},
    {kErfc, Unary, kNumbers},
    {kSoftsign, Unary, kNumbers},
    {kMish, Unary, kNumbers},
    {kHardSwish, Unary, kNumbers},
    {kBitwiseNot, Unary, kNumbers},
    {kNot, Unary, kNumbers},
    {kHardSigmoid, Unary, kNumbers},
    {kGelu, Unary, kNumbers},
    {kSelu, Unary, kNumbers},
    {kCelu, Unary, kNumbers},
    {kThresholdedRelu, Unary, kNumbers},
    {kSwish, Unary, kNumbers},
    {kShrink, Unary, kNumbers},
    {kIsNaN, Unary, kNumbers},
    {kIsFinite, Unary, kNumbers},
    {kIsInf, Unary, kNumbers},
    {kFillLike, FillLike, kNumbers},
    {kCastLike, Cast, kNumbers},
    {kPRelu, Binary, kNumbers},
    {kFloorDiv, Binary, kNumbers},
    {kDivNoNan, Binary, kNumbers},
    {kAtan2, Binary, kNumbers},
    {kMod, Binary, kNumbers},
    {kBitShift, Binary, kNumbers},
    {kBitwiseAnd, Binary, kNumbers},
    {kBitwiseOr, Binary, kNumbers},
    {kBitwiseXor, Binary, kNumbers},
    {kEqual, Binary, kNumbers},
    {kNotEqual, Binary, kNumbers},
    {kLess, Binary, kNumbers},
    {kLessEqual, Binary, kNumbers},
    {kGreater, Binary, kNumbers},
    {kGreaterEqual, Binary, kNumbers},
    {kAnd, Binary, kNumbers},
    {kOr, Binary, kNumbers},
    {kXor, Binary, kNumbers},
    {kWhere, Where, kBytes},
    {kAddN, Variadic, kNumbers},
    {kMaxN, Variadic, kNumbers},
    {kMinN, Variadic, kNumbers},
    {kMeanN, Variadic, kNumbers},
    {kBinaryChain, BinaryChain, kNumbers},
    {kLogSoftmax, Softmax, kNumbers},
    {kHardmax, Softmax, kNumbers},
    {kLayerNorm, LayerNorm, kNumbers},
    {kRmsNorm, LayerNorm, kNumbers},
    {kSkipLayerNorm, SkipLayerNorm, kNumbers},
    {kInstanceNorm, ChannelNorm, kNumbers},
    {kGroupNorm, ChannelNorm, kNumbers},
    {kLpNorm, LpNorm, kNumbers},
    {kLrn, Lrn, kNumbers},
    {kMeanVarianceNorm, MeanVarianceNorm, kNumbers},
    {kConvTranspose, ConvTranspose, kNumbers},
    {kDeformConv, DeformConv, kNumbers},
    {kConvInteger, ConvInteger, kNumbers},
    {kMatMulInteger, MatMulInteger, kNumbers},
    {kMatMulIntegerToFloat, MatMulIntegerToFloat, kNumbers},
    {kEinsum, Einsum, kNumbers},
    {kDet, Det, kNumbers},
    {kCol2Im, Col2Im, kNumbers},
    {kLpPool, LpPool, kNumbers},
    {kGlobalMaxPool, GlobalPool, kNumbers},
    {kGlobalLpPool, GlobalPool, kNumbers},
    {kMaxUnpool, MaxUnpool, kNumbers},
    {kReduceMin, Reduce, kNumbers},
    {kReduceProd, Reduce, kNumbers},
    {kReduceL1, Reduce, kNumbers},
    {kReduceL2, Reduce, kNumbers},
    {kReduceLogSum, Reduce, kNumbers},
    {kReduceLogSumExp, Reduce, kNumbers},
    {kReduceSumSquare, Reduce, kNumbers},
    {kL2Loss, L2Loss, kNumbers},
    {kReduceAll, Reduce, kNumbers},
    {kReduceAny, Reduce, kNumbers},
    {kArgMax, ArgMaxMin, kNumbers},
    {kArgMin, ArgMaxMin, kNumbers},
    {kCumSum, Cumulate, kNumbers},
    {kCumProd, Cumulate, kNumbers},
    {kTopK, TopK, kNumbers},
    {kNonZero, NonZero, kNumbers},
    {kUnique, Unique, kNumbers},
    {kCompress, Compress, kBytes},
    {kNonMaxSuppression, NonMaxSuppression, kNumbers},
    {kExpand, Expand, kBytes},
    {kTile, Tile, kBytes},
    {kSplit, Split, kBytes},
    {kStack, Stack, kBytes},
    {kUnstack, Unstack, kBytes},
    {kStridedSlice, StridedSlice, kBytes},
    {kGatherElements, GatherElements, kBytes},
    {kGatherNd, GatherNd, kBytes},
    {kScatterElements, ScatterElements, kBytes},
    {kScatterNd, ScatterNd, kBytes},
    {kScatterNdNew, ScatterNdNew, kBytes},
    {kOneHot, OneHot, kNumbers},
    {kTrilu, Trilu, kBytes},
    {kMatrixBandPart, MatrixBandPart, kBytes},
    {kEyeLike, EyeLike, kNumbers},
    {kRange, Range, kNumbers},
    {kLinSpace, LinSpace, kNumbers},
    {kFill, Fill, kNumbers},
    {kSize, SizeOf, kBytes},
    {kRank, RankOf, kBytes},
    {kReverse, Reverse, kBytes},
    {kReverseSequence, ReverseSequence, kBytes},
    {kSpaceToDepth, SpaceToDepth, kBytes},
    {kSpaceToBatch, SpaceToBatch, kBytes},
    {kBatchToSpace, BatchToSpace, kBytes},
    {kCenterCropPad, CenterCropPad, kBytes},
    {kDynamicStitch, DynamicStitch, kBytes},
    {kDynamicPartition, DynamicPartition, kBytes},
    {kInvertPermutation, InvertPermutation, kNumbers},
    {kGridSample, GridSample, kNumbers},
    {kAffineGrid, AffineGrid, kNumbers},
    {kRoiAlign, RoiAlign, kNumbers},
    {kMaxRoiPool, MaxRoiPool, kNumbers},
    {kCropAndResize, CropAndResize, kNumbers},
    {kLstm, Recurrent, kNumbers},
    {kGru, Recurrent, kNumbers},
    {kRnn, Recurrent, kNumbers},
    {kAttention, Attention, kNumbers},
    {kScaledDotProductAttention, ScaledDotProductAttention, kNumbers},
    {kQuantizeLinear, QuantizeLinear, kNumbers},
    {kDequantizeLinear, DequantizeLinear, kNumbers},
    {kDynamicQuantizeLinear, DynamicQuantizeLinear, kNumbers},
    {kFakeQuant, FakeQuant, kNumbers},
    {kDequantizeRange, DequantizeRange, kNumbers},
    {kNegativeLogLikelihood, NegativeLogLikelihood, kNumbers},
    {kSoftmaxCrossEntropy, SoftmaxCrossEntropy, kNumbers},
    {kDft, Dft, kNumbers},
    {kStft, Stft, kNumbers},
    {kWindow, WindowFunction, kNumbers},
    {kMelWeightMatrix, MelWeightMatrix, kNumbers},
    {kRandomUniform, RandomUniform, kNumbers},
    {kRandomNormal, RandomNormal, kNumbers},
    {kIf, nullptr, kNumbers},
    {kLoop, nullptr, kNumbers},
    {kScan, nullptr, kNumbers},
    {kWhile, nullptr, kNumbers},
    {kCall, nullptr, kNumbers},
    {kTensorArray, nullptr, kNumbers},
    {kTensorArrayWrite, nullptr, kNumbers},
    {kTensorArrayRead, nullptr, kNumbers},
    {kTensorArrayGather, nullptr, kNumbers},
    {kTensorArrayScatter, nullptr, kNumbers},
    {kTensorArraySize, nullptr, kNumbers},
    {kTensorArrayConcat, nullptr, kNumbers},
    {kTensorArraySplit, nullptr, kNumbers},
    {kEnter, nullptr, kBytes},
    {kExit, nullptr, kBytes},
    {kMerge, nullptr, kBytes},
    {kSwitch, nullptr, kBytes},
    {kNextIteration, nullptr, kBytes},
    {kLoopCond, nullptr, kBytes},
    {kNoOp, nullptr, kBytes},
};

constexpr bool EveryOpHasOneRow() {
  if (std::size(kFunctions) != kNumOps) return false;
  for (int i = 0; i < kNumOps; ++i) {
    if (static_cast<int>(kFunctions[i].op) != i) return false;
  }
  return true;
}
static_assert(EveryOpHasOneRow(), "add the new op to kFunctions, in the order of OpKind");

bool IsNumber(DataType type) { return IsFloatingPoint(type) || IsInteger(type) || type == DataType::kBool; }

// `type` is known.
absl::Status CheckInputType(Domain domain, const Port& port, int i, DataType type) {
  const bool moved = domain == kBytes && port.type_variable != 'I' && i == 0;
  const bool any_part = domain == kBytes && (moved || port.variadic || port.type_variable == 'T');
  if (any_part ? ElementSize(type) > 0 : IsNumber(type)) return absl::OkStatus();
  return absl::UnimplementedError(Concat("input '", port.name, "' is ", DataTypeName(type)));
}

absl::Status CheckOutputType(Domain domain, DataType type) {
  if (type == DataType::kUnknown || domain != kNumbers || IsNumber(type)) return absl::OkStatus();
  return absl::UnimplementedError(Concat("an output is ", DataTypeName(type)));
}

// Checks that required inputs are present and have types that the function supports.
absl::Status CheckInputs(const Node& node, Domain domain, const std::vector<Tensor>& inputs) {
  const int count = static_cast<int>(inputs.size());
  if (inputs.size() != node.inputs.size()) return Error(count, " tensors for ", node.inputs.size(), " inputs");
  int required = 0;
  for (const Port& port : Info(node.op).inputs) required += port.optional ? 0 : 1;
  if (count < required) return Error(count, " inputs, need at least ", required);
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    if (port == nullptr) return Error("input ", i, " is one too many");
    const DataType type = inputs[i].type();
    if (type == DataType::kUnknown) {
      if (!port->optional) return Error("input '", port->name, "' is absent");
      continue;
    }
    HALFTONE_RETURN_IF_ERROR(CheckInputType(domain, *port, i, type));
  }
  return absl::OkStatus();
}

// The type of each requested output.
absl::StatusOr<std::vector<DataType>> OutputTypes(const Graph& graph, const Node& node, Domain domain,
                                                  const std::vector<Tensor>& inputs) {
  std::vector<DataType> types;
  for (const ValueId output : node.outputs) {
    DataType type = output.valid() ? graph.type(output) : DataType::kUnknown;
    if (output.valid() && type == DataType::kUnknown && types.empty()) {  // not inferred: most ops keep the type of x
      if (node.op == kCast) return Error("the target type of the cast is unknown");
      const Port* port = OutputPort(node.op, 0);
      type = port != nullptr && port->type != DataType::kUnknown ? port->type
             : inputs.empty()                                    ? DataType::kInt64
                                                                 : inputs[0].type();
    }
    HALFTONE_RETURN_IF_ERROR(CheckOutputType(domain, type));
    types.push_back(type);
  }
  const bool none = std::all_of(types.begin(), types.end(), [](DataType type) { return type == DataType::kUnknown; });
  if (none) return Error("no output is wanted");
  return types;
}

// Replaces quantized integers by the real numbers (f32) that they represent.
absl::StatusOr<std::vector<Tensor>> RealInputs(const Graph& graph, const Node& node, std::vector<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size() && i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || inputs[i].type() == DataType::kUnknown) continue;
    const Quantization* quantization = graph.quantization(node.inputs[i]);
    if (quantization == nullptr) continue;
    const std::string wrong = WrongQuantization(*quantization, inputs[i].type(), inputs[i].shape());
    if (!wrong.empty()) return Error("quantization of input ", i, ": ", wrong);
    inputs[i] = Dequantized(inputs[i], *quantization);
  }
  return inputs;
}

// The types of the node's results before quantization: f32 for results that are written as integers.
std::vector<DataType> RealTypes(const Graph& graph, const Node& node, std::vector<DataType> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (node.outputs[i].valid() && graph.quantization(node.outputs[i]) != nullptr) types[i] = DataType::kFloat32;
  }
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node, const std::vector<Tensor>& given) {
  const Row& row = kFunctions[static_cast<int>(node.op)];
  if (row.function == nullptr) return absl::UnimplementedError("this op has no reference function");
  const bool real = !PassesIntegers(node.op);
  absl::StatusOr<std::vector<Tensor>> real_inputs = std::vector<Tensor>();
  if (real) real_inputs = RealInputs(graph, node, given);
  HALFTONE_RETURN_IF_ERROR(real_inputs.status());
  const std::vector<Tensor>& inputs = real ? *real_inputs : given;
  HALFTONE_RETURN_IF_ERROR(CheckInputs(node, row.domain, inputs));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<DataType> types, OutputTypes(graph, node, row.domain, inputs));
  if (real) types = RealTypes(graph, node, std::move(types));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, row.function(Call{graph, node, inputs, types}));
  outputs.resize(types.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (types[i] == DataType::kUnknown) outputs[i] = Tensor();
    if (outputs[i].type() == types[i] || outputs[i].type() == DataType::kUnknown) continue;
    HALFTONE_ASSIGN_OR_RETURN(outputs[i], outputs[i].ConvertTo(types[i]));  // moved elements with a different type
  }
  for (size_t i = 0; real && i < outputs.size(); ++i) {
    const Quantization* quantization = node.outputs[i].valid() ? graph.quantization(node.outputs[i]) : nullptr;
    if (quantization == nullptr || outputs[i].type() == DataType::kUnknown) continue;
    const DataType type = graph.type(node.outputs[i]);
    const std::string wrong = WrongQuantization(*quantization, type, outputs[i].shape());
    if (!wrong.empty()) return Error("quantization of its result: ", wrong);
    outputs[i] = Quantized(outputs[i], type, *quantization);
  }
  return outputs;
}

}  // namespace

bool HasReference(OpKind op) { return HasNestedGraphs(op) || kFunctions[static_cast<int>(op)].function != nullptr; }

absl::Status CheckTypes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (HasNestedGraphs(node.op)) return absl::OkStatus();
  const Domain domain = kFunctions[static_cast<int>(node.op)].domain;
  const int count = static_cast<int>(node.inputs.size());
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    if (port == nullptr || !node.inputs[i].valid() || graph.type(node.inputs[i]) == DataType::kUnknown) continue;
    HALFTONE_RETURN_IF_ERROR(CheckInputType(domain, *port, i, graph.type(node.inputs[i])));
  }
  for (const ValueId output : node.outputs) {
    if (output.valid()) HALFTONE_RETURN_IF_ERROR(CheckOutputType(domain, graph.type(output)));
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<std::vector<Tensor>> EvaluateWithin(const Graph& graph, NodeId id, const std::vector<Tensor>& inputs,
                                                   Budget& budget) {
  const Node& node = graph.node(id);
  absl::StatusOr<std::vector<Tensor>> outputs =
      HasNestedGraphs(node.op) ? ControlFlow(node, inputs, budget) : Evaluate(graph, node, inputs);
  if (outputs.ok()) return outputs;
  const std::string_view name = node.op == OpKind::kOpaque ? std::string_view(node.spelling) : OpName(node.op);
  return Annotate(outputs.status(), Concat("node '", graph.Label(id), "' (", name, ")"));
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId id, const std::vector<Tensor>& inputs,
                                                 const RunLimits& limits) {
  Budget budget(limits);
  return EvaluateWithin(graph, id, inputs, budget);
}

absl::StatusOr<std::vector<Tensor>> EvaluateGraph(const Graph& graph, const std::vector<Tensor>& inputs,
                                                  const RunLimits& limits) {
  Budget budget(limits);
  return PreparedGraph(graph).Run(inputs, budget);
}

absl::StatusOr<std::vector<Tensor>> PreparedGraph::Run(const std::vector<Tensor>& inputs, Budget& budget) const {
  if (inputs.size() != graph_.inputs().size())
    return Error(inputs.size(), " tensors for ", graph_.inputs().size(), " graph inputs");
  std::vector<Tensor> values(graph_.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph_.output(graph_.inputs()[i]).index] = inputs[i];
  for (const NodeId id : order_) {
    const Node& node = graph_.node(id);
    if (node.op == OpKind::kInput || node.op == OpKind::kNoOp) continue;
    std::vector<Tensor> arguments;
    for (const ValueId input : node.inputs) arguments.push_back(input.valid() ? values[input.index] : Tensor());
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateWithin(graph_, id, arguments, budget));
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i].valid()) values[node.outputs[i].index] = std::move(results[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const GraphOutput& output : graph_.outputs()) outputs.push_back(values[output.value.index]);
  return outputs;
}

}  // namespace halftone::reference
