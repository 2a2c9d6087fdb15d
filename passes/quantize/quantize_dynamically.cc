// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/quantize_dynamically.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/pair_sums.h"
#include "ir/weight_channels.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/weights_quantizer.h"

namespace halftone {
namespace {

constexpr int kWeights = 1, kBias = 2, kResidual = 3;
constexpr int kFullWeights = 127;
constexpr int kNarrowWeights = 63;
constexpr int64_t kLongestRow = 1 << 15;  // sums of 2^15 products of two 8-bit integers fit into 32 bits

// [n, k] => [k, n].
Tensor Transposed(const Tensor& matrix) {
  const int64_t rows = matrix.dims()[0], columns = matrix.dims()[1];
  Tensor result(DataType::kInt8, {columns, rows});
  const std::span<const int8_t> from = matrix.data<int8_t>();
  const std::span<int8_t> to = result.mutable_data<int8_t>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
  return result;
}

// What a dynamic_quantize_linear makes of a value.
struct Integers {
  ValueId numbers, scale, zero_point;
};

struct RoundedMatrix {
  Tensor integers;  // s8 [k, n]
  Quantization quantization;
};

absl::StatusOr<RoundedMatrix> RoundMatrix(const Graph& graph, NodeId id, const QuantizeOptions& options) {
  const Tensor& weights = *graph.ConstantTensor(graph.input(id, kWeights));
  const bool per_column = options.per_channel_weights && options.per_channel_dynamic;
  const int axis = per_column ? OutputChannelAxis(graph, id) : -1;
  RoundedMatrix result;
  for (const int limit : {kFullWeights, kNarrowWeights}) {
    HALFTONE_ASSIGN_OR_RETURN(result.quantization, QuantizationOfWeights(weights, axis, limit));
    result.integers = QuantizedWeights(weights, result.quantization, limit);
    const std::optional<WeightChannels> channels = WeightChannelsOf(graph, id);
    const std::span<const int8_t> integers = std::as_const(result.integers).data<int8_t>();
    if (!options.reduce_range || !channels.has_value() || PairSumsOf(integers, *channels).fit()) break;
  }
  if (graph.node(id).attributes.Bool("transpose_b", false)) result.integers = Transposed(result.integers);
  return result;
}

}  // namespace

std::string WhyNotDynamic(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string op(OpName(node.op));
  if (node.op != OpKind::kMatMul && node.op != OpKind::kGemm) {
    const bool contraction = QuantizedRoleOf(graph, id) == QuantizedRole::kContraction;
    return contraction ? Concat(op, " of integers is slower than of f32 where ranges are found by the run")
                       : Concat(op, " has no form with ranges of the run");
  }
  if (node.op == OpKind::kGemm) return "gemm with factors of its own, or of operands whose ranks are not known";
  const Tensor* weights =
      graph.IsConstant(graph.input(id, kWeights)) ? graph.ConstantTensor(graph.input(id, kWeights)) : nullptr;
  if (weights == nullptr) return "both operands are computed: the weights have to be constant";
  if (weights->type() != DataType::kFloat32 || weights->rank() != 2 || weights->num_elements() == 0) {
    return Concat("weights are ", DataTypeName(weights->type()), weights->shape().ToString(), ", need an f32 matrix");
  }
  const ValueId x = graph.input(id, 0), bias = graph.input(id, kBias);
  if (graph.IsConstant(x)) return "it reads constants alone";
  if (graph.type(x) != DataType::kFloat32 || graph.type(graph.output(id)) != DataType::kFloat32) {
    return "what it reads or makes is not f32";
  }
  if (bias.valid() && graph.type(bias) != DataType::kFloat32) return "the bias is not f32";
  const Attributes& attributes = node.attributes;
  const bool plain = !graph.input(id, kResidual).valid() && attributes.Float("scale", 1) == 1 &&
                     !attributes.Bool("transpose_a", false);
  if (!plain) return "a residual, a factor or a transposed operand is fused into it";
  const int64_t depth = weights->dims()[attributes.Bool("transpose_b", false) ? 1 : 0];
  if (depth > kLongestRow) return Concat("sums of ", depth, " products of 8-bit integers may not fit into 32 bits");
  return std::string(StdView(QuantizationOfWeights(*weights, -1, kFullWeights).status().message()));
}

absl::Status QuantizeDynamically::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  std::map<ValueId, Integers> quantized;
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!nodes_.contains(id)) continue;
    HALFTONE_ASSIGN_OR_RETURN(RoundedMatrix rounded, RoundMatrix(graph, id, options_));
    const ValueId x = graph.input(id, 0), bias = graph.input(id, kBias);
    auto known = quantized.find(x);
    if (known == quantized.end()) {
      Node node;
      node.op = OpKind::kDynamicQuantizeLinear;
      node.inputs = {x};
      node.device = graph.node(id).device;
      const NodeId added = edit.AddNode(std::move(node), {{DataType::kUInt8, graph.shape(x), ""},
                                                          {DataType::kFloat32, Shape::Scalar(), ""},
                                                          {DataType::kUInt8, Shape::Scalar(), ""}});
      const Integers integers{graph.output(added, 0), graph.output(added, 1), graph.output(added, 2)};
      known = quantized.emplace(x, integers).first;
    }
    const Integers& a = known->second;
    const ValueId b = edit.AddConstant("", std::move(rounded.integers));
    const ValueId b_scale = edit.AddConstant("", ScaleTensor(rounded.quantization));
    std::vector<ValueId> inputs = {a.numbers, b, a.scale, b_scale, a.zero_point};
    if (bias.valid()) inputs.insert(inputs.end(), {kNoValue, bias});
    edit.SetOp(id, OpKind::kMatMulIntegerToFloat);
    edit.SetDomain(id, "");
    for (const char* attribute : {"transpose_a", "transpose_b", "scale", "activation_first", "math_mode"}) {
      edit.EraseAttribute(id, attribute);
    }
    edit.SetInputs(id, std::move(inputs));
    if (context.log != nullptr) {
      context.log->Applied(name(), graph, id, "matmul(x, w) => matmul_integer_to_float(dynamic_quantize(x), w)");
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone
