// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/equalize_channels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/weight_channels.h"
#include "ir/window.h"
#include "passes/fusion/activation.h"
#include "passes/quantize/quantizable_ops.h"

namespace halftone {
namespace {

constexpr int kWeights = 1;
constexpr int kBias = 2;
constexpr int kResidual = 3;
constexpr int kMostRounds = 20;
constexpr double kSettled = 1e-3;  // of a scale's logarithm

// A contraction, and by what its weights are multiplied so far.
struct Layer {
  WeightChannels channels;
  std::vector<float> magnitudes;   // [output, input of the group]: of all taps
  std::vector<double> biases;      // [output]: magnitudes; 0 where there is none
  std::vector<double> of_outputs;  // weights and bias of an output channel are divided by it
  std::vector<double> of_inputs;   // weights of an input channel are multiplied by it

  double Magnitude(int64_t o, int64_t i) const {
    const int64_t input = channels.InputOf(o, i);
    return magnitudes[o * channels.inputs_per_group() + i] * of_inputs[input] / of_outputs[o];
  }
  std::vector<double> RangesOfOutputs() const {
    std::vector<double> ranges(channels.outputs, 0.0);
    for (int64_t o = 0; o < channels.outputs; ++o) {
      ranges[o] = biases[o] / of_outputs[o];
      for (int64_t i = 0; i < channels.inputs_per_group(); ++i) ranges[o] = std::max(ranges[o], Magnitude(o, i));
    }
    return ranges;
  }
  std::vector<double> RangesOfInputs() const {
    std::vector<double> ranges(channels.inputs, 0.0);
    for (int64_t o = 0; o < channels.outputs; ++o) {
      for (int64_t i = 0; i < channels.inputs_per_group(); ++i) {
        double& range = ranges[channels.InputOf(o, i)];
        range = std::max(range, Magnitude(o, i));
      }
    }
    return ranges;
  }
};

bool IsHomogeneous(Activation kind) {
  return kind == Activation::kNone || kind == Activation::kRelu || kind == Activation::kLeakyRelu;
}

// Whether the node scales with its input 0, channel by channel.
bool KeepsScales(const Graph& graph, NodeId id) {
  switch (graph.op(id)) {
    case OpKind::kRelu:
    case OpKind::kLeakyRelu:
    case OpKind::kPRelu:
    case OpKind::kAveragePool:
    case OpKind::kGlobalAveragePool:
    case OpKind::kGlobalMaxPool:
      return true;
    case OpKind::kMaxPool:
      return !graph.output(id, 1).valid();
    default:
      return false;
  }
}

bool IsContractionOp(const Graph& graph, NodeId id) {
  return QuantizedRoleOf(graph, id) == QuantizedRole::kContraction;
}

int OutputAxis(const Graph& graph, NodeId contraction) {
  const Shape& shape = graph.shape(graph.output(contraction));
  if (!shape.has_rank() || shape.rank() < 2) return -1;
  const OpKind op = graph.op(contraction);
  if (op != OpKind::kConv && op != OpKind::kConvTranspose) return shape.rank() - 1;
  return ChannelAxis(graph.node(contraction).attributes, shape.rank());
}

class Equalizer {
 public:
  Equalizer(GraphEditor& edit, PassContext& context, EqualizedPairs wanted, std::string_view pass)
      : edit_(edit), graph_(edit.graph()), context_(context), wanted_(wanted), pass_(pass) {}

  void Run() {
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (IsContractionOp(graph_, id)) FindPair(id);
    }
    for (int round = 0; round < kMostRounds && Settle() > kSettled; ++round) {
    }
    for (const auto& [id, layer] : layers_) Apply(id, layer);
  }

 private:
  // The contraction before this one, if the channels between them can be scaled.
  void FindPair(NodeId second) {
    ValueId between = graph_.input(second, 0);
    while (between.valid() && !IsContractionOp(graph_, graph_.producer(between))) {
      const NodeId id = graph_.producer(between);
      if (!graph_.HasOneUser(between) || !KeepsScales(graph_, id)) {
        // Only what could have been something is worth a word.
        const ValueId input = graph_.input(id, 0);
        if (ActivationOf(graph_, id).has_value() && input.valid() && IsContractionOp(graph_, graph_.producer(input)))
          Refuse(second, Concat("'", graph_.Label(id), "' does not scale with its input, or has another reader"));
        return;
      }
      between = graph_.input(id, 0);
    }
    if (!between.valid()) return;
    const NodeId first = graph_.producer(between);
    const std::string reason = WhyNot(first, second, between);
    if (!reason.empty()) return Refuse(second, Concat("after '", graph_.Label(first), "': ", reason));
    pairs_.emplace_back(first, second);
  }

  std::string WhyNot(NodeId first, NodeId second, ValueId between) {
    if (!graph_.HasOneUser(between)) return "its result has another reader";
    if (graph_.op(first) != OpKind::kGemm && graph_.input(first, kResidual).valid()) return "a residual is added to it";
    if (const ActivationSpec activation = FusedActivation(graph_, first); !IsHomogeneous(activation.kind))
      return Concat("its ", ActivationName(activation.kind), " does not scale with its input");
    if (OutputAxis(graph_, first) < 0 || OutputAxis(graph_, first) != InputChannelAxis(graph_, second))
      return "its channels lie along another dimension";
    for (const NodeId id : {first, second}) {
      if (const std::string reason = AddLayer(id); !reason.empty()) return Concat("'", graph_.Label(id), "': ", reason);
    }
    const std::string bias = AddBias(first);
    if (!bias.empty()) return bias;
    if (layers_.at(first).channels.outputs != layers_.at(second).channels.inputs) return "not as many channels";
    if (wanted_ == EqualizedPairs::kDepthwise && !IsDepthwise(first) && !IsDepthwise(second))
      return "neither of them is a depthwise convolution";
    return "";
  }

  bool IsDepthwise(NodeId id) const {
    const WeightChannels& channels = layers_.at(id).channels;
    return channels.groups > 1 && channels.inputs_per_group() == 1;
  }

  std::string AddLayer(NodeId id) {
    if (layers_.contains(id)) return "";
    const Tensor* weights = graph_.ConstantTensor(graph_.input(id, kWeights));
    const std::optional<WeightChannels> channels = WeightChannelsOf(graph_, id);
    if (weights == nullptr || weights->type() != DataType::kFloat32 || !channels.has_value())
      return "its weights are no constant matrix of f32";
    const Attributes& attributes = graph_.node(id).attributes;
    if (attributes.Float("scale", 1) != 1 || attributes.Float("alpha", 1) != 1 || attributes.Float("beta", 1) != 1)
      return "its products are scaled";
    Layer layer{.channels = *channels};
    const std::span<const float> elements = weights->data<float>();
    if (!std::ranges::all_of(elements, [](float w) { return std::isfinite(w); })) return "its weights are not finite";
    layer.magnitudes.reserve(channels->outputs * channels->inputs_per_group());
    for (int64_t o = 0; o < channels->outputs; ++o) {
      for (int64_t i = 0; i < channels->inputs_per_group(); ++i) {
        float magnitude = 0;
        for (int64_t tap = 0; tap < channels->taps; ++tap)
          magnitude = std::max(magnitude, std::abs(elements[channels->IndexOf(o, i, tap)]));
        layer.magnitudes.push_back(magnitude);
      }
    }
    layer.biases.assign(channels->outputs, 0.0);
    layer.of_outputs.assign(channels->outputs, 1.0);
    layer.of_inputs.assign(channels->inputs, 1.0);
    layers_.emplace(id, std::move(layer));
    return "";
  }

  std::string AddBias(NodeId id) {
    const ValueId bias = graph_.input(id, kBias);
    if (!bias.valid()) return "";
    Layer& layer = layers_.at(id);
    const Tensor* tensor = graph_.ConstantTensor(bias);
    if (tensor == nullptr || tensor->type() != DataType::kFloat32 || tensor->rank() != 1 ||
        tensor->num_elements() != layer.channels.outputs)
      return "its bias is no constant vector over the channels";
    for (int64_t o = 0; o < layer.channels.outputs; ++o) layer.biases[o] = std::abs(tensor->data<float>()[o]);
    const bool finite = std::ranges::all_of(layer.biases, [](double b) { return std::isfinite(b); });
    return finite ? "" : "its bias is not finite";
  }

  // One round over all pairs; the largest logarithm of a scale.
  double Settle() {
    double largest = 0;
    for (const auto& [first, second] : pairs_) {
      Layer& a = layers_.at(first);
      Layer& b = layers_.at(second);
      const std::vector<double> r1 = a.RangesOfOutputs(), r2 = b.RangesOfInputs();
      for (size_t c = 0; c < r1.size(); ++c) {
        if (r1[c] == 0 || r2[c] == 0) continue;
        const double scale = std::sqrt(r1[c] * r2[c]) / r2[c];
        a.of_outputs[c] *= scale;
        b.of_inputs[c] *= scale;
        largest = std::max(largest, std::abs(std::log(scale)));
      }
    }
    return largest;
  }

  void Apply(NodeId id, const Layer& layer) {
    const auto is_one = [](double scale) { return std::abs(scale - 1) < kSettled; };
    if (std::ranges::all_of(layer.of_outputs, is_one) && std::ranges::all_of(layer.of_inputs, is_one)) return;
    const Tensor& weights = *graph_.ConstantTensor(graph_.input(id, kWeights));
    const WeightChannels& channels = layer.channels;
    Tensor scaled(DataType::kFloat32, weights.dims());
    for (int64_t o = 0; o < channels.outputs; ++o) {
      for (int64_t i = 0; i < channels.inputs_per_group(); ++i) {
        const double factor = layer.of_inputs[channels.InputOf(o, i)] / layer.of_outputs[o];
        for (int64_t tap = 0; tap < channels.taps; ++tap) {
          const int64_t at = channels.IndexOf(o, i, tap);
          scaled.mutable_data<float>()[at] = static_cast<float>(weights.data<float>()[at] * factor);
        }
      }
    }
    edit_.SetInput(id, kWeights, edit_.AddConstant("", std::move(scaled)));
    const ValueId bias = graph_.input(id, kBias);
    if (bias.valid() && !std::ranges::all_of(layer.of_outputs, is_one)) {
      Tensor divided(DataType::kFloat32, {channels.outputs});
      const std::span<const float> numbers = graph_.ConstantTensor(bias)->data<float>();
      for (int64_t o = 0; o < channels.outputs; ++o)
        divided.mutable_data<float>()[o] = static_cast<float>(numbers[o] / layer.of_outputs[o]);
      edit_.SetInput(id, kBias, edit_.AddConstant("", std::move(divided)));
    }
    if (context_.log != nullptr) context_.log->Applied(pass_, graph_, id, "b(act(a(x))) => (b s)(act((a / s)(x)))");
  }

  void Refuse(NodeId id, TextArg reason) {
    if (context_.log != nullptr) context_.log->Refused(pass_, graph_, id, reason.std());
  }

  GraphEditor& edit_;
  const Graph& graph_;
  PassContext& context_;
  const EqualizedPairs wanted_;
  const std::string_view pass_;
  std::map<NodeId, Layer> layers_;
  std::vector<std::pair<NodeId, NodeId>> pairs_;
};

}  // namespace

absl::Status EqualizeChannels::Run(GraphEditor& edit, PassContext& context) const {
  Equalizer(edit, context, pairs_, name()).Run();
  return absl::OkStatus();
}

}  // namespace halftone
