// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <algorithm>
#include <queue>

#include "base/strings.h"

namespace halftone {

std::vector<NodeId> Graph::nodes() const {
  std::vector<NodeId> result;
  result.reserve(num_alive_);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr) result.push_back({static_cast<int32_t>(i)});
  }
  return result;
}

ValueId Graph::input(NodeId id, int i) const {
  const std::vector<ValueId>& inputs = node(id).inputs;
  return i >= 0 && static_cast<size_t>(i) < inputs.size() ? inputs[i] : kNoValue;
}

ValueId Graph::output(NodeId id, int i) const {
  const std::vector<ValueId>& outputs = node(id).outputs;
  return i >= 0 && static_cast<size_t>(i) < outputs.size() ? outputs[i] : kNoValue;
}

bool Graph::IsOutput(ValueId id) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [id](const GraphOutput& output) { return output.value == id; });
}

bool Graph::IsCaptured(ValueId id) const {
  return std::any_of(uses(id).begin(), uses(id).end(), [this](const Use& use) {
    const Node& user = node(use.node);
    const int capture = use.index - static_cast<int>(user.inputs.size() - user.captures.size());
    return capture >= 0 && !user.captures[capture].empty();
  });
}

bool Graph::HasOneUser(ValueId id) const {
  return uses(id).size() == 1 && !IsOutput(id) && !IsCaptured(id) && control_users(producer(id)).empty();
}

const std::vector<NodeId>& Graph::control_users(NodeId id) const {
  static const std::vector<NodeId>* const none = new std::vector<NodeId>();
  const auto it = control_users_.find(id);
  return it == control_users_.end() ? *none : it->second;
}

bool Graph::HasControlEdges(NodeId id) const { return !node(id).control_inputs.empty() || !control_users(id).empty(); }

NodeId Graph::FindNode(std::string_view name) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr && nodes_[i]->name == name) return {static_cast<int32_t>(i)};
  }
  return kNoNode;
}

ValueId Graph::FindValue(std::string_view name) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].name == name && alive(values_[i].producer)) return {static_cast<int32_t>(i)};
  }
  return kNoValue;
}

std::string Graph::Label(NodeId id) const {
  const Node& n = node(id);
  if (!n.name.empty()) return n.name;
  for (const ValueId output_value : n.outputs) {
    if (output_value.valid() && !value(output_value).name.empty()) return value(output_value).name;
  }
  return Concat("#", id.index);
}

const Tensor* Graph::ConstantTensor(ValueId id) const {
  if (!IsConstant(id)) return nullptr;
  const AttributeValue* value = node(producer(id)).attributes.find("value");
  return value == nullptr ? nullptr : std::get_if<Tensor>(value);
}

std::optional<std::vector<int64_t>> Graph::ConstantInts(ValueId id) const {
  const Tensor* tensor = ConstantTensor(id);
  if (tensor == nullptr || !IsInteger(tensor->type())) return std::nullopt;
  return tensor->ToInts();
}

std::optional<double> Graph::ConstantScalar(ValueId id) const {
  const Tensor* tensor = ConstantTensor(id);
  if (tensor == nullptr || tensor->num_elements() != 1 || ElementSize(tensor->type()) == 0) return std::nullopt;
  if (tensor->type() == DataType::kComplex64 || tensor->type() == DataType::kComplex128) return std::nullopt;
  return tensor->ToDoubles()[0];
}

std::vector<NodeId> Graph::TopologicalOrder() const {
  // Kahn's algorithm; a heap of indices keeps the order of nodes() among those that are ready.
  std::vector<int32_t> waiting(nodes_.size(), 0);
  std::vector<int32_t> first(nodes_.size() + 1, 0);  // of a node's followers, in one list of all
  const auto for_each_edge = [this](auto visit) {
    for (size_t to = 0; to < nodes_.size(); ++to) {
      if (nodes_[to] == nullptr) continue;
      for (const ValueId input_value : nodes_[to]->inputs) {
        if (input_value.valid()) visit(producer(input_value), to);
      }
      for (const NodeId control : nodes_[to]->control_inputs) visit(control, to);
    }
  };
  const auto counts = [this](NodeId from) { return alive(from) && node(from).op != OpKind::kNextIteration; };
  for_each_edge([&](NodeId from, size_t to) {
    if (!counts(from)) return;
    ++first[from.index + 1];
    ++waiting[to];
  });
  for (size_t i = 0; i < nodes_.size(); ++i) first[i + 1] += first[i];
  std::vector<int32_t> followers(first.back());
  std::vector<int32_t> next(first.begin(), first.end() - 1);
  for_each_edge([&](NodeId from, size_t to) {
    if (counts(from)) followers[next[from.index]++] = static_cast<int32_t>(to);
  });

  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr && waiting[i] == 0) ready.push(static_cast<int32_t>(i));
  }
  std::vector<NodeId> order;
  order.reserve(num_alive_);
  while (!ready.empty()) {
    const int32_t index = ready.top();
    ready.pop();
    order.push_back({index});
    waiting[index] = -1;  // placed
    for (int32_t i = first[index]; i < first[index + 1]; ++i) {
      if (--waiting[followers[i]] == 0) ready.push(followers[i]);
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr && waiting[i] >= 0) order.push_back({static_cast<int32_t>(i)});
  }
  return order;
}

}  // namespace halftone
