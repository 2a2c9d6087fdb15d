// SPDX-License-Identifier: Apache-2.0
#include "ir/weight_channels.h"

#include <string>
#include <vector>

#include "ir/window.h"

namespace halftone {
namespace {

constexpr int kWeights = 1;

int64_t Product(const std::vector<int64_t>& dims, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t i = from; i < to; ++i) product *= dims[i];
  return product;
}

// [O, I/g, spatial...], [spatial..., I/g, O], [spatial..., C, M]
std::optional<WeightChannels> OfConv(const Attributes& attributes, const std::vector<int64_t>& dims) {
  const std::string layout = attributes.String("weights_layout", "OIHW");
  const size_t rank = dims.size();
  WeightChannels w;
  w.groups = attributes.Int("group", 1);
  if (layout == "OIHW") {
    w.outputs = dims[0];
    w.inputs = dims[1] * w.groups;
    w.taps = Product(dims, 2, rank);
    w.output_stride = dims[1] * w.taps;
    w.input_stride = w.taps;
    w.tap_stride = 1;
  } else if (layout == "HWIO") {
    w.outputs = dims[rank - 1];
    w.inputs = dims[rank - 2] * w.groups;
    w.taps = Product(dims, 0, rank - 2);
    w.output_stride = 1;
    w.input_stride = w.outputs;
    w.tap_stride = dims[rank - 2] * w.outputs;
  } else {
    w.groups = w.inputs = dims[rank - 2];
    w.outputs = dims[rank - 2] * dims[rank - 1];
    w.taps = Product(dims, 0, rank - 2);
    w.output_stride = 1;
    w.tap_stride = w.outputs;
  }
  if (w.groups < 1 || w.outputs % w.groups != 0) return std::nullopt;
  w.group_stride = w.outputs_per_group() * w.output_stride;
  return w;
}

// [I, O/g, spatial...], [spatial..., O/g, I]
std::optional<WeightChannels> OfConvTranspose(const Attributes& attributes, const std::vector<int64_t>& dims) {
  const size_t rank = dims.size();
  WeightChannels w;
  w.groups = attributes.Int("group", 1);
  if (attributes.String("weights_layout", "IOHW") == "IOHW") {
    w.inputs = dims[0];
    w.outputs = dims[1] * w.groups;
    w.taps = Product(dims, 2, rank);
    w.output_stride = w.taps;
    w.input_stride = dims[1] * w.taps;
    w.tap_stride = 1;
  } else {
    w.inputs = dims[rank - 1];
    w.outputs = dims[rank - 2] * w.groups;
    w.taps = Product(dims, 0, rank - 2);
    w.output_stride = w.inputs;
    w.input_stride = 1;
    w.tap_stride = dims[rank - 2] * w.inputs;
  }
  if (w.groups < 1 || w.inputs % w.groups != 0) return std::nullopt;
  w.group_stride = w.inputs_per_group() * w.input_stride;
  return w;
}

std::optional<WeightChannels> OfMatrix(const Attributes& attributes, const std::vector<int64_t>& dims) {
  const size_t rank = dims.size();
  if (Product(dims, 0, rank - 2) != 1) return std::nullopt;
  const int64_t rows = dims[rank - 2], columns = dims[rank - 1];
  const bool transposed = attributes.Bool("transpose_b", false);
  WeightChannels w;
  w.outputs = transposed ? rows : columns;
  w.inputs = transposed ? columns : rows;
  w.output_stride = transposed ? columns : 1;
  w.input_stride = transposed ? 1 : columns;
  return w;
}

// [directions, rows of gates, K]
std::optional<WeightChannels> OfRecurrent(const std::vector<int64_t>& dims) {
  if (dims.size() != 3) return std::nullopt;
  WeightChannels w;
  w.outputs = dims[0] * dims[1];
  w.inputs = w.output_stride = dims[2];
  w.input_stride = 1;
  return w;
}

}  // namespace

std::optional<WeightChannels> WeightChannelsOf(const Graph& graph, NodeId contraction) {
  const ValueId weights = graph.input(contraction, kWeights);
  if (!weights.valid() || !graph.shape(weights).fully_known()) return std::nullopt;
  return WeightChannelsOf(graph.node(contraction), graph.shape(weights).values());
}

std::optional<WeightChannels> WeightChannelsOf(const Node& node, std::span<const int64_t> weight_dims) {
  const std::vector<int64_t> dims(weight_dims.begin(), weight_dims.end());
  if (dims.size() < 2 || Product(dims, 0, dims.size()) == 0) return std::nullopt;
  switch (node.op) {
    case OpKind::kConv:
      return OfConv(node.attributes, dims);
    case OpKind::kConvTranspose:
      return OfConvTranspose(node.attributes, dims);
    case OpKind::kMatMul:
    case OpKind::kGemm:
      return OfMatrix(node.attributes, dims);
    case OpKind::kLstm:
    case OpKind::kGru:
    case OpKind::kRnn:
      return OfRecurrent(dims);
    default:
      return std::nullopt;
  }
}

int InputChannelAxis(const Graph& graph, NodeId contraction) {
  const Node& node = graph.node(contraction);
  const ValueId input = graph.input(contraction, 0);
  if (!input.valid() || !graph.shape(input).has_rank() || graph.shape(input).rank() < 2) return -1;
  const int rank = graph.shape(input).rank();
  if (node.op == OpKind::kConv || node.op == OpKind::kConvTranspose) return ChannelAxis(node.attributes, rank);
  return node.attributes.Bool("transpose_a", false) ? rank - 2 : rank - 1;
}

}  // namespace halftone
