// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/loop_lists.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/subgraphs.h"

namespace halftone::onnx_format {
namespace {

bool IsOp(const onnx::NodeProto& node, std::string_view op) {
  return node.op_type() == op && (node.domain().empty() || node.domain() == "ai.onnx");
}

int64_t IntOf(const onnx::NodeProto& node, std::string_view name, int64_t otherwise) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

onnx::GraphProto* BodyOf(onnx::NodeProto& loop) {
  for (onnx::AttributeProto& attribute : *loop.mutable_attribute()) {
    if (attribute.name() == "body" && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

// The consumers of each name.
class Readers {
 public:
  explicit Readers(const onnx::GraphProto& graph) {
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto& node = graph.node(i);
      for (const std::string& input : node.input()) nodes_[input].push_back(i);
      if (!HasSubgraph(node)) continue;
      for (const std::string& name : CapturedNames(node)) elsewhere_.insert(name);
    }
    for (const onnx::ValueInfoProto& output : graph.output()) elsewhere_.insert(output.name());
  }
  // By subgraphs, or as an output.
  bool Elsewhere(const std::string& name) const { return elsewhere_.contains(name); }
  const std::vector<int>& Nodes(const std::string& name) const {
    static const std::vector<int> kNone;
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? kNone : it->second;
  }

 private:
  std::map<std::string, std::vector<int>> nodes_;
  std::set<std::string> elsewhere_;
};

// The node of the body that appends to state `state`, if nothing else uses the state.
onnx::NodeProto* FindAppend(onnx::GraphProto& body, const Readers& readers, int state) {
  const std::string& before = body.input(2 + state).name();
  const std::string& after = body.output(1 + state).name();
  if (readers.Elsewhere(before) || readers.Nodes(before).size() != 1 || !readers.Nodes(after).empty()) return nullptr;
  int as_output = 0;
  for (const onnx::ValueInfoProto& output : body.output()) as_output += output.name() == after ? 1 : 0;
  onnx::NodeProto& node = *body.mutable_node(readers.Nodes(before)[0]);
  for (const onnx::NodeProto& inner : body.node()) {
    if (!HasSubgraph(inner)) continue;
    for (const std::string& name : CapturedNames(inner)) {
      if (name == after) return nullptr;
    }
  }
  const bool appends = IsOp(node, "SequenceInsert") && node.input_size() >= 2 && node.output_size() == 1 &&
                       node.input(0) == before && (node.input_size() == 2 || node.input(2).empty()) &&
                       node.output(0) == after;
  return appends && as_output == 1 ? &node : nullptr;
}

// The number of dimensions that the file gives to a value of the graph.
std::optional<int> DeclaredRank(const onnx::GraphProto& graph, const std::string& name) {
  for (const auto* infos : {&graph.value_info(), &graph.output(), &graph.input()}) {
    for (const onnx::ValueInfoProto& info : *infos) {
      if (info.name() == name && info.type().tensor_type().has_shape())
        return info.type().tensor_type().shape().dim_size();
    }
  }
  return std::nullopt;
}

// How the stack along a new axis follows from the stack along the first: a permutation, empty if it is the same.
std::optional<std::vector<int64_t>> Permutation(const onnx::NodeProto& stack, std::optional<int> rank) {
  int64_t axis = IntOf(stack, "axis", 0);
  if (axis == 0) return std::vector<int64_t>();
  if (!rank.has_value() || axis < -(*rank + 1) || axis > *rank) return std::nullopt;
  if (axis < 0) axis += *rank + 1;
  std::vector<int64_t> perm;
  for (int64_t i = 1; i <= *rank; ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, 0);
  return perm;
}

void BecomeTranspose(const std::vector<int64_t>& perm, onnx::NodeProto& stack) {
  stack.clear_attribute();
  stack.set_op_type(perm.empty() ? "Identity" : "Transpose");
  if (perm.empty()) return;
  onnx::AttributeProto& attribute = *stack.add_attribute();
  attribute.set_name("perm");
  attribute.set_type(onnx::AttributeProto::INTS);
  attribute.mutable_ints()->Add(perm.begin(), perm.end());
}

// State `state` of the loop, an empty list at first, becomes its last output if it is one as described.
void ScanState(onnx::GraphProto& graph, onnx::NodeProto& loop, onnx::GraphProto& body, int state,
               const Readers& readers) {
  if (state >= loop.output_size() || loop.output(state).empty()) return;
  const std::string list = loop.output(state);
  if (readers.Elsewhere(list) || readers.Nodes(list).empty()) return;
  onnx::NodeProto* append = FindAppend(body, Readers(body), state);
  if (append == nullptr) return;
  const std::optional<int> rank = DeclaredRank(body, append->input(1));
  std::vector<std::vector<int64_t>> perms;
  for (const int reader : readers.Nodes(list)) {
    const onnx::NodeProto& stack = graph.node(reader);
    if (!IsOp(stack, "ConcatFromSequence") || IntOf(stack, "new_axis", 0) != 1) return;
    const std::optional<std::vector<int64_t>> perm = Permutation(stack, rank);
    if (!perm.has_value()) return;
    perms.push_back(*perm);
  }
  for (size_t i = 0; i < perms.size(); ++i) BecomeTranspose(perms[i], *graph.mutable_node(readers.Nodes(list)[i]));
  const std::string element = append->input(1);
  append->set_op_type("Identity");
  append->clear_input();
  append->add_input(element);
  onnx::ValueInfoProto output;
  output.set_name(body.output(1 + state).name());
  body.mutable_input()->DeleteSubrange(2 + state, 1);
  body.mutable_output()->DeleteSubrange(1 + state, 1);
  *body.add_output() = output;
  while (loop.output_size() < body.output_size() - 1) loop.add_output("");
  loop.mutable_input()->DeleteSubrange(2 + state, 1);
  loop.mutable_output()->DeleteSubrange(state, 1);
  loop.add_output(list);
}

}  // namespace

void ScanAppendedLists(onnx::GraphProto& graph) {
  std::set<std::string> empty;
  for (const onnx::NodeProto& node : graph.node()) {
    if (IsOp(node, "SequenceEmpty") && node.output_size() == 1) empty.insert(node.output(0));
  }
  if (empty.empty()) return;
  for (int i = 0; i < graph.node_size(); ++i) {
    onnx::NodeProto& loop = *graph.mutable_node(i);
    if (!IsOp(loop, "Loop")) continue;
    onnx::GraphProto* body = BodyOf(loop);
    if (body == nullptr || loop.input_size() < 3 || body->input_size() != loop.input_size()) continue;
    const int outputs = loop.output_size();
    if (body->output_size() < loop.input_size() - 1 || outputs > body->output_size() - 1) continue;
    for (int state = loop.input_size() - 3; state >= 0; --state) {
      if (empty.contains(loop.input(2 + state))) ScanState(graph, loop, *body, state, Readers(graph));
    }
  }
}

}  // namespace halftone::onnx_format
