// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/saturation.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ir/pair_sums.h"
#include "ir/weight_channels.h"
#include "passes/quantize/quantizable_ops.h"

namespace halftone {
namespace {

constexpr int kSevenBitLimit = 63;

constexpr std::string_view kNames[] = {"safe", "7 bits", "16 bits", "may saturate", "s8 activations"};

// What a dequantize_linear before this input reads; kNoValue if there is none.
ValueId Integers(const Graph& graph, NodeId id, int input) {
  const ValueId value = graph.input(id, input);
  if (!value.valid() || graph.op(value) != OpKind::kDequantizeLinear) return kNoValue;
  return graph.input(graph.producer(value), 0);
}

// The op whose inputs and weights an op of integers has; nullopt for others.
std::optional<OpKind> OpOfNumbers(OpKind op) {
  if (op == OpKind::kMatMulInteger || op == OpKind::kMatMulIntegerToFloat) return OpKind::kMatMul;
  return op == OpKind::kConvInteger ? std::optional(OpKind::kConv) : std::nullopt;
}

// The bytes that a contraction multiplies.
struct Operands {
  ValueId data = kNoValue;
  std::vector<ValueId> weights;  // that are constants
};

Operands OperandsOf(const Graph& graph, NodeId id) {
  Operands operands;
  const auto add_weights = [&](ValueId weights) {
    if (weights.valid() && graph.IsConstant(weights)) operands.weights.push_back(weights);
  };
  if (OpOfNumbers(graph.node(id).op).has_value()) {
    operands.data = graph.input(id, 0);
    const DataType type = graph.type(graph.input(id, 1));
    if (type == DataType::kInt8 || type == DataType::kUInt8) add_weights(graph.input(id, 1));
    return operands;
  }
  operands.data = Integers(graph, id, 0);
  for (const int i : QuantizableInputs(graph, id)) {
    if (!TakesWeights(QuantizedRoleOf(graph, id), i)) continue;
    const ValueId weights = Integers(graph, id, i);
    // Those of u8 have zero points of their own.
    if (weights.valid() && graph.type(weights) == DataType::kInt8) add_weights(weights);
  }
  return operands;
}

// As kernels multiply them: u8 is s8 of 128 less.
std::vector<int8_t> SignedBytes(const Tensor& weights) {
  if (weights.type() == DataType::kInt8) {
    const std::span<const int8_t> bytes = weights.data<int8_t>();
    return {bytes.begin(), bytes.end()};
  }
  std::vector<int8_t> bytes;
  for (const uint8_t byte : weights.data<uint8_t>()) bytes.push_back(static_cast<int8_t>(static_cast<int>(byte) - 128));
  return bytes;
}

std::optional<WeightChannels> ChannelsOf(const Node& node, std::span<const int64_t> dims) {
  Node numbers = node;
  numbers.op = OpOfNumbers(node.op).value_or(node.op);
  return WeightChannelsOf(numbers, dims);
}

// Whether there is a kernel that multiplies any bytes (runtime/cpu/simd/int8_matmul_avx2.h).
bool HasWideProduct(const Graph& graph, NodeId id, const Tensor& weights) {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kMatMul || node.op == OpKind::kGemm) return true;
  const std::optional<WeightChannels> channels = WeightChannelsOf(node, weights.dims());
  return node.op == OpKind::kConv && weights.rank() <= 4 && channels.has_value() && channels->groups == 1;
}

// Whether s8 as what it reads is no byte product without VNNI: ops of integers and recurrent ones. Others read it as u8
// of 128 more.
bool WantsUnsigned(const Graph& graph, NodeId id) {
  return OpOfNumbers(graph.node(id).op).has_value() || QuantizedRoleOf(graph, id) == QuantizedRole::kRecurrent;
}

}  // namespace

std::string_view SaturationName(Saturation saturation) { return kNames[static_cast<int>(saturation)]; }

std::vector<SaturationCheck> CheckSaturation(const Graph& graph) {
  std::vector<SaturationCheck> checks;
  for (const NodeId id : graph.TopologicalOrder()) {
    const Operands operands = OperandsOf(graph, id);
    if (!operands.data.valid() || operands.weights.empty()) continue;
    PairSums sums;
    bool narrow = true, wide = true;
    for (const ValueId weights : operands.weights) {
      const Tensor& tensor = *graph.ConstantTensor(weights);
      const std::vector<int8_t> bytes = SignedBytes(tensor);
      const std::optional<WeightChannels> channels = ChannelsOf(graph.node(id), tensor.dims());
      const PairSums own = channels.has_value() ? PairSumsOf(bytes, *channels) : PairSumsOfAny(bytes);
      sums = {std::max(sums.most, own.most), std::min(sums.least, own.least),
              std::max(sums.worst_output, own.worst_output)};
      narrow =
          narrow && std::ranges::all_of(bytes, [](int8_t w) { return w >= -kSevenBitLimit && w <= kSevenBitLimit; });
      wide = wide && HasWideProduct(graph, id, tensor);
    }
    SaturationCheck check{.node = graph.Label(id), .most = sums.most, .least = sums.least};
    if (graph.type(operands.data) == DataType::kInt8 && sums.worst_output >= 0 && WantsUnsigned(graph, id)) {
      check.saturation = Saturation::kHalvesWeights;
    } else if (!sums.fit()) {
      check.saturation = wide ? Saturation::kSixteenBits : Saturation::kMay;
    } else if (narrow) {
      check.saturation = Saturation::kSevenBits;
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace halftone
