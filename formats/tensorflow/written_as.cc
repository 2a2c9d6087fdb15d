// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/written_as.h"

#include <algorithm>

#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

bool SaysImplied(const Attributes& attributes, const AttrRow& row) {
  switch (row.form) {
    case AttrForm::kImpliedBool:
      return attributes.Bool(row.canonical, row.canonical_default != 0) == (row.tf_default != 0);
    case AttrForm::kImpliedInt:
      return attributes.Int(row.canonical, static_cast<int64_t>(row.canonical_default)) ==
             static_cast<int64_t>(row.tf_default);
    case AttrForm::kImpliedFloat:
      return attributes.Float(row.canonical, static_cast<float>(row.canonical_default)) ==
             static_cast<float>(row.tf_default);
    case AttrForm::kImpliedString:
      return attributes.String(row.canonical, row.text == "none" ? "none" : "") == row.text;
    default:  // only these are implied
      return true;
  }
}

// Where the NodeDef's inputs are the canonical ones in some order: the right ones are there.
bool HasInputs(const Node& node, const OpRow& row) {
  const bool counted = row.inputs.find_first_of("*[") != std::string_view::npos;
  if (counted || row.import != nullptr || row.kind == OpKind::kSqueeze) return true;
  const auto commas = std::count(row.inputs.begin(), row.inputs.end(), ',');
  std::vector<int> wanted = ReadOrder(row.order, row.inputs.empty() ? 0 : static_cast<int>(commas) + 1);
  const size_t count = std::max(wanted.size(), node.inputs.size());
  for (size_t i = 0; i < count; ++i) {
    const bool is_wanted = i < wanted.size() && wanted[i] != kAbsentInput;
    const bool is_there = i < node.inputs.size() && node.inputs[i].valid();
    if (is_wanted != is_there) return false;
  }
  return true;
}

}  // namespace

bool ReadsThroughCasts(const Graph& graph, NodeId id) {
  const OpRow* row = OwnWriter(graph, id);
  if (row == nullptr || row->kind != OpKind::kMatMul || row->outputs != "Tout") return false;
  for (int i = 0; i < 2; ++i) {
    const ValueId operand = graph.input(id, i);
    if (graph.op(operand) != OpKind::kCast) return false;
    if (graph.type(graph.input(graph.producer(operand), 0)) != DataType::kBFloat16) return false;
  }
  return true;
}

std::vector<int> ReadOrder(std::string_view order, int count) {
  std::vector<int> numbers;
  if (order.empty()) {
    for (int i = 0; i < count; ++i) numbers.push_back(i);
  }
  for (const char c : order) {
    if (c != '+') numbers.push_back(c == '-' ? kAbsentInput : c - '0');
    for (int i = 0; c == '+' && i < count; ++i) {
      if (i > 9 || order.find(static_cast<char>('0' + i)) == std::string_view::npos) numbers.push_back(i);
    }
  }
  return numbers;
}

bool RowFits(const Graph& graph, NodeId id, const OpRow& row) {
  const Node& node = graph.node(id);
  if (row.kind != node.op || row.is_parts || !HasInputs(node, row)) return false;
  return std::all_of(row.attrs.begin(), row.attrs.end(),
                     [&](const AttrRow& attr) { return SaysImplied(node.attributes, attr); });
}

const OpRow* SpelledRow(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const OpRow* row : RowsNamed(node.spelling)) {
    if (RowFits(graph, id, *row)) return row;
  }
  const std::span<const OpRow* const> rows = RowsOf(node.op);
  for (const bool plain : {true, false}) {  // rows that write themselves come last
    for (const OpRow* row : rows) {
      if (plain == (row->write == nullptr) && RowFits(graph, id, *row)) return row;
    }
  }
  return rows.empty() ? nullptr : rows.front();
}

const OpRow* OwnWriter(const Graph& graph, NodeId id) {
  for (const OpRow* row : RowsNamed(graph.node(id).spelling)) {
    if (row->write != nullptr && RowFits(graph, id, *row)) return row;
  }
  return nullptr;
}

WrittenAs::WrittenAs(const Graph& graph, bool quantized_ops)
    : graph_(graph), groups_(quantized_ops ? QuantizedGroups(graph) : QuantizedGroups()) {
  const std::vector<NodeId> nodes = graph.nodes();
  is_silent_.resize(nodes.empty() ? 0 : nodes.back().index + 1, false);
  FindParts();
  FindHelpers();
}

// All of them are there, in one place, and still what they were.
void WrittenAs::FindParts() {
  std::map<std::string, std::vector<NodeId>> groups;
  for (const NodeId id : graph_.nodes()) {
    const Node& node = graph_.node(id);
    const std::string group = node.extra.String(kExtraPartOf, "");
    const std::vector<int64_t> part = node.extra.Ints(kExtraPart);
    const std::span<const OpRow* const> rows = RowsNamed(node.spelling);
    const bool same_op = !rows.empty() && rows.front()->is_parts && rows.front()->kind == node.op;
    if (group.empty() || part.size() != 2 || !same_op || part[1] < 1 || part[1] > kMaxPorts) continue;
    std::vector<NodeId>& nodes = groups[group];
    nodes.resize(part[1], kNoNode);
    if (part[0] >= 0 && part[0] < part[1]) nodes[part[0]] = id;
  }
  for (auto& [name, nodes] : groups) {
    const auto is_one = [&](NodeId id) {
      return id.valid() && graph_.node(id).spelling == graph_.node(nodes[0]).spelling &&
             graph_.node(id).device == graph_.node(nodes[0]).device &&
             graph_.node(id).control_inputs == graph_.node(nodes[0]).control_inputs &&
             (id == nodes[0] || graph_.control_users(id).empty());
    };
    if (!nodes[0].valid() || !std::all_of(nodes.begin(), nodes.end(), is_one)) continue;
    for (size_t i = 1; i < nodes.size(); ++i) {
      is_silent_[nodes[i].index] = true;
      part_[nodes[i]] = {nodes[0], static_cast<int>(i)};
    }
    parts_[nodes[0]] = nodes;
  }
}

// A cast whose consumers are all matmuls that take its input directly.
bool IsAbsorbed(const Graph& graph, NodeId cast) {
  const Node& node = graph.node(cast);
  if (node.op != OpKind::kCast || graph.HasControlEdges(cast) || graph.IsOutput(node.outputs[0])) return false;
  const std::vector<Use>& uses = graph.uses(node.outputs[0]);
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.index < 2 && ReadsThroughCasts(graph, use.node);
  });
}

// Readers come before what they read.
void WrittenAs::FindHelpers() {
  const std::vector<NodeId> order = graph_.TopologicalOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph_.node(*it);
    const std::string made_for = node.extra.String(kExtraHelper, "");
    if (groups_.IsInside(*it)) {
      is_silent_[it->index] = true;
      continue;
    }
    if (node.op == OpKind::kQuantizeLinear) {
      is_silent_[it->index] = !groups_.HasRange(*it) && IsFakeQuantized(graph_, *it);
      continue;
    }
    if (IsAbsorbed(graph_, *it)) {
      is_silent_[it->index] = true;
      continue;
    }
    if (made_for.empty() || !node.name.empty() || node.outputs.size() != 1 || graph_.HasControlEdges(*it)) continue;
    const std::vector<Use>& uses = graph_.uses(node.outputs[0]);
    is_silent_[it->index] = !uses.empty() && !graph_.IsOutput(node.outputs[0]) &&
                            std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
                              const Node& reader = graph_.node(use.node);
                              if (is_silent_[use.node.index] && reader.extra.String(kExtraHelper, "") == made_for)
                                return true;
                              return reader.spelling == made_for && OwnWriter(graph_, use.node) != nullptr;
                            });
  }
}

FileTensor WrittenAs::Of(ValueId value) const {
  const NodeId producer = graph_.producer(value);
  if (const auto it = part_.find(producer); it != part_.end()) return it->second;
  const int port = graph_.value(value).port;
  const Node& node = graph_.node(producer);
  if (node.op == OpKind::kOpaque) return {producer, port};
  const OpRow* row = SpelledRow(graph_, producer);
  if (row == nullptr || row->output_order.empty()) return {producer, port};
  return {producer, static_cast<size_t>(port) < row->output_order.size() ? row->output_order[port] - '0' : port};
}

const std::vector<NodeId>* WrittenAs::PartsOf(NodeId id) const {
  const auto it = parts_.find(id);
  return it == parts_.end() ? nullptr : &it->second;
}

}  // namespace halftone::graphdef
