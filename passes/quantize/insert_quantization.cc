// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/insert_quantization.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/pair_sums.h"
#include "ir/recurrent.h"
#include "ir/weight_channels.h"
#include "passes/quantize/correct_bias.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/recurrent_state.h"
#include "passes/quantize/weight_clipping.h"
#include "passes/quantize/weights_quantizer.h"

namespace halftone {
namespace {

constexpr int kWeights = 1;
constexpr int kBias = 2;
constexpr int kFullWeights = 127;
constexpr int kNarrowWeights = 63;
// In the log.
constexpr std::string_view kCorrectBias = "correct-bias";
constexpr std::string_view kClipWeights = "clip-weights";
constexpr std::string_view kNarrowWeightsName = "narrow-weights";

// Values that get one range: unions of what nodes join.
class RangeGroups {
 public:
  void Join(ValueId a, ValueId b) {
    const ValueId x = Find(a), y = Find(b);
    if (x != y) parent_[y] = x;
  }
  ValueId Find(ValueId value) {
    auto it = parent_.find(value);
    while (it != parent_.end() && it->second != value) {
      value = it->second;
      it = parent_.find(value);
    }
    return value;
  }

 private:
  std::map<ValueId, ValueId> parent_;
};

struct Bounds {
  float min = 0;
  float max = 0;
};

// One graph while it is quantized.
class Inserter {
 public:
  Inserter(GraphEditor& edit, PassContext& context, const ValueRanges& ranges, const QuantizeOptions& options,
           std::string_view pass)
      : edit_(edit), graph_(edit.graph()), context_(context), ranges_(ranges), options_(options), pass_(pass) {}

  absl::Status Run(const std::set<NodeId>& nodes) {
    std::vector<NodeId> order;
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (nodes.count(id) > 0) order.push_back(id);
    }
    for (const NodeId id : order) JoinRanges(id);
    for (const ValueId value : AllValues()) AddBounds(value);
    for (const NodeId id : order) {
      const std::string refusal = WhyNot(id);
      if (refusal.empty()) {
        HALFTONE_RETURN_IF_ERROR(Quantize(id));
        if (context_.log != nullptr) context_.log->Applied(pass_, graph_, id, "op(x, w) => op(dq(q(x)), dq(w))");
      } else if (context_.log != nullptr) {
        context_.log->Refused(pass_, graph_, id, refusal);
      }
    }
    return absl::OkStatus();
  }

 private:
  std::vector<ValueId> AllValues() const {
    std::vector<ValueId> values;
    for (const NodeId id : graph_.nodes()) {
      for (const ValueId value : graph_.node(id).outputs) {
        if (value.valid()) values.push_back(value);
      }
    }
    return values;
  }

  // Inputs that become integers but for constants, which are quantized on their own or stay as they are.
  std::vector<int> Activations(NodeId id) const {
    std::vector<int> activations;
    for (const int i : QuantizableInputs(graph_, id)) {
      if (!graph_.IsConstant(graph_.input(id, i))) activations.push_back(i);
    }
    return activations;
  }

  void JoinRanges(NodeId id) {
    const std::vector<int> activations = Activations(id);
    if (activations.empty()) return;
    const ValueId first = graph_.input(id, activations[0]);
    const bool moves = QuantizedRoleOf(graph_, id) == QuantizedRole::kMove;
    const bool sum = graph_.op(id) == OpKind::kAdd && options_.common_range_of_sums;
    if (!moves && !sum) return;
    for (const int i : activations) groups_.Join(first, graph_.input(id, i));
    for (const ValueId output : graph_.node(id).outputs) {
      if (moves && output.valid()) groups_.Join(first, output);
    }
  }

  void AddBounds(ValueId value) {
    const ValueRange* range = ranges_.Find(graph_, value);
    if (range == nullptr) return;
    const auto [it, first] = bounds_.try_emplace(groups_.Find(value), Bounds{range->min, range->max});
    if (first) return;
    it->second.min = std::min(it->second.min, range->min);
    it->second.max = std::max(it->second.max, range->max);
  }

  std::string WhyNot(NodeId id) {
    const QuantizedRole role = QuantizedRoleOf(graph_, id);
    const Node& node = graph_.node(id);
    if (role == QuantizedRole::kNone) return "no integers for this op";
    if (role == QuantizedRole::kRecurrent) {
      if (!options_.recurrent) return "the format has no op for it that could read integers";
      if (node.op == OpKind::kGru && graph_.input(id, kGruAttention).valid())
        return "with attention it is written as its parts";
      if (!graph_.IsConstant(node.inputs[kRecurrentW]) || !graph_.IsConstant(node.inputs[kRecurrentR]))
        return "its weights are computed";
      if (const std::string why = WhyNoStateRange(graph_, id, ranges_); !why.empty()) return why;
    }
    const std::vector<int> activations = Activations(id);
    if (activations.empty()) return "it reads constants alone";
    if (role == QuantizedRole::kMove && activations.size() != QuantizableInputs(graph_, id).size()) {
      return "it joins constants and computed values";
    }
    for (const int i : QuantizableInputs(graph_, id)) {
      const ValueId value = node.inputs[i];
      if (graph_.type(value) != DataType::kFloat32) {
        return Concat("input ", i, " is ", DataTypeName(graph_.type(value)), ", need f32");
      }
      if (graph_.IsConstant(value) || scales_.count(value) > 0) continue;
      const auto it = bounds_.find(groups_.Find(value));
      if (it == bounds_.end()) return Concat("no range of '", RangeName(graph_, value), "' is known");
      const absl::Status status = ParametersOf(it->second).status();
      if (!status.ok()) return Concat("range of '", RangeName(graph_, value), "': ", status.message());
    }
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      if (!TakesWeights(role, i)) continue;
      const Tensor* weights = graph_.ConstantTensor(node.inputs[i]);
      if (weights == nullptr) continue;
      const absl::Status status = QuantizationOfWeights(*weights, WeightsAxis(id), kFullWeights).status();
      if (!status.ok()) return std::string(StdView(status.message()));
    }
    return "";
  }

  absl::StatusOr<QuantizationParameters> ParametersOf(const Bounds& bounds) const {
    return QuantizationFor(bounds.min, bounds.max,
                           {.type = options_.activations, .symmetric = options_.symmetric_activations});
  }

  int WeightsAxis(NodeId id) const {
    const bool product = graph_.op(id) == OpKind::kMatMul || graph_.op(id) == OpKind::kGemm;
    const bool per_channel = options_.per_channel_weights && (options_.per_channel_products || !product);
    return per_channel ? OutputChannelAxis(graph_, id) : -1;
  }

  struct RoundedWeights {
    Tensor integers;
    Quantization quantization;
    bool clipped = false;
  };

  absl::StatusOr<RoundedWeights> RoundWeights(NodeId id, ValueId input, const Tensor& weights, int limit) const {
    const int axis = WeightsAxis(id);
    std::vector<float> shares;
    if (options_.clip_weights && input.valid())
      shares = KeptShares(graph_, id, input, weights, axis >= 0, limit, ranges_);
    HALFTONE_ASSIGN_OR_RETURN(Quantization quantization, QuantizationOfWeights(weights, axis, limit, shares));
    Tensor integers = QuantizedWeights(weights, quantization, limit);
    const bool clipped = std::ranges::any_of(shares, [](float share) { return share < 1; });
    return RoundedWeights{std::move(integers), std::move(quantization), clipped};
  }

  // Input `i` of the node, weights, in s8, of 7 bits where that is asked for or needed. `input`: the data they are
  // multiplied by; kNoValue: that has no means to clip them by.
  absl::StatusOr<RoundedWeights> WeightsOf(NodeId id, int i, ValueId input) {
    const Tensor& weights = *graph_.ConstantTensor(graph_.input(id, i));
    const bool narrow = options_.narrow_weights.count(id) > 0;
    HALFTONE_ASSIGN_OR_RETURN(RoundedWeights result,
                              RoundWeights(id, input, weights, narrow ? kNarrowWeights : kFullWeights));
    if (options_.reduce_range && !narrow) {
      const std::span<const int8_t> integers = result.integers.data<int8_t>();
      const std::optional<WeightChannels> channels = WeightChannelsOf(graph_.node(id), weights.dims());
      const PairSums sums = channels.has_value() ? PairSumsOf(integers, *channels) : PairSumsOfAny(integers);
      if (!sums.fit()) {
        HALFTONE_ASSIGN_OR_RETURN(result, RoundWeights(id, input, weights, kNarrowWeights));
        Applied(kNarrowWeightsName, id,
                Concat("weights of 7 bits: a pair of products could reach ", sums.most, " or ", sums.least));
      }
    }
    if (result.clipped) Applied(kClipWeights, id, "w => clip(w), by the error of the result");
    return result;
  }

  void Applied(std::string_view name, NodeId id, TextArg what) {
    if (context_.log != nullptr) context_.log->Applied(name, graph_, id, what.std());
  }

  // The value after quantize_linear and dequantize_linear; one pair for all who read it. REQUIRES: it has bounds, or is
  // one already
  absl::StatusOr<ValueId> Rounded(ValueId value) {
    if (scales_.count(value) > 0) return value;
    if (const auto it = rounded_.find(value); it != rounded_.end()) return it->second;
    HALFTONE_ASSIGN_OR_RETURN(const QuantizationParameters parameters, ParametersOf(bounds_.at(groups_.Find(value))));
    const ValueId real = AddQuantizePair(edit_, value, options_.activations,
                                         Quantization::PerTensor(parameters.scale, parameters.zero_point));
    scales_[real] = parameters.scale;
    rounded_[value] = real;
    return real;
  }

  absl::Status Quantize(NodeId id) {
    const QuantizedRole role = QuantizedRoleOf(graph_, id);
    const ValueId input = graph_.input(id, 0);
    for (const int i : Activations(id)) {
      HALFTONE_ASSIGN_OR_RETURN(const ValueId real, Rounded(graph_.input(id, i)));
      edit_.SetInput(id, i, real);
    }
    const bool fixed_weights = role == QuantizedRole::kContraction && graph_.IsConstant(graph_.input(id, kWeights));
    if (fixed_weights) HALFTONE_RETURN_IF_ERROR(QuantizeWeights(id, input));
    if (role == QuantizedRole::kRecurrent) HALFTONE_RETURN_IF_ERROR(QuantizeRecurrent(id));
    if (options_.quantize_results) HALFTONE_RETURN_IF_ERROR(QuantizeResult(id));
    return absl::OkStatus();
  }

  // Both matrices, and the state between them.
  absl::Status QuantizeRecurrent(NodeId id) {
    for (const int i : {kRecurrentW, kRecurrentR}) {
      HALFTONE_ASSIGN_OR_RETURN(const RoundedWeights rounded, WeightsOf(id, i, kNoValue));
      edit_.SetInput(id, i, SharedWeights(graph_.input(id, i), rounded));
    }
    const StateRange range = StateRangeOf(graph_, id, ranges_);
    HALFTONE_ASSIGN_OR_RETURN(const QuantizationParameters state, ParametersOf({range.min, range.max}));
    QuantizeState(edit_, id, options_.activations, Quantization::PerTensor(state.scale, state.zero_point));
    return absl::OkStatus();
  }

  ValueId SharedWeights(ValueId weights, const RoundedWeights& rounded) {
    const auto key = std::pair(weights, rounded.quantization.ToString());
    const auto [it, first] = shared_weights_.try_emplace(key, kNoValue);
    if (first) it->second = AddDequantized(edit_, rounded.integers, rounded.quantization);
    return it->second;
  }

  // Weights, and the bias by their scales. `input`: what the node's input 0 was before it was quantized.
  absl::Status QuantizeWeights(NodeId id, ValueId input) {
    HALFTONE_ASSIGN_OR_RETURN(const RoundedWeights rounded, WeightsOf(id, kWeights, input));
    const Quantization& quantization = rounded.quantization;
    const ValueId weights = graph_.input(id, kWeights);
    edit_.SetInput(id, kWeights, SharedWeights(weights, rounded));
    if (options_.correct_bias) {
      CorrectBias(id, input, *graph_.ConstantTensor(weights), Dequantized(rounded.integers, quantization));
    }
    const ValueId bias = graph_.input(id, kBias);
    const auto scale = scales_.find(graph_.input(id, 0));
    if (!graph_.IsConstant(bias) || scale == scales_.end() || !BiasIsPlain(id)) return absl::OkStatus();
    std::optional<QuantizedBias> in_steps = QuantizeBias(*graph_.ConstantTensor(bias), scale->second, quantization);
    if (in_steps.has_value()) {
      edit_.SetInput(id, kBias, AddDequantized(edit_, std::move(in_steps->integers), in_steps->quantization));
    }
    return absl::OkStatus();
  }

  // The bias takes up the mean error of the rounded weights.
  void CorrectBias(NodeId id, ValueId input, const Tensor& weights, const Tensor& rounded) {
    const absl::StatusOr<std::vector<double>> shift = BiasShift(graph_, id, input, weights, rounded, ranges_);
    if (shift.ok() && std::ranges::all_of(*shift, [](double number) { return number == 0; })) return;
    const absl::StatusOr<Tensor> corrected =
        shift.ok() ? CorrectedBias(graph_, id, *shift, context_.target) : absl::StatusOr<Tensor>(shift.status());
    if (corrected.ok()) edit_.SetInput(id, kBias, edit_.AddConstant("", *corrected));
    if (corrected.ok()) {
      Applied(kCorrectBias, id, "b => b - (dq(q(w)) - w) E[x]");
    } else if (context_.log != nullptr) {
      context_.log->Refused(kCorrectBias, graph_, id, StdView(corrected.status().message()));
    }
  }

  // Added to the sum of products as it is.
  bool BiasIsPlain(NodeId id) const {
    const Attributes& attributes = graph_.node(id).attributes;
    return attributes.Float("scale", 1) == 1 && attributes.Float("alpha", 1) == 1 && attributes.Float("beta", 1) == 1;
  }

  absl::Status QuantizeResult(NodeId id) {
    const ValueId result = graph_.output(id);
    if (!result.valid() || graph_.type(result) != DataType::kFloat32 || rounded_.count(result) > 0) {
      return absl::OkStatus();
    }
    const auto bounds = bounds_.find(groups_.Find(result));
    if (bounds == bounds_.end() || !ParametersOf(bounds->second).ok()) return absl::OkStatus();
    const std::vector<Use> uses = graph_.uses(result);
    HALFTONE_ASSIGN_OR_RETURN(const ValueId real, Rounded(result));
    for (const Use& use : uses) edit_.SetInput(use.node, use.index, real);
    if (!options_.quantize_outputs || !graph_.IsOutput(result)) return absl::OkStatus();
    std::vector<GraphOutput> outputs = graph_.outputs();
    for (GraphOutput& output : outputs) {
      if (output.value == result) output.value = real;
    }
    edit_.SetGraphOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  GraphEditor& edit_;
  const Graph& graph_;
  PassContext& context_;
  const ValueRanges& ranges_;
  const QuantizeOptions& options_;
  const std::string_view pass_;
  RangeGroups groups_;
  std::map<ValueId, Bounds> bounds_;  // by group
  std::map<ValueId, ValueId> rounded_;
  std::map<ValueId, float> scales_;  // of the results of dequantize_linear
  std::map<std::pair<ValueId, std::string>, ValueId> shared_weights_;
};

}  // namespace

absl::Status InsertQuantization::Run(GraphEditor& edit, PassContext& context) const {
  return Inserter(edit, context, ranges_, options_, name()).Run(nodes_);
}

}  // namespace halftone
