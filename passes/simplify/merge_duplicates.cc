// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

constexpr size_t kLargestConstant = 1024;

bool MayMerge(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const OpGroup group = Info(node.op).group;
  if (node.op == OpKind::kInput || group == OpGroup::kStructural || group == OpGroup::kOpaque) return false;
  if (graph.HasControlEdges(id)) return false;
  if (node.op == OpKind::kConstant) {
    const Tensor* tensor = graph.ConstantTensor(graph.output(id));
    if (tensor == nullptr || ElementSize(tensor->type()) == 0 || tensor->byte_size() > kLargestConstant) return false;
  }
  return true;
}

uint64_t Mixed(uint64_t hash, uint64_t more) {
  hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// A hash of the cheap parts of what Same compares: equal nodes have equal hashes.
uint64_t HashOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  uint64_t hash = Mixed(static_cast<uint64_t>(node.op), node.inputs.size());
  for (const ValueId input : node.inputs) hash = Mixed(hash, static_cast<uint64_t>(input.index));
  for (const ValueId output : node.outputs) {
    hash = Mixed(hash, output.valid() ? static_cast<uint64_t>(graph.type(output)) : ~uint64_t{0});
  }
  if (node.op == OpKind::kConstant) {
    hash = Mixed(hash, std::hash<std::string>()(graph.ConstantTensor(node.outputs[0])->Hash()));
  }
  return hash;
}

bool SameOutputTypes(const Graph& graph, const Node& a, const Node& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].valid() != b.outputs[i].valid()) return false;
    if (!a.outputs[i].valid()) continue;
    if (graph.type(a.outputs[i]) != graph.type(b.outputs[i])) return false;
    const Quantization *x = graph.quantization(a.outputs[i]), *y = graph.quantization(b.outputs[i]);
    if (x == nullptr || y == nullptr ? x != y : *x != *y) return false;
  }
  return true;
}

bool Same(const Graph& graph, NodeId a, NodeId b, const PrecisionPlan* plan) {
  const Node& x = graph.node(a);
  const Node& y = graph.node(b);
  if (x.op != y.op || x.inputs != y.inputs || x.spelling != y.spelling || x.device != y.device) return false;
  if (plan != nullptr && x.op != OpKind::kConstant && plan->TypeOf(graph, a) != plan->TypeOf(graph, b)) return false;
  return SameOutputTypes(graph, x, y) && x.attributes == y.attributes && x.extra == y.extra;
}

struct IdHash {
  size_t operator()(NodeId id) const { return static_cast<size_t>(id.index); }
};

bool IsKnownByName(const Graph& graph, NodeId id) {
  for (const ValueId output : graph.node(id).outputs) {
    if (output.valid() && (graph.IsOutput(output) || graph.IsCaptured(output))) return true;
  }
  return false;
}

}  // namespace

absl::Status MergeDuplicates::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  std::unordered_map<uint64_t, NodeId> last;  // by hash; earlier nodes with the same hash form a chain
  std::unordered_map<NodeId, NodeId, IdHash> before;
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!MayMerge(graph, id)) continue;
    const auto [place, first] = last.emplace(HashOf(graph, id), id);
    NodeId twin = first ? kNoNode : place->second;
    while (twin.valid() && !Same(graph, twin, id, context.plan)) {
      const auto next = before.find(twin);
      twin = next == before.end() ? kNoNode : next->second;
    }
    if (!twin.valid() || IsKnownByName(graph, id)) {
      if (!first) before[id] = std::exchange(place->second, id);
      continue;
    }
    if (context.log != nullptr && graph.op(id) != OpKind::kConstant) {
      context.log->Applied(name(), graph, id, Concat("the same as '", graph.Label(twin), "'"));
    }
    const std::vector<ValueId> outputs = graph.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].valid()) edit.ReplaceUses(outputs[i], graph.output(twin, static_cast<int>(i)));
    }
    edit.RemoveNode(id);
  }
  return absl::OkStatus();
}

}  // namespace halftone
