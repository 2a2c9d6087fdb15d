// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/correct_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "ir/weight_channels.h"
#include "ir/window.h"
#include "passes/quantize/channel_ranges.h"

namespace halftone {
namespace {

constexpr int kWeights = 1;
constexpr int kBias = 2;

int64_t FloorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Of `windows` with a tap at o * stride + offset, o = 0, 1, ..., the share of those where that is in [0, size).
double CoveredShare(int64_t windows, int64_t stride, int64_t offset, int64_t size) {
  const int64_t first = std::max<int64_t>(0, -FloorDivide(offset, stride));
  const int64_t last = std::min(windows - 1, FloorDivide(size - 1 - offset, stride));
  return windows > 0 ? static_cast<double>(std::max<int64_t>(0, last - first + 1)) / static_cast<double>(windows) : 1;
}

std::vector<int64_t> SpatialDims(const Shape& shape, const Attributes& attributes) {
  std::vector<int64_t> dims;
  const int first = FirstSpatialAxis(attributes);
  for (int i = 0; i < shape.rank() - 2; ++i) {
    if (!shape.dim(first + i).known()) return {};
    dims.push_back(shape.dim(first + i).value);
  }
  return dims;
}

std::vector<int64_t> KernelDims(const Graph& graph, NodeId conv) {
  const std::vector<int64_t> dims = graph.shape(graph.input(conv, kWeights)).values();
  const bool first = graph.node(conv).attributes.String("weights_layout", "OIHW") == "OIHW";
  return first ? std::vector<int64_t>(dims.begin() + 2, dims.end())
               : std::vector<int64_t>(dims.begin(), dims.end() - 2);
}

// By tap; 1 where sizes are not known.
std::vector<double> CoverageOfConv(const Graph& graph, NodeId conv, int64_t taps) {
  std::vector<double> coverage(taps, 1.0);
  const Attributes& attributes = graph.node(conv).attributes;
  const std::vector<int64_t> image = SpatialDims(graph.shape(graph.input(conv, 0)), attributes);
  const absl::StatusOr<Window> window = ResolveWindow(attributes, image, KernelDims(graph, conv));
  if (!window.ok()) return coverage;
  int64_t inner = taps;
  for (size_t d = 0; d < image.size(); ++d) {
    inner /= window->kernel[d];
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t offset = tap / inner % window->kernel[d] * window->dilations[d] - window->pads_begin[d];
      coverage[tap] *= CoveredShare(window->output[d], window->strides[d], offset, image[d]);
    }
  }
  return coverage;
}

// Every element of the image meets every tap once, but for those that are cropped.
std::vector<double> CoverageOfConvTranspose(const Graph& graph, NodeId node, int64_t taps) {
  const Attributes& attributes = graph.node(node).attributes;
  const std::vector<int64_t> image = SpatialDims(graph.shape(graph.input(node, 0)), attributes);
  const Shape& result = graph.shape(graph.output(node));
  double share = 1;
  if (result.has_rank()) {
    const std::vector<int64_t> output = SpatialDims(result, attributes);
    for (size_t d = 0; d < std::min(image.size(), output.size()); ++d)
      share *= static_cast<double>(image[d]) / static_cast<double>(std::max<int64_t>(1, output[d]));
  }
  return std::vector<double>(taps, share);
}

std::vector<double> CoverageOf(const Graph& graph, NodeId contraction, int64_t taps) {
  if (graph.op(contraction) == OpKind::kConv) return CoverageOfConv(graph, contraction, taps);
  if (graph.op(contraction) == OpKind::kConvTranspose) return CoverageOfConvTranspose(graph, contraction, taps);
  return std::vector<double>(taps, 1.0);
}

}  // namespace

absl::StatusOr<std::vector<double>> BiasShift(const Graph& graph, NodeId contraction, ValueId input,
                                              const Tensor& weights, const Tensor& rounded, const ValueRanges& ranges) {
  const std::optional<WeightChannels> channels = WeightChannelsOf(graph, contraction);
  if (!channels.has_value()) return absl::FailedPreconditionError("the weights are not one matrix of known size");
  const ValueRange* range =
      RangeOfChannels(graph, ranges, input, InputChannelAxis(graph, contraction), channels->inputs);
  if (range == nullptr || range->channel_means.size() != static_cast<size_t>(channels->inputs))
    return absl::FailedPreconditionError(
        Concat("no means of the channels of '", RangeName(graph, input), "' are known"));

  const std::vector<double> coverage = CoverageOf(graph, contraction, channels->taps);
  const std::span<const float> before = weights.data<float>(), after = rounded.data<float>();
  std::vector<double> shift(channels->outputs, 0.0);
  for (int64_t o = 0; o < channels->outputs; ++o) {
    for (int64_t i = 0; i < channels->inputs_per_group(); ++i) {
      double error = 0;
      for (int64_t tap = 0; tap < channels->taps; ++tap) {
        const int64_t at = channels->IndexOf(o, i, tap);
        error += (static_cast<double>(after[at]) - before[at]) * coverage[tap];
      }
      shift[o] += error * range->channel_means[channels->InputOf(o, i)];
    }
  }
  return shift;
}

absl::StatusOr<Tensor> CorrectedBias(const Graph& graph, NodeId contraction, const std::vector<double>& shift,
                                     const Target& target) {
  const Attributes& attributes = graph.node(contraction).attributes;
  if (attributes.Float("scale", 1) != 1 || attributes.Float("alpha", 1) != 1 || attributes.Float("beta", 1) != 1)
    return absl::FailedPreconditionError("products or bias are scaled before they are added");
  const ValueId bias = graph.input(contraction, kBias);
  const size_t count = shift.size();
  std::vector<float> numbers(count, 0.0f);
  if (bias.valid()) {
    const Tensor* tensor = graph.ConstantTensor(bias);
    const int64_t elements = tensor == nullptr ? -1 : tensor->num_elements();
    const bool fits = tensor != nullptr && tensor->type() == DataType::kFloat32 && tensor->rank() == 1 &&
                      (elements == 1 || elements == static_cast<int64_t>(count));
    if (!fits) return absl::FailedPreconditionError("the bias is no constant vector over the channels");
    for (size_t o = 0; o < count; ++o) numbers[o] = tensor->data<float>()[elements == 1 ? 0 : o];
  } else if (graph.op(contraction) == OpKind::kConv || graph.op(contraction) == OpKind::kMatMul) {
    HALFTONE_RETURN_IF_ERROR(target.SupportsFused(graph, contraction, {.bias = true}));
  }
  for (size_t o = 0; o < count; ++o) {
    numbers[o] = static_cast<float>(numbers[o] - shift[o]);
    if (!std::isfinite(numbers[o])) return absl::FailedPreconditionError("the corrected bias is not finite");
  }
  return Tensor::Of<float>({static_cast<int64_t>(count)}, numbers);
}

}  // namespace halftone
