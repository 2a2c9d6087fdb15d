// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/smooth_activations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/weight_channels.h"

namespace halftone {
namespace {

constexpr int kWeights = 1;

bool IsProduct(const Graph& graph, NodeId id) {
  return graph.op(id) == OpKind::kMatMul || graph.op(id) == OpKind::kGemm;
}

// A constant of f32 with one finite number for each channel of the last dimension.
bool IsChannelVector(const Graph& graph, ValueId value, int64_t channels) {
  const Tensor* tensor = graph.ConstantTensor(value);
  if (tensor == nullptr || tensor->type() != DataType::kFloat32 || tensor->num_elements() != channels) return false;
  return tensor->rank() >= 1 && tensor->dims().back() == channels;
}

// The inputs of the node that makes a value whose constants, divided, divide the value; empty if it has none.
std::vector<int> DividedInputs(const Graph& graph, NodeId id, int64_t channels) {
  std::vector<int> inputs;
  switch (graph.op(id)) {
    case OpKind::kLayerNorm:
      inputs = {1, 2};
      break;
    case OpKind::kSkipLayerNorm:
      inputs = {2, 3};
      break;
    case OpKind::kRmsNorm:
      inputs = {1};
      break;
    case OpKind::kMul:
      inputs = {graph.IsConstant(graph.input(id, 1)) ? 1 : 0};
      break;
    default:
      return {};
  }
  std::erase_if(inputs, [&](int i) { return !graph.input(id, i).valid(); });
  const bool all =
      std::ranges::all_of(inputs, [&](int i) { return IsChannelVector(graph, graph.input(id, i), channels); });
  return all ? inputs : std::vector<int>();
}

// One value and the products that read it.
class Smoother {
 public:
  Smoother(GraphEditor& edit, PassContext& context, ValueRanges& ranges, std::string_view pass)
      : edit_(edit), graph_(edit.graph()), context_(context), ranges_(ranges), pass_(pass) {}

  void Run() {
    std::set<ValueId> seen;
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (!IsProduct(graph_, id)) continue;
      const ValueId x = graph_.input(id, 0);
      if (!x.valid() || graph_.IsConstant(x) || !seen.insert(x).second) continue;
      const std::string reason = Smooth(x);
      if (context_.log == nullptr) continue;
      if (reason.empty()) {
        context_.log->Applied(pass_, graph_, id, "matmul(x, w) => matmul(x / s, s w)");
      } else {
        context_.log->Refused(pass_, graph_, id, reason);
      }
    }
  }

 private:
  // "" where it was done, else why not.
  std::string Smooth(ValueId x) {
    const auto found = ranges_.values.find(RangeName(graph_, x));
    const Shape& shape = graph_.shape(x);
    if (found == ranges_.values.end() || !shape.has_rank() || found->second.channel_axis != shape.rank() - 1)
      return Concat("nothing is known of the channels of '", RangeName(graph_, x), "'");
    ValueRange& range = found->second;
    const std::vector<float>& magnitudes = range.channel_magnitudes;
    const int64_t channels = static_cast<int64_t>(magnitudes.size());
    if (!HasOutliers(magnitudes)) return "no channel is an outlier";
    const NodeId producer = graph_.producer(x);
    const std::vector<int> divided = DividedInputs(graph_, producer, channels);
    if (divided.empty() || graph_.output(producer) != x)
      return Concat("'", graph_.Label(producer), "' has no constants of its channels to divide");
    if (graph_.IsOutput(x) || graph_.IsCaptured(x)) return Concat("'", RangeName(graph_, x), "' is an output");
    std::vector<float> of_weights(channels, 0.0f);
    for (const Use& use : graph_.uses(x)) {
      const std::string reason = AddWeights(use, of_weights);
      if (!reason.empty()) return Concat("'", graph_.Label(use.node), "' reads it: ", reason);
    }
    std::vector<float> scales(channels, 1.0f);
    for (int64_t c = 0; c < channels; ++c) {
      const float scale = std::sqrt(magnitudes[c]) / std::sqrt(of_weights[c]);
      if (std::isnormal(scale) && std::isnormal(1 / scale)) scales[c] = scale;
    }
    for (const int input : divided) Divide(producer, input, scales);
    const std::vector<Use> uses = graph_.uses(x);
    for (const Use& use : uses) Multiply(use.node, scales);
    DivideRange(range, scales);
    return "";
  }

  static bool HasOutliers(std::vector<float> magnitudes) {
    if (magnitudes.empty()) return false;
    const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
    const float largest = *std::ranges::max_element(magnitudes);
    std::ranges::nth_element(magnitudes, middle);
    return largest > 0 && largest >= SmoothActivations::kOutlier * *middle;
  }

  // The largest magnitude of each row; why the reader cannot take it.
  std::string AddWeights(const Use& use, std::vector<float>& largest) const {
    if (!IsProduct(graph_, use.node) || use.index != 0) return "it is no product with weights";
    if (graph_.node(use.node).attributes.Bool("transpose_a", false)) return "its operand is transposed";
    const Tensor* weights = graph_.ConstantTensor(graph_.input(use.node, kWeights));
    const std::optional<WeightChannels> channels = WeightChannelsOf(graph_, use.node);
    if (weights == nullptr || weights->type() != DataType::kFloat32 || !channels.has_value() ||
        channels->inputs != static_cast<int64_t>(largest.size()))
      return "its weights are no constant matrix of f32";
    for (int64_t i = 0; i < channels->inputs; ++i) {
      for (int64_t o = 0; o < channels->outputs; ++o) {
        const float magnitude = std::abs(weights->data<float>()[channels->IndexOf(o, i, 0)]);
        if (!std::isfinite(magnitude)) return "its weights are not finite";
        largest[i] = std::max(largest[i], magnitude);
      }
    }
    return "";
  }

  void Divide(NodeId id, int input, std::span<const float> scales) {
    const Tensor& before = *graph_.ConstantTensor(graph_.input(id, input));
    Tensor after(DataType::kFloat32, before.dims());
    for (size_t c = 0; c < scales.size(); ++c) after.mutable_data<float>()[c] = before.data<float>()[c] / scales[c];
    edit_.SetInput(id, input, edit_.AddConstant("", std::move(after)));
  }

  void Multiply(NodeId id, std::span<const float> scales) {
    const Tensor& before = *graph_.ConstantTensor(graph_.input(id, kWeights));
    const WeightChannels channels = *WeightChannelsOf(graph_, id);
    Tensor after(DataType::kFloat32, before.dims());
    for (int64_t o = 0; o < channels.outputs; ++o) {
      for (int64_t i = 0; i < channels.inputs; ++i) {
        const int64_t at = channels.IndexOf(o, i, 0);
        after.mutable_data<float>()[at] = before.data<float>()[at] * scales[i];
      }
    }
    edit_.SetInput(id, kWeights, edit_.AddConstant("", std::move(after)));
  }

  // By magnitudes alone: signs of channels are not known, but whether all have the same.
  static void DivideRange(ValueRange& range, std::span<const float> scales) {
    float largest = 0;
    for (size_t c = 0; c < scales.size(); ++c) {
      range.channel_magnitudes[c] /= scales[c];
      if (!range.channel_means.empty()) range.channel_means[c] /= scales[c];
      largest = std::max(largest, range.channel_magnitudes[c]);
    }
    range.min = range.observed_min = range.observed_min < 0 ? -largest : 0;
    range.max = range.observed_max = range.observed_max > 0 ? largest : 0;
    range.calibrator = Calibrator::kMinMax;
    range.bin_width = 0;
  }

  GraphEditor& edit_;
  const Graph& graph_;
  PassContext& context_;
  ValueRanges& ranges_;
  const std::string_view pass_;
};

}  // namespace

absl::Status SmoothActivations::Run(GraphEditor& edit, PassContext& context) const {
  Smoother(edit, context, ranges_, name()).Run();
  return absl::OkStatus();
}

}  // namespace halftone
