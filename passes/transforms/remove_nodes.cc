// SPDX-License-Identifier: Apache-2.0
// op(x)  =>  x        for the requested ops
//
// For Identity, CheckNumerics, StopGradient, ..: nodes with one output that has consumers and one input that is not
// constant. Kept: outputs of the graph, values that subgraphs read by name, nodes with control edges, and nodes that
// are known to change type or shape. Exact for ops that return their input; for any other op outputs change, as
// requested.

#include <algorithm>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "passes/core/rule_pass.h"
#include "passes/transforms/op_names.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

// "" if the node is removed, else the reason.
std::string WhyKept(const Graph& g, NodeId id, ValueId x, ValueId y) {
  if (!x.valid()) return "it does not have exactly one computed input";
  if (!y.valid()) return "it has no output";
  for (size_t i = 1; i < g.node(id).outputs.size(); ++i) {
    const ValueId other = g.node(id).outputs[i];
    if (other.valid() && (!g.uses(other).empty() || g.IsOutput(other))) return "another of its outputs has consumers";
  }
  if (g.IsOutput(y)) return "it is an output of the graph";
  if (g.IsCaptured(y)) return "a subgraph reads it by name";
  if (g.HasControlEdges(id)) return "it has control edges";
  const bool types_known = g.type(x) != DataType::kUnknown && g.type(y) != DataType::kUnknown;
  if (types_known && g.type(x) != g.type(y)) return "it changes the type";
  if (g.shape(x).fully_known() && g.shape(y).fully_known() && g.shape(x) != g.shape(y)) return "it changes the shape";
  return "";
}

class RemoveNodes final : public Pass {
 public:
  explicit RemoveNodes(std::vector<std::string> ops) : ops_(std::move(ops)) {}
  std::string_view name() const override { return "remove_nodes"; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const Graph& g = edit.graph();
    for (const NodeId id : g.TopologicalOrder()) {
      if (!std::any_of(ops_.begin(), ops_.end(), [&](const std::string& op) { return IsOpNamed(g, id, op); })) continue;
      const ValueId x = OnlyComputedInput(g, id), y = g.output(id);
      if (const std::string why = WhyKept(g, id, x, y); !why.empty()) {
        if (context.log != nullptr) context.log->Refused(name(), g, id, why);
        continue;
      }
      if (context.log != nullptr) context.log->Applied(name(), g, id, "op(x) => x");
      edit.SetValueName(y, "");
      edit.ReplaceUses(y, x);
      RemoveUnused(edit, {id});
    }
    return absl::OkStatus();
  }

 private:
  static ValueId OnlyComputedInput(const Graph& g, NodeId id) {
    ValueId found = kNoValue;
    for (const ValueId input : g.node(id).inputs) {
      if (!input.valid() || g.IsConstant(input)) continue;
      if (found.valid()) return kNoValue;
      found = input;
    }
    return found;
  }

  std::vector<std::string> ops_;
};

}  // namespace

std::unique_ptr<Pass> MakeRemoveNodes(std::vector<std::string> ops) {
  return std::make_unique<RemoveNodes>(std::move(ops));
}

}  // namespace halftone
