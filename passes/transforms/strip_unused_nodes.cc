// SPDX-License-Identifier: Apache-2.0
// Removes the nodes on which no output depends. Named nodes become inputs of the graph first, so that the nodes before
// them are removed.
//
// A model without its preprocessing has different inputs, as requested; without names outputs do not change. Types and
// shapes after an input with a new type or shape are inferred again. INVALID_ARGUMENT: no node or value has the name,
// type or shape are neither known nor given, or a consumer does not support them.

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/shape_inference.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class StripUnusedNodes final : public Pass {
 public:
  explicit StripUnusedNodes(std::vector<CutAt> cuts) : cuts_(std::move(cuts)) {}
  std::string_view name() const override { return "strip_unused_nodes"; }
  bool enters_nested() const override { return false; }
  float tolerance() const override { return cuts_.empty() ? 0 : std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    std::set<ValueId> changed;
    for (const CutAt& cut : cuts_) HALFTONE_RETURN_IF_ERROR(Cut(cut, edit, changed));
    edit.RemoveDeadNodes();
    if (cuts_.empty()) return absl::OkStatus();
    if (!changed.empty()) HALFTONE_RETURN_IF_ERROR(InferAfter(std::move(changed), edit));
    // Removes the inputs that only removed nodes needed.
    for (const NodeId id : std::vector<NodeId>(edit.graph().inputs())) {
      const ValueId value = edit.graph().output(id);
      const bool needed = !edit.graph().uses(value).empty() || edit.graph().IsOutput(value);
      if (!needed && edit.graph().control_users(id).empty()) edit.RemoveNode(id);
    }
    return absl::OkStatus();
  }

 private:
  // Adds the new input to `changed` if its type or shape differs from that of the value.
  static absl::Status Cut(const CutAt& cut, GraphEditor& edit, std::set<ValueId>& changed) {
    const Graph& g = edit.graph();
    NodeId id = g.FindNode(cut.node);
    if (!id.valid() && g.FindValue(cut.node).valid()) id = g.producer(g.FindValue(cut.node));
    if (!id.valid()) return absl::InvalidArgumentError(Concat("no node and no value has the name '", cut.node, "'"));
    if (g.op(id) == OpKind::kInput) return absl::OkStatus();
    const ValueId value = g.output(id);
    if (!value.valid()) return absl::InvalidArgumentError(Concat("node '", cut.node, "' has no output"));
    for (size_t i = 1; i < g.node(id).outputs.size(); ++i) {
      const ValueId other = g.node(id).outputs[i];
      if (other.valid() && (!g.uses(other).empty() || g.IsOutput(other)))
        return absl::InvalidArgumentError(Concat("node '", cut.node, "': its output ", i, " has consumers too"));
    }
    const DataType type = cut.type == DataType::kUnknown ? g.type(value) : cut.type;
    if (type == DataType::kUnknown)
      return absl::InvalidArgumentError(Concat("node '", cut.node, "': its type is not known; give type_for_name"));
    const Shape shape = cut.shape.has_rank() ? cut.shape : g.shape(value);
    const std::string node_name = g.node(id).name, value_name = g.value(value).name;
    edit.SetName(id, "");
    edit.SetValueName(value, "");
    const ValueId input = edit.AddInput(value_name.empty() ? cut.node : value_name, type, shape);
    if (!node_name.empty()) edit.SetName(g.producer(input), node_name);
    if (type != g.type(value) || shape != g.shape(value)) changed.insert(input);
    edit.ReplaceUses(value, input);
    for (const NodeId user : g.control_users(id)) {
      std::vector<NodeId> control;
      for (const NodeId before : g.node(user).control_inputs) {
        if (before != id) control.push_back(before);
      }
      edit.SetControlInputs(user, std::move(control));
    }
    return absl::OkStatus();
  }

  // Opaque nodes keep the types and shapes of their results: inference does not know them.
  static absl::Status InferAfter(std::set<ValueId> changed, GraphEditor& edit) {
    const Graph& g = edit.graph();
    for (const NodeId id : g.TopologicalOrder()) {
      const Node& node = g.node(id);
      const auto is_changed = [&](ValueId value) { return changed.contains(value); };
      if (Info(node.op).group == OpGroup::kOpaque || std::ranges::none_of(node.inputs, is_changed)) continue;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueId output = node.outputs[i];
        if (!output.valid()) continue;
        changed.insert(output);
        edit.SetShape(output, Shape());
        const Port* port = OutputPort(node.op, static_cast<int>(i));
        if (port != nullptr && port->type_variable != '*') edit.SetType(output, DataType::kUnknown);
      }
    }
    return Annotate(InferShapes(edit), "after the new inputs");
  }

  std::vector<CutAt> cuts_;
};

}  // namespace

std::unique_ptr<Pass> MakeStripUnusedNodes(std::vector<CutAt> cuts) {
  return std::make_unique<StripUnusedNodes>(std::move(cuts));
}

}  // namespace halftone
