#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/reference/functions_internal.h"
#include "ir/reference/reference.h"

namespace halftone::reference {
namespace {

// What a function can compute with.
enum class Domain : uint8_t {
  kNumbers,  // floats, integers, bools
  kBytes,    // whatever has elements of a fixed size: it only moves them (its small inputs are numbers all the same)
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
    {kGlobalAveragePool, GlobalAveragePool, kNumbers},
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
    {kAcos, nullptr, kNumbers},
    {kAcosh, nullptr, kNumbers},
    {kAsin, nullptr, kNumbers},
    {kAsinh, nullptr, kNumbers},
    {kAtan, nullptr, kNumbers},
    {kAtanh, nullptr, kNumbers},
    {kCos, nullptr, kNumbers},
    {kCosh, nullptr, kNumbers},
    {kSin, nullptr, kNumbers},
    {kSinh, nullptr, kNumbers},
    {kTan, nullptr, kNumbers},
    {kCeil, nullptr, kNumbers},
    {kRound, nullptr, kNumbers},
    {kSign, nullptr, kNumbers},
    {kLog1p, nullptr, kNumbers},
    {kExpm1, nullptr, kNumbers},
    {kErfc, nullptr, kNumbers},
    {kSoftsign, nullptr, kNumbers},
    {kMish, nullptr, kNumbers},
    {kHardSwish, nullptr, kNumbers},
    {kBitwiseNot, nullptr, kNumbers},
    {kNot, nullptr, kNumbers},
    {kHardSigmoid, nullptr, kNumbers},
    {kGelu, nullptr, kNumbers},
    {kSelu, nullptr, kNumbers},
    {kCelu, nullptr, kNumbers},
    {kThresholdedRelu, nullptr, kNumbers},
    {kSwish, nullptr, kNumbers},
    {kShrink, nullptr, kNumbers},
    {kIsNaN, nullptr, kNumbers},
    {kIsFinite, nullptr, kNumbers},
    {kIsInf, nullptr, kNumbers},
    {kFillLike, nullptr, kNumbers},
    {kCastLike, nullptr, kNumbers},
    {kPRelu, nullptr, kNumbers},
    {kFloorDiv, nullptr, kNumbers},
    {kDivNoNan, nullptr, kNumbers},
    {kAtan2, nullptr, kNumbers},
    {kMod, nullptr, kNumbers},
    {kBitShift, nullptr, kNumbers},
    {kBitwiseAnd, nullptr, kNumbers},
    {kBitwiseOr, nullptr, kNumbers},
    {kBitwiseXor, nullptr, kNumbers},
    {kEqual, nullptr, kNumbers},
    {kNotEqual, nullptr, kNumbers},
    {kLess, nullptr, kNumbers},
    {kLessEqual, nullptr, kNumbers},
    {kGreater, nullptr, kNumbers},
    {kGreaterEqual, nullptr, kNumbers},
    {kAnd, nullptr, kNumbers},
    {kOr, nullptr, kNumbers},
    {kXor, nullptr, kNumbers},
    {kWhere, nullptr, kNumbers},
    {kAddN, nullptr, kNumbers},
    {kMaxN, nullptr, kNumbers},
    {kMinN, nullptr, kNumbers},
    {kMeanN, nullptr, kNumbers},
    {kLogSoftmax, nullptr, kNumbers},
    {kHardmax, nullptr, kNumbers},
    {kLayerNorm, nullptr, kNumbers},
    {kRmsNorm, nullptr, kNumbers},
    {kSkipLayerNorm, nullptr, kNumbers},
    {kInstanceNorm, nullptr, kNumbers},
    {kGroupNorm, nullptr, kNumbers},
    {kLpNorm, nullptr, kNumbers},
    {kLrn, nullptr, kNumbers},
    {kMeanVarianceNorm, nullptr, kNumbers},
    {kConvTranspose, nullptr, kNumbers},
    {kDeformConv, nullptr, kNumbers},
    {kConvInteger, nullptr, kNumbers},
    {kMatMulInteger, nullptr, kNumbers},
    {kEinsum, nullptr, kNumbers},
    {kDet, nullptr, kNumbers},
    {kCol2Im, nullptr, kNumbers},
    {kLpPool, nullptr, kNumbers},
    {kGlobalMaxPool, nullptr, kNumbers},
    {kGlobalLpPool, nullptr, kNumbers},
    {kMaxUnpool, nullptr, kNumbers},
    {kReduceMin, nullptr, kNumbers},
    {kReduceProd, nullptr, kNumbers},
    {kReduceL1, nullptr, kNumbers},
    {kReduceL2, nullptr, kNumbers},
    {kReduceLogSum, nullptr, kNumbers},
    {kReduceLogSumExp, nullptr, kNumbers},
    {kReduceSumSquare, nullptr, kNumbers},
    {kReduceAll, nullptr, kNumbers},
    {kReduceAny, nullptr, kNumbers},
    {kArgMax, nullptr, kNumbers},
    {kArgMin, nullptr, kNumbers},
    {kCumSum, nullptr, kNumbers},
    {kCumProd, nullptr, kNumbers},
    {kTopK, nullptr, kNumbers},
    {kNonZero, nullptr, kNumbers},
    {kUnique, nullptr, kNumbers},
    {kCompress, nullptr, kNumbers},
    {kNonMaxSuppression, nullptr, kNumbers},
    {kExpand, nullptr, kNumbers},
    {kTile, nullptr, kNumbers},
    {kSplit, nullptr, kNumbers},
    {kStack, nullptr, kNumbers},
    {kUnstack, nullptr, kNumbers},
    {kStridedSlice, nullptr, kNumbers},
    {kGatherElements, nullptr, kNumbers},
    {kGatherNd, nullptr, kNumbers},
    {kScatterElements, nullptr, kNumbers},
    {kScatterNd, nullptr, kNumbers},
    {kScatterNdNew, nullptr, kNumbers},
    {kOneHot, nullptr, kNumbers},
    {kTrilu, nullptr, kNumbers},
    {kMatrixBandPart, nullptr, kNumbers},
    {kEyeLike, nullptr, kNumbers},
    {kRange, nullptr, kNumbers},
    {kFill, nullptr, kNumbers},
    {kSize, nullptr, kNumbers},
    {kRank, nullptr, kNumbers},
    {kReverse, nullptr, kNumbers},
    {kReverseSequence, nullptr, kNumbers},
    {kSpaceToDepth, nullptr, kNumbers},
    {kSpaceToBatch, nullptr, kNumbers},
    {kBatchToSpace, nullptr, kNumbers},
    {kCenterCropPad, nullptr, kNumbers},
    {kDynamicStitch, nullptr, kNumbers},
    {kDynamicPartition, nullptr, kNumbers},
    {kInvertPermutation, nullptr, kNumbers},
    {kGridSample, nullptr, kNumbers},
    {kAffineGrid, nullptr, kNumbers},
    {kRoiAlign, nullptr, kNumbers},
    {kMaxRoiPool, nullptr, kNumbers},
    {kCropAndResize, nullptr, kNumbers},
    {kLstm, nullptr, kNumbers},
    {kGru, nullptr, kNumbers},
    {kRnn, nullptr, kNumbers},
    {kAttention, nullptr, kNumbers},
    {kQuantizeLinear, nullptr, kNumbers},
    {kDequantizeLinear, nullptr, kNumbers},
    {kDynamicQuantizeLinear, nullptr, kNumbers},
    {kFakeQuant, nullptr, kNumbers},
    {kDequantizeRange, nullptr, kNumbers},
    {kNegativeLogLikelihood, nullptr, kNumbers},
    {kSoftmaxCrossEntropy, nullptr, kNumbers},
    {kDft, nullptr, kNumbers},
    {kStft, nullptr, kNumbers},
    {kWindow, nullptr, kNumbers},
    {kMelWeightMatrix, nullptr, kNumbers},
    {kRandomUniform, nullptr, kNumbers},
    {kRandomNormal, nullptr, kNumbers},
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

// Required inputs are there, and of types that the function can read.
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
    const bool moved = domain == kBytes && port->type_variable != 'I' && i == 0;
    const bool any_part = domain == kBytes && (moved || port->variadic || port->type_variable == 'T');
    if (any_part ? ElementSize(type) == 0 : !IsNumber(type)) {
      return absl::UnimplementedError(Concat("input '", port->name, "' is ", DataTypeName(type)));
    }
  }
  return absl::OkStatus();
}

// Type of each output that is wanted.
absl::StatusOr<std::vector<DataType>> OutputTypes(const Graph& graph, const Node& node, Domain domain,
                                                  const std::vector<Tensor>& inputs) {
  std::vector<DataType> types;
  for (const ValueId output : node.outputs) {
    DataType type = output.valid() ? graph.type(output) : DataType::kUnknown;
    if (output.valid() && type == DataType::kUnknown && types.empty()) {  // never inferred: most ops keep x's type
      if (node.op == kCast) return Error("nobody said which type to cast to");
      const Port* port = OutputPort(node.op, 0);
      type = port != nullptr && port->type != DataType::kUnknown ? port->type
             : inputs.empty()                                    ? DataType::kInt64
                                                                 : inputs[0].type();
    }
    if (type != DataType::kUnknown && domain == kNumbers && !IsNumber(type)) {
      return absl::UnimplementedError(Concat("an output is ", DataTypeName(type)));
    }
    types.push_back(type);
  }
  const bool none = std::all_of(types.begin(), types.end(), [](DataType type) { return type == DataType::kUnknown; });
  if (none) return Error("no output is wanted");
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node, const std::vector<Tensor>& inputs) {
  const Row& row = kFunctions[static_cast<int>(node.op)];
  if (row.function == nullptr) return absl::UnimplementedError("this op has no reference function");
  HALFTONE_RETURN_IF_ERROR(CheckInputs(node, row.domain, inputs));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<DataType> types, OutputTypes(graph, node, row.domain, inputs));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, row.function(Call{graph, node, inputs, types}));
  outputs.resize(types.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (types[i] == DataType::kUnknown) outputs[i] = Tensor();
    if (outputs[i].type() == types[i] || outputs[i].type() == DataType::kUnknown) continue;
    HALFTONE_ASSIGN_OR_RETURN(outputs[i], outputs[i].ConvertTo(types[i]));  // moved elements under another type
  }
  return outputs;
}

}  // namespace

bool HasReference(OpKind op) { return kFunctions[static_cast<int>(op)].function != nullptr; }

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId id, const std::vector<Tensor>& inputs) {
  const Node& node = graph.node(id);
  absl::StatusOr<std::vector<Tensor>> outputs = Evaluate(graph, node, inputs);
  if (outputs.ok()) return outputs;
  const std::string_view name = node.op == OpKind::kOpaque ? std::string_view(node.spelling) : OpName(node.op);
  return Annotate(outputs.status(), Concat("node '", graph.Label(id), "' (", name, ")"));
}

absl::StatusOr<std::vector<Tensor>> EvaluateGraph(const Graph& graph, const std::vector<Tensor>& inputs) {
  if (inputs.size() != graph.inputs().size())
    return Error(inputs.size(), " tensors for ", graph.inputs().size(), " graph inputs");
  std::vector<Tensor> values(graph.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.output(graph.inputs()[i]).index] = inputs[i];
  for (const NodeId id : graph.TopologicalOrder()) {
    const Node& node = graph.node(id);
    if (node.op == OpKind::kInput || node.op == OpKind::kNoOp) continue;
    std::vector<Tensor> arguments;
    for (const ValueId input : node.inputs) arguments.push_back(input.valid() ? values[input.index] : Tensor());
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateNode(graph, id, arguments));
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i].valid()) values[node.outputs[i].index] = std::move(results[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const GraphOutput& output : graph.outputs()) outputs.push_back(values[output.value.index]);
  return outputs;
}

}  // namespace halftone::reference
