// SPDX-License-Identifier: Apache-2.0
#include "tools/graph_reduce/shrink.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "ir/editor.h"
#include "ir/shape_inference.h"

namespace halftone {
namespace {

std::vector<int64_t> WithDim(std::vector<int64_t> dims, int64_t from, int64_t to) {
  std::replace(dims.begin(), dims.end(), from, to);
  return dims;
}

// The part of `tensor` at the lowest indices. REQUIRES: sized elements; no dimension of `dims` is larger than its own.
Tensor Corner(const Tensor& tensor, const std::vector<int64_t>& dims) {
  Tensor result(tensor.type(), dims);
  const size_t element = ElementSize(tensor.type());
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < dims.size(); ++d) offset = offset * tensor.dims()[d] + at[d];
    std::memcpy(result.mutable_raw() + i * element, tensor.raw() + offset * element, element);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  return result;
}

std::optional<Tensor> WithInts(const Tensor& tensor, int64_t from, int64_t to) {
  if (tensor.type() != DataType::kInt64 && tensor.type() != DataType::kInt32) return std::nullopt;
  std::vector<int64_t> numbers = tensor.ToInts();
  if (tensor.rank() > 1 || std::find(numbers.begin(), numbers.end(), from) == numbers.end()) return std::nullopt;
  std::replace(numbers.begin(), numbers.end(), from, to);
  return tensor.rank() == 0 ? Tensor::IntScalar(numbers[0], tensor.type()) : Tensor::Ints(numbers, tensor.type());
}

void SetConstant(GraphEditor& edit, NodeId id, Tensor tensor) {
  edit.SetShape(edit.graph().output(id), tensor.shape());
  edit.SetAttribute(id, "value", std::move(tensor));
}

void ReplaceInAttributes(GraphEditor& edit, NodeId id, int64_t from, int64_t to) {
  const Attributes attributes = edit.graph().node(id).attributes;
  for (const auto& [name, value] : attributes) {
    if (const auto* one = std::get_if<int64_t>(&value); one != nullptr && *one == from) edit.SetAttribute(id, name, to);
    if (const auto* many = std::get_if<std::vector<int64_t>>(&value))
      edit.SetAttribute(id, name, WithDim(*many, from, to));
  }
}

}  // namespace

std::vector<int64_t> DimensionsOf(const Graph& graph) {
  std::set<int64_t, std::greater<>> numbers;
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant) continue;
    const Shape& shape = graph.shape(graph.output(id));
    if (!shape.has_rank()) continue;
    for (const Dim& dim : shape.dims()) {
      if (dim.value > 1) numbers.insert(dim.value);
    }
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<int64_t> SmallerThan(int64_t number) {
  std::set<int64_t> smaller = {1, 2, 3, number / 2};
  std::erase_if(smaller, [number](int64_t n) { return n < 1 || n >= number; });
  return {smaller.begin(), smaller.end()};
}

std::optional<Graph> WithNumber(const Graph& graph, int64_t from, int64_t to, Replaced what) {
  Graph result = graph;
  GraphEditor edit(result);
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kInput) {
      Shape shape = graph.shape(graph.output(id));
      for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
        if (shape.dim(i).value == from) shape.mutable_dim(i) = Dim::Of(to);
      }
      edit.SetShape(graph.output(id), std::move(shape));
    } else if (graph.op(id) == OpKind::kConstant) {
      const Tensor* tensor = graph.ConstantTensor(graph.output(id));
      if (tensor == nullptr || ElementSize(tensor->type()) == 0) return std::nullopt;
      Tensor smaller = Corner(*tensor, WithDim(tensor->dims(), from, to));
      if (what != Replaced::kShapes) smaller = WithInts(smaller, from, to).value_or(smaller);
      SetConstant(edit, id, std::move(smaller));
    } else {
      if (what == Replaced::kEverywhere) ReplaceInAttributes(edit, id, from, to);
      const OpGroup group = Info(graph.op(id)).group;
      if (group == OpGroup::kOpaque || group == OpGroup::kStructural)
        continue;  // shape inference knows little of these
      for (const ValueId output : graph.node(id).outputs) {
        if (output.valid()) edit.SetShape(output, Shape());
      }
    }
  }
  if (!InferShapes(edit).ok()) return std::nullopt;
  return result;
}

std::optional<Graph> WithOnes(const Graph& graph, NodeId constant) {
  const Tensor* tensor = graph.ConstantTensor(graph.output(constant));
  if (tensor == nullptr || tensor->type() != DataType::kFloat32) return std::nullopt;
  const std::span<const float> numbers = tensor->data<float>();
  if (std::all_of(numbers.begin(), numbers.end(), [](float x) { return x == 1; })) return std::nullopt;
  Tensor ones(DataType::kFloat32, tensor->dims());
  for (float& x : ones.mutable_data<float>()) x = 1;
  Graph result = graph;
  GraphEditor edit(result);
  SetConstant(edit, constant, std::move(ones));
  return result;
}

}  // namespace halftone
