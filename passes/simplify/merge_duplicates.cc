#include <map>
#include <string>
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

// Equal keys may be duplicates; unequal ones are not.
std::string Key(const Graph& graph, NodeId id, const PrecisionPlan* plan) {
  const Node& node = graph.node(id);
  std::string key = Concat(OpName(node.op), "|", node.spelling, "|", node.device);
  for (const ValueId input : node.inputs) key += Concat(",", input.index);
  for (const ValueId output : node.outputs) {
    key += Concat(";", output.valid() ? DataTypeName(graph.type(output)) : std::string_view("_"));
  }
  if (node.op == OpKind::kConstant) return key + graph.ConstantTensor(node.outputs[0])->Hash();
  return plan == nullptr ? key : Concat(key, "|", DataTypeName(plan->TypeOf(graph, id)));
}

bool Same(const Graph& graph, NodeId a, NodeId b) {
  return graph.node(a).attributes == graph.node(b).attributes && graph.node(a).extra == graph.node(b).extra;
}

bool IsKnownByName(const Graph& graph, NodeId id) {
  for (const ValueId output : graph.node(id).outputs) {
    if (output.valid() && (graph.IsOutput(output) || graph.IsCaptured(output))) return true;
  }
  return false;
}

}  // namespace

absl::Status MergeDuplicates::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  std::map<std::string, std::vector<NodeId>> seen;
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!MayMerge(graph, id)) continue;
    std::vector<NodeId>& candidates = seen[Key(graph, id, context.plan)];
    NodeId twin = kNoNode;
    for (const NodeId candidate : candidates) {
      if (Same(graph, candidate, id)) twin = candidate;
    }
    if (!twin.valid() || IsKnownByName(graph, id)) {
      candidates.push_back(id);
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
