// SPDX-License-Identifier: Apache-2.0
#include "optimizer/explain_int8.h"

#include <memory>

#include "absl/strings/str_format.h"
#include "base/strings.h"
#include "ir/quantization.h"
#include "ir/recurrent.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/quantized_values.h"

namespace halftone {
namespace {

// The scale and zero point of the quantize/dequantize pair before an input; "" where there is none.
std::string DescribePair(const Graph& graph, ValueId value) {
  if (!value.valid() || graph.op(value) != OpKind::kDequantizeLinear) return "";
  const NodeId dequantize = graph.producer(value);
  const std::shared_ptr<const Quantization> quantization = QuantizationOf(graph, dequantize);
  if (quantization == nullptr) return "";
  const ValueId integers = graph.input(dequantize, 0);
  const std::string type(DataTypeName(graph.type(integers)));
  if (!quantization->per_tensor()) return Concat(type, " with ", quantization->scales.size(), " scales");
  const float scale = quantization->scales[0];
  const int zero_point = quantization->zero_points[0];
  const IntegerRange limits = QuantizedRange(graph.type(integers)).value_or(IntegerRange{});
  return absl::StrFormat("%s scale %.6g zero point %d, [%.6g, %.6g]", type.c_str(), scale, zero_point,
                         scale * static_cast<float>(limits.low - zero_point),
                         scale * static_cast<float>(limits.high - zero_point));
}

// The quantized inputs of a node, after its reason.
std::string DescribeInputs(const Graph& graph, NodeId id) {
  const QuantizedRole role = QuantizedRoleOf(graph, id);
  std::string text;
  for (const int i : QuantizableInputs(graph, id)) {
    const std::string pair = DescribePair(graph, graph.input(id, i));
    if (pair.empty()) continue;
    const bool state_weights = role == QuantizedRole::kRecurrent && i == kRecurrentR;
    const std::string name = !MultipliesWeights(role) || i == 0 ? Concat("input ", i)
                             : i == 1                           ? "weights"
                             : state_weights                    ? "recurrent weights"
                                                                : "residual";
    text += Concat("; ", name, ": ", pair);
  }
  return text;
}

}  // namespace

std::map<std::string, ResultRange> ResultRanges(const Graph& base, const ValueRanges& ranges, const Graph& quantized) {
  std::map<std::string, ResultRange> results;
  for (const NodeId id : base.nodes()) {
    const ValueId result = base.output(id);
    const ValueRange* range = result.valid() ? ranges.Find(base, result) : nullptr;
    if (range != nullptr && quantized.alive(id)) results[quantized.Label(id)] = {range->min, range->max};
  }
  return results;
}

Int8Reasons ReasonsOfInt8(const Graph& quantized, const Int8Plan& plan, const Int8Search& search, Int8Mode mode,
                          bool has_fallback_plan) {
  Int8Reasons named;
  for (const auto& [id, reason] : plan.reasons) {
    if (!quantized.alive(id)) continue;
    const std::string label = quantized.Label(id);
    if (plan.nodes.contains(id)) {
      if (mode != Int8Mode::kWeightOnly) named.int8.insert(label);
      named.reasons[label] = {reason.rule, Concat(reason.text, DescribeInputs(quantized, id))};
    } else if (!has_fallback_plan || search.excluded.contains(id)) {
      named.reasons[label] = reason;
    }
  }
  for (const auto& [id, sqnr_db] : search.sqnr_alone) {
    if (quantized.alive(id)) named.sqnr_alone[quantized.Label(id)] = sqnr_db;
  }
  for (const NodeId id : quantized.nodes()) {
    const bool quantizes = quantized.op(id) == OpKind::kQuantizeLinear;
    const bool finds_range = quantized.op(id) == OpKind::kDynamicQuantizeLinear;
    if (!quantizes && !finds_range && quantized.op(id) != OpKind::kDequantizeLinear) continue;
    if (plan.reasons.contains(id)) continue;  // the model had it
    if (finds_range) {
      named.reasons[quantized.Label(id)] = {"conversion.quantize",
                                            "finds the range of a matmul's input, and rounds it"};
      continue;
    }
    const std::string pair = quantizes ? "" : DescribePair(quantized, quantized.output(id));
    named.reasons[quantized.Label(id)] = {"conversion.quantize",
                                          Concat("part of a quantize/dequantize pair", pair.empty() ? "" : ": ", pair)};
  }
  return named;
}

void ExplainInt8(const Int8Reasons& named, std::vector<NodeDecision>& decisions) {
  for (NodeDecision& decision : decisions) {
    if (const auto it = named.reasons.find(decision.node); it != named.reasons.end()) decision.reason = it->second;
    if (named.int8.contains(decision.node)) decision.precision = VariantKind::kInt8;
    const auto alone = named.sqnr_alone.find(decision.node);
    if (alone != named.sqnr_alone.end()) decision.sqnr_alone_db = alone->second;
    const auto result = named.results.find(decision.node);
    if (result != named.results.end()) decision.result = result->second;
  }
}

}  // namespace halftone
