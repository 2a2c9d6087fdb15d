// SPDX-License-Identifier: Apache-2.0
// Renames the node with a given name. If no node has the name, renames the value with that name (ONNX names tensors).
//
// An output of the graph that has the name of the node is renamed as well. Outputs do not change. INVALID_ARGUMENT:
// nothing has the name, or the new name is used. Nodes of nested graphs keep their names.

#include <limits>
#include <utility>

#include "base/strings.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

// "x" => "y" in "x" and "x:1".
std::string Renamed(const std::string& tensor, const std::string& from, const std::string& to) {
  if (tensor == from) return to;
  const bool port =
      tensor.size() > from.size() && tensor[from.size()] == ':' && tensor.compare(0, from.size(), from) == 0;
  return port ? to + tensor.substr(from.size()) : tensor;
}

class RenameNode final : public Pass {
 public:
  RenameNode(std::string old_name, std::string name) : old_(std::move(old_name)), new_(std::move(name)) {}
  std::string_view name() const override { return "rename_node"; }
  bool enters_nested() const override { return false; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }  // outputs may have other names

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    const Graph& g = edit.graph();
    NodeId id = g.FindNode(old_);
    if (!id.valid() && g.FindValue(old_).valid()) id = g.producer(g.FindValue(old_));
    if (!id.valid()) return absl::InvalidArgumentError(Concat("no node and no value has the name '", old_, "'"));
    if (g.FindNode(new_).valid() || g.FindValue(new_).valid())
      return absl::InvalidArgumentError(Concat("the name '", new_, "' is already used"));
    if (g.node(id).name == old_) edit.SetName(id, new_);
    for (const ValueId output : std::vector<ValueId>(g.node(id).outputs)) {
      if (!output.valid()) continue;
      if (g.IsCaptured(output))
        return absl::InvalidArgumentError(Concat("'", old_, "' is read by name inside a subgraph"));
      const std::string value = Renamed(g.value(output).name, old_, new_);
      edit.SetValueName(output, value);
    }
    std::vector<GraphOutput> outputs = g.outputs();
    bool changed = false;
    for (GraphOutput& output : outputs) {
      if (g.producer(output.value) != id) continue;
      std::string renamed = Renamed(output.name, old_, new_);
      changed = changed || renamed != output.name;
      output.name = std::move(renamed);
    }
    if (changed) edit.SetGraphOutputs(std::move(outputs));
    return absl::OkStatus();
  }

 private:
  std::string old_, new_;
};

}  // namespace

std::unique_ptr<Pass> MakeRenameNode(std::string old_name, std::string name) {
  return std::make_unique<RenameNode>(std::move(old_name), std::move(name));
}

}  // namespace halftone
