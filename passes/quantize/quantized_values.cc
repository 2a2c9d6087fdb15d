// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/quantized_values.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "passes/quantize/quantizable_ops.h"

namespace halftone {
namespace {

bool IsBytes(DataType type) { return type == DataType::kUInt8 || type == DataType::kInt8; }

// Values that must have one quantization, because nodes move numbers between them.
class Components {
 public:
  explicit Components(const Graph& graph)
      : parent_(graph.num_values()),
        said_(graph.num_values()),
        blocked_(graph.num_values(), false),
        size_(graph.num_values(), 1) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int Find(ValueId value) {
    int v = value.index;
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void Join(ValueId a, ValueId b) {
    const int x = Find(a), y = Find(b);
    if (x == y) return;
    parent_[y] = x;
    size_[x] += size_[y];
  }
  void Say(ValueId value, std::shared_ptr<const Quantization> quantization, bool by_producer) {
    const int root = Find(value);
    if (said_[root] == nullptr) {
      said_[root] = std::move(quantization);
    } else if (by_producer && !SameQuantization(said_[root].get(), quantization.get())) {
      blocked_[root] = true;
    }
  }
  void Block(ValueId value) { blocked_[Find(value)] = true; }
  bool IsBlocked(ValueId value) { return blocked_[Find(value)]; }
  std::shared_ptr<const Quantization> Of(ValueId value) {
    const int root = Find(value);
    const bool many = said_[root] != nullptr && !said_[root]->per_tensor() && size_[root] > 1;
    return blocked_[root] || many ? nullptr : said_[root];
  }

 private:
  std::vector<int> parent_;
  std::vector<std::shared_ptr<const Quantization>> said_;
  std::vector<bool> blocked_;
  std::vector<int> size_;
};

// The node moves integers from inputs to outputs.
bool MovesIntegers(const Graph& graph, NodeId id) {
  if (QuantizedRoleOf(graph, id) != QuantizedRole::kMove) return false;
  const std::vector<int> inputs = QuantizableInputs(graph, id);
  return !inputs.empty() && IsBytes(graph.type(graph.input(id, inputs[0]))) && !graph.HasControlEdges(id);
}

void JoinMoved(const Graph& graph, Components& components) {
  for (const NodeId id : graph.nodes()) {
    if (!MovesIntegers(graph, id)) continue;
    const ValueId first = graph.input(id, QuantizableInputs(graph, id)[0]);
    for (const int i : QuantizableInputs(graph, id)) components.Join(first, graph.input(id, i));
    for (const ValueId output : graph.node(id).outputs) {
      if (output.valid()) components.Join(first, output);
    }
  }
}

bool IsData(const Graph& graph, const Use& use) {
  const std::vector<int> inputs = QuantizableInputs(graph, use.node);
  return std::find(inputs.begin(), inputs.end(), use.index) != inputs.end();
}

}  // namespace

std::shared_ptr<const Quantization> QuantizationOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool quantizes = node.op == OpKind::kQuantizeLinear;
  if (!quantizes && node.op != OpKind::kDequantizeLinear) return nullptr;
  const ValueId integers = quantizes ? graph.output(id) : graph.input(id, 0);
  const ValueId numbers = quantizes ? graph.input(id, 0) : graph.output(id);
  const Tensor* scale = graph.ConstantTensor(graph.input(id, 1));
  const ValueId zero_input = graph.input(id, 2);
  const Tensor* zero = graph.ConstantTensor(zero_input);
  if (graph.type(numbers) != DataType::kFloat32 || node.attributes.Int("block_size", 0) != 0) return nullptr;
  if (scale == nullptr || scale->type() != DataType::kFloat32 || scale->rank() > 1 || scale->num_elements() == 0) {
    return nullptr;
  }
  const DataType type = graph.type(integers);
  if (zero_input.valid() && (zero == nullptr || zero->type() != type)) return nullptr;
  Quantization result;
  result.scales = scale->ToFloats();
  const size_t count = result.scales.size();
  result.zero_points.resize(count, 0);
  if (zero != nullptr) {
    const std::vector<int64_t> zeros = zero->ToInts();
    if (zeros.size() != count && zeros.size() != 1) return nullptr;
    for (size_t i = 0; i < count; ++i) result.zero_points[i] = static_cast<int32_t>(zeros[zeros.size() == 1 ? 0 : i]);
  }
  if (count > 1) {
    const Shape& shape = graph.shape(integers);
    int64_t axis = node.attributes.Int("axis", 1);
    if (!shape.has_rank()) return nullptr;
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) return nullptr;
    result.axis = static_cast<int>(axis);
  }
  if (!WrongQuantization(result, type, graph.shape(integers)).empty()) return nullptr;
  return std::make_shared<Quantization>(std::move(result));
}

void AnnotateIntegers(GraphEditor& edit) {
  const Graph& graph = edit.graph();
  Components components(graph);
  JoinMoved(graph, components);
  std::vector<ValueId> integers;
  for (const bool producers : {true, false}) {
    for (const NodeId id : graph.TopologicalOrder()) {
      const bool quantizes = graph.op(id) == OpKind::kQuantizeLinear;
      if (quantizes != producers) continue;
      std::shared_ptr<const Quantization> said = QuantizationOf(graph, id);
      const ValueId value = quantizes ? graph.output(id) : graph.input(id, 0);
      if (said == nullptr && quantizes) components.Block(value);
      if (said != nullptr) components.Say(value, std::move(said), quantizes);
    }
  }
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (!value.valid() || graph.quantization(value) != nullptr || !QuantizedRange(graph.type(value)).has_value())
        continue;
      integers.push_back(value);
      bool fits = PassesIntegers(graph.op(id)) || MovesIntegers(graph, id);
      for (const Use& use : graph.uses(value)) {
        fits = fits && (PassesIntegers(graph.op(use.node)) || (MovesIntegers(graph, use.node) && IsData(graph, use)));
      }
      if (!fits) components.Block(value);
    }
  }
  for (const ValueId value : integers) {
    std::shared_ptr<const Quantization> said = components.Of(value);
    if (said == nullptr || !WrongQuantization(*said, graph.type(value), graph.shape(value)).empty()) continue;
    edit.SetQuantization(value, std::move(said));
  }
}

void ForgetUnusedQuantizations(GraphEditor& edit, const std::set<NodeId>& kept) {
  const Graph& graph = edit.graph();
  Components components(graph);
  JoinMoved(graph, components);
  const auto computes = [&](NodeId id) {
    return kept.count(id) > 0 || (!PassesIntegers(graph.op(id)) && !MovesIntegers(graph, id));
  };
  std::vector<ValueId> annotated;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (!value.valid() || graph.quantization(value) == nullptr) continue;
      annotated.push_back(value);
      const std::vector<Use>& uses = graph.uses(value);
      const bool needed =
          computes(id) || std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return computes(use.node); });
      if (needed) components.Block(value);
    }
  }
  for (const ValueId value : annotated) {
    if (!components.IsBlocked(value)) edit.SetQuantization(value, nullptr);
  }
}

ValueId IntegersOf(const Graph& graph, ValueId number) {
  if (!number.valid() || graph.op(number) != OpKind::kDequantizeLinear) return kNoValue;
  const NodeId id = graph.producer(number);
  const ValueId integers = graph.input(id, 0);
  if (graph.quantization(integers) == nullptr) return kNoValue;
  return SameQuantization(QuantizationOf(graph, id).get(), graph.quantization(integers)) ? integers : kNoValue;
}

NodeId OnlyQuantize(const Graph& graph, ValueId number) {
  if (!graph.HasOneUser(number) || graph.type(number) != DataType::kFloat32) return kNoNode;
  const Use use = graph.uses(number)[0];
  if (graph.op(use.node) != OpKind::kQuantizeLinear || use.index != 0 || graph.HasControlEdges(use.node))
    return kNoNode;
  const Quantization* quantization = graph.quantization(graph.output(use.node));
  if (quantization == nullptr || !quantization->per_tensor()) return kNoNode;
  return SameQuantization(QuantizationOf(graph, use.node).get(), quantization) ? use.node : kNoNode;
}

}  // namespace halftone
