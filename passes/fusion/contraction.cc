// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/contraction.h"

#include <algorithm>
#include <cmath>

#include "absl/log/check.h"
#include "base/strings.h"

namespace halftone {
namespace {

enum class WeightsLayout { kOIHW, kHWIO, kHWCM, kColumns, kRows };

WeightsLayout LayoutOf(const Graph& g, NodeId contraction) {
  const Attributes& attributes = g.node(contraction).attributes;
  if (g.op(contraction) == OpKind::kMatMul) {
    return attributes.Bool("transpose_b", false) ? WeightsLayout::kRows : WeightsLayout::kColumns;
  }
  const std::string layout = attributes.String("weights_layout", "OIHW");
  if (layout == "HWIO") return WeightsLayout::kHWIO;
  return layout == "HWCM" ? WeightsLayout::kHWCM : WeightsLayout::kOIHW;
}

// The weights of one output channel are contiguous runs of `inner` elements: the channel of element i is
// (i / inner) % channels.
int64_t InnerSize(WeightsLayout layout, std::span<const int64_t> dims) {
  int64_t inner = 1;
  switch (layout) {
    case WeightsLayout::kOIHW:
      for (size_t i = 1; i < dims.size(); ++i) inner *= dims[i];
      return inner;
    case WeightsLayout::kRows:
      return dims.back();
    case WeightsLayout::kHWIO:
    case WeightsLayout::kHWCM:  // [.., C, M]: the channel is c * M + m, which is the order in memory
    case WeightsLayout::kColumns:
      return 1;
  }
  return inner;
}

// Calls run(begin, end, channel) for each run of elements of one output channel, until one returns false; whether none
// did. No division per element: a model has millions of weights.
template <typename Run>
bool EveryChannelRun(const Tensor& weights, size_t inner, size_t channels, Run run) {
  const size_t size = static_cast<size_t>(weights.num_elements());
  for (size_t begin = 0, channel = 0; begin < size; begin += inner) {
    if (!run(begin, begin + inner, channel)) return false;
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
  return true;
}

}  // namespace

bool IsContraction(const Graph& g, NodeId id) { return g.op(id) == OpKind::kConv || g.op(id) == OpKind::kMatMul; }
bool HasBias(const Graph& g, NodeId id) { return g.input(id, kBiasInput).valid(); }
bool HasResidual(const Graph& g, NodeId id) { return g.input(id, kResidualInput).valid(); }
bool HasActivation(const Graph& g, NodeId id) { return !g.node(id).attributes.String("activation", "").empty(); }

std::optional<int> ResultRank(const Graph& g, NodeId contraction) {
  const Shape& shape = g.shape(g.output(contraction));
  if (shape.has_rank()) return shape.rank();
  if (g.op(contraction) != OpKind::kConv) return std::nullopt;
  const Shape& weights = g.shape(g.input(contraction, kWeightsInput));
  return weights.has_rank() ? std::optional<int>(weights.rank()) : std::nullopt;
}

int ChannelAxis(const Graph& g, NodeId contraction, int rank) {
  const bool second =
      g.op(contraction) == OpKind::kConv && g.node(contraction).attributes.String("layout", "NCHW") == "NCHW";
  return second ? 1 : rank - 1;
}

int AxisOf(const Graph& g, ValueId axis, int rank) {
  const std::optional<double> number = axis.valid() ? g.ConstantScalar(axis) : 0.0;
  return number.has_value() ? static_cast<int>(*number < 0 ? *number + rank : *number) : -1;
}

std::optional<int64_t> OutputChannels(const Graph& g, NodeId contraction) {
  const Shape& weights = g.shape(g.input(contraction, kWeightsInput));
  if (!weights.has_rank() || weights.rank() < 2) return std::nullopt;
  const auto known = [](const Dim& dim) { return dim.known() ? std::optional<int64_t>(dim.value) : std::nullopt; };
  switch (LayoutOf(g, contraction)) {
    case WeightsLayout::kOIHW:
      return known(weights.dim(0));
    case WeightsLayout::kHWIO:
    case WeightsLayout::kColumns:
      return known(weights.dim(-1));
    case WeightsLayout::kRows:
      return known(weights.dim(-2));
    case WeightsLayout::kHWCM:
      if (!weights.dim(-1).known() || !weights.dim(-2).known()) return std::nullopt;
      return CheckedProduct(std::vector<int64_t>{weights.dim(-1).value, weights.dim(-2).value});
  }
  return std::nullopt;
}

std::optional<Tensor> ChannelVector(const Graph& g, ValueId constant, int64_t channels, int axis, int rank) {
  const Tensor* tensor = constant.valid() ? g.ConstantTensor(constant) : nullptr;
  if (tensor == nullptr || tensor->rank() > rank || tensor->type() != DataType::kFloat32) return std::nullopt;
  const int first = rank - tensor->rank();  // broadcasting aligns at the end
  for (int i = 0; i < tensor->rank(); ++i) {
    const int64_t wanted = first + i == axis ? tensor->num_elements() : 1;
    if (tensor->dims()[i] != wanted) return std::nullopt;
  }
  if (tensor->num_elements() == channels) return tensor->WithDims({channels});
  if (tensor->num_elements() != 1) return std::nullopt;
  const float value = tensor->data<float>()[0];
  return Tensor::Of<float>({channels}, std::vector<float>(channels, value));
}

std::optional<Tensor> ChannelVector(const Graph& g, ValueId constant, NodeId contraction) {
  const std::optional<int> rank = ResultRank(g, contraction);
  const std::optional<int64_t> channels = OutputChannels(g, contraction);
  if (!rank.has_value() || !channels.has_value()) return std::nullopt;
  return ChannelVector(g, constant, *channels, ChannelAxis(g, contraction, *rank), *rank);
}

Tensor ScaleWeights(const Graph& g, NodeId contraction, std::span<const double> scale) {
  const Tensor& weights = *g.ConstantTensor(g.input(contraction, kWeightsInput));
  const int64_t channels = static_cast<int64_t>(scale.size());
  CHECK_EQ(channels, OutputChannels(g, contraction).value_or(-1));
  const size_t inner = static_cast<size_t>(InnerSize(LayoutOf(g, contraction), weights.dims()));
  Tensor result(DataType::kFloat32, weights.dims());
  const std::span<const float> from = weights.data<float>();
  const std::span<float> to = result.mutable_data<float>();
  EveryChannelRun(weights, inner, scale.size(), [&](size_t begin, size_t end, size_t channel) {
    for (size_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * scale[channel]);
    return true;
  });
  return result;
}

bool StaysFinite(const Graph& g, NodeId contraction, std::span<const double> scale, std::span<const double> offset) {
  const Tensor& weights = *g.ConstantTensor(g.input(contraction, kWeightsInput));
  const Tensor* bias = HasBias(g, contraction) ? g.ConstantTensor(g.input(contraction, kBiasInput)) : nullptr;
  for (size_t c = 0; c < scale.size(); ++c) {
    const double old = bias == nullptr ? 0 : bias->data<float>()[bias->num_elements() == 1 ? 0 : c];
    const double number = old * scale[c] + (offset.empty() ? 0 : offset[c]);
    if (!std::isfinite(static_cast<float>(number))) return false;
  }
  const size_t inner = static_cast<size_t>(InnerSize(LayoutOf(g, contraction), weights.dims()));
  const std::span<const float> numbers = weights.data<float>();
  return EveryChannelRun(weights, inner, scale.size(), [&](size_t begin, size_t end, size_t channel) {
    return std::all_of(numbers.begin() + begin, numbers.begin() + end,
                       [&](float number) { return std::isfinite(static_cast<float>(number * scale[channel])); });
  });
}

Tensor VectorOf(std::span<const double> values) {
  std::vector<float> floats(values.begin(), values.end());
  return Tensor::Of<float>({static_cast<int64_t>(floats.size())}, floats);
}

void ReplaceByNode(GraphEditor& edit, NodeId last, Node node) {
  const Graph& g = edit.graph();
  node.device = g.node(last).device;
  node.origin = g.node(last).origin;
  const ValueId y = g.output(last);
  edit.ReplaceNode(last, edit.AddNode(std::move(node), {{g.type(y), g.shape(y), "", g.value(y).quantization}}));
}

bool SameShape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i) || (!a.dim(i).known() && a.dim(i).symbol.empty())) return false;
  }
  return true;
}

std::string FreshName(const Graph& g, const std::string& base) {
  std::string name = base;
  for (int i = 1; g.HasName(name); ++i) name = Concat(base, "_", i);
  return name;
}

FindResult FindEitherOperand(const Graph& g, NodeId add, const Target& target, FindAddend find) {
  const auto [left, right] = g.inputs<2>(add);
  if (!left.valid() || !right.valid() || left == right) return No("it adds a value to itself");
  FindResult found = find(g, add, right, left, target);
  if (std::holds_alternative<Match>(found)) return found;
  FindResult other = find(g, add, left, right, target);
  if (std::holds_alternative<Match>(other) || std::get<Refusal>(other).matched) return other;
  return found;
}

}  // namespace halftone
