// SPDX-License-Identifier: Apache-2.0
// How many floating-point operations a node is: what GFLOP/s refer to. Only products that are summed count.
#include <map>
#include <string>

#include "ir/attention.h"
#include "ir/window.h"
#include "runtime/measure/profile.h"

namespace halftone {
namespace {

// 0 where the shape is not known.
double Elements(const Graph& graph, ValueId value) {
  if (!value.valid()) return 0;
  const Shape& shape = graph.shape(value);
  if (!shape.has_rank() || !shape.fully_known()) return 0;
  double product = 1;
  for (const int64_t dim : shape.values()) product *= static_cast<double>(dim);
  return product;
}

double DimOf(const Graph& graph, ValueId value, int from_end) {
  if (Elements(graph, value) == 0) return 0;
  const Shape& shape = graph.shape(value);
  return shape.rank() < from_end ? 1 : static_cast<double>(shape.dim(shape.rank() - from_end).value);
}

// Each output element sums over the weights of its channel.
double Conv(const Graph& graph, NodeId id) {
  const ValueId weights = graph.input(id, 1);
  const double elements = Elements(graph, weights);
  if (elements == 0) return 0;
  const Shape& shape = graph.shape(weights);
  const std::string layout = graph.node(id).attributes.String("weights_layout", "OIHW");
  const int rank = shape.rank();
  double outputs = static_cast<double>(shape.dim(0).value);
  if (layout == "HWIO") outputs = static_cast<double>(shape.dim(rank - 1).value);
  if (layout == "HWCM") outputs = static_cast<double>(shape.dim(rank - 2).value * shape.dim(rank - 1).value);
  return 2 * Elements(graph, graph.output(id)) * elements / outputs;
}

// Each input element meets the weights of its channel.
double ConvTranspose(const Graph& graph, NodeId id) {
  const ValueId x = graph.input(id, 0);
  if (Elements(graph, x) == 0) return 0;
  const Shape& shape = graph.shape(x);
  const double channels = static_cast<double>(shape.dim(ChannelAxis(graph.node(id).attributes, shape.rank())).value);
  return 2 * Elements(graph, x) * Elements(graph, graph.input(id, 1)) / channels;
}

double MatMul(const Graph& graph, NodeId id) {
  const bool transposed = graph.node(id).attributes.Bool("transpose_a", false);
  return 2 * Elements(graph, graph.output(id)) * DimOf(graph, graph.input(id, 0), transposed ? 2 : 1);
}

// The product of the sizes of all letters; an ellipsis is not counted.
double Einsum(const Graph& graph, NodeId id) {
  const std::string equation = graph.node(id).attributes.String("equation", "");
  if (equation.find('.') != std::string::npos) return 0;
  std::map<char, double> sizes;
  int input = 0, axis = 0;
  for (const char c : equation.substr(0, equation.find('-'))) {
    if (c == ',') {
      ++input;
      axis = 0;
    } else if (c != ' ') {
      const ValueId value = graph.input(id, input);
      if (Elements(graph, value) == 0 || axis >= graph.shape(value).rank()) return 0;
      sizes[c] = static_cast<double>(graph.shape(value).dim(axis++).value);
    }
  }
  double product = 2;
  for (const auto& [letter, size] : sizes) product *= size;
  return input == 1 ? product : 0;
}

// Two products in each step, of the input and of the state.
double Recurrent(const Graph& graph, NodeId id) {
  const ValueId x = graph.input(id, 0);
  const double width = DimOf(graph, x, 1);
  if (width == 0) return 0;
  return 2 * Elements(graph, x) / width * (Elements(graph, graph.input(id, 1)) + Elements(graph, graph.input(id, 2)));
}

double Attention(const Graph& graph, NodeId id) {
  std::vector<Shape> inputs;
  for (const ValueId input : graph.node(id).inputs) inputs.push_back(input.valid() ? graph.shape(input) : Shape());
  const absl::StatusOr<AttentionSizes> sizes = SizesOfAttention(graph.node(id).attributes, inputs);
  if (!sizes.ok() || !sizes->batch.known() || !sizes->steps.known() || !sizes->total.known() ||
      !sizes->hidden.known() || !sizes->value_hidden.known()) {
    return 0;
  }
  const double width = DimOf(graph, graph.input(id, 0), 1);
  const double hidden = static_cast<double>(sizes->hidden.value);
  const double values = static_cast<double>(sizes->value_hidden.value);
  const double rows = static_cast<double>(sizes->batch.value) * static_cast<double>(sizes->steps.value);
  return 2 * rows * width * (2 * hidden + values) +
         2 * rows * static_cast<double>(sizes->total.value) * (hidden + values);
}

// q k^T and the product with v, over all stacks of matrices of the result.
double ScaledAttention(const Graph& graph, NodeId id) {
  const ValueId q = graph.input(id, 0), v = graph.input(id, 2), y = graph.output(id);
  const double width = DimOf(graph, v, 1), depth = DimOf(graph, q, 1);
  return width == 0 ? 0 : 2 * Elements(graph, y) / width * DimOf(graph, v, 2) * (depth + width);
}

}  // namespace

double FlopOf(const Graph& graph, NodeId node) {
  switch (graph.op(node)) {
    case OpKind::kConv:
    case OpKind::kConvInteger:
      return Conv(graph, node);
    case OpKind::kConvTranspose:
      return ConvTranspose(graph, node);
    case OpKind::kMatMul:
    case OpKind::kGemm:
    case OpKind::kMatMulInteger:
    case OpKind::kMatMulIntegerToFloat:
      return MatMul(graph, node);
    case OpKind::kEinsum:
      return Einsum(graph, node);
    case OpKind::kLstm:
    case OpKind::kGru:
    case OpKind::kRnn:
      return Recurrent(graph, node);
    case OpKind::kAttention:
      return Attention(graph, node);
    case OpKind::kScaledDotProductAttention:
      return ScaledAttention(graph, node);
    default:
      return 0;
  }
}

}  // namespace halftone
