// SPDX-License-Identifier: Apache-2.0
#include "passes/core/memo_target.h"

#include <type_traits>
#include <variant>

namespace halftone {
namespace {

// A key that is equal only for equal queries: every part has a fixed length or is preceded by its length.
class Key {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Add(std::string_view text) {
    Add(text.size());
    text_ += text;
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T element : list) Add(element);
  }

  void Add(const Quantization* quantization) {
    Add(quantization != nullptr);
    if (quantization == nullptr) return;
    Add(quantization->scales);
    Add(quantization->zero_points);
    Add(quantization->axis);
  }

  void Add(const Graph& graph, ValueId value) {
    Add(value.valid());
    if (!value.valid()) return;
    Add(graph.type(value));
    Add(graph.IsConstant(value));
    Add(graph.quantization(value));
    const Shape& shape = graph.shape(value);
    Add(shape.has_rank() ? shape.rank() : -1);
    if (!shape.has_rank()) return;
    for (const Dim& dim : shape.dims()) {
      Add(dim.value);
      if (!dim.known()) Add(std::string_view(dim.symbol));
    }
  }

  // false: an attribute of a kind that is not compared.
  bool Add(const Attributes& attributes) {
    for (const auto& [name, value] : attributes) {
      Add(std::string_view(name));
      Add(value.index());
      const bool plain = std::visit(
          [this](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
              Add(v);
            } else if constexpr (std::is_same_v<T, std::string>) {
              Add(std::string_view(v));
            } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>>) {
              Add(v);
            } else {
              return false;
            }
            return true;
          },
          value);
      if (!plain) return false;
    }
    return true;
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

absl::Status MemoTarget::SupportsFused(const Graph& graph, NodeId id, const FusedParts& parts) const {
  const Node& node = graph.node(id);
  Key key;
  key.Add(node.op);
  key.Add(true);  // a node, not an op alone
  for (const bool part : {parts.bias, parts.residual, parts.scale, parts.broadcast_residual, parts.activation_first}) {
    key.Add(part);
  }
  key.Add(parts.activation);
  key.Add(node.inputs.size());
  for (const ValueId input : node.inputs) key.Add(graph, input);
  for (const ValueId output : node.outputs) key.Add(graph, output);
  if (!key.Add(node.attributes)) return target_.SupportsFused(graph, id, parts);
  const auto [reply, asked] = replies_.try_emplace(key.text());
  if (asked) reply->second = target_.SupportsFused(graph, id, parts);
  return reply->second;
}

absl::Status MemoTarget::SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const {
  Key key;
  key.Add(op);
  key.Add(false);
  key.Add(inputs.size());
  for (const ValueId input : inputs) key.Add(graph, input);
  const auto [reply, asked] = replies_.try_emplace(key.text());
  if (asked) reply->second = target_.SupportsOp(graph, op, inputs);
  return reply->second;
}

absl::Status MemoTarget::SupportsQuantized(const Graph& graph, NodeId id, std::span<const ValueId> inputs,
                                           ValueId output) const {
  const Node& node = graph.node(id);
  Key key;
  key.Add(node.op);
  key.Add(inputs.size());
  for (const ValueId input : inputs) key.Add(graph, input);
  key.Add(graph, output);
  if (!key.Add(node.attributes)) return target_.SupportsQuantized(graph, id, inputs, output);
  const auto [reply, asked] = quantized_replies_.try_emplace(key.text());
  if (asked) reply->second = target_.SupportsQuantized(graph, id, inputs, output);
  return reply->second;
}

}  // namespace halftone
