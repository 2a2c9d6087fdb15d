// The smallest graph that still fails, and its text.

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/text.h"
#include "tests/fuzz/check.h"

namespace halftone::fuzz {
namespace {

constexpr int kMostTries = 200;
constexpr int64_t kSmall = 64;  // elements that are printed

// Removes what no output needs, inputs too.
void Prune(Case& c) {
  GraphEditor edit(c.graph);
  edit.RemoveDeadNodes();
  for (const NodeId id : c.graph.nodes()) {
    if (c.graph.op(id) == OpKind::kInput && c.graph.uses(c.graph.output(id)).empty() &&
        !c.graph.IsOutput(c.graph.output(id)))
      edit.RemoveNode(id);
  }
}

Case WithOutputs(const Case& c, std::vector<GraphOutput> outputs) {
  Case smaller = c;
  GraphEditor(smaller.graph).SetGraphOutputs(std::move(outputs));
  Prune(smaller);
  return smaller;
}

// The node's outputs are inputs of the graph instead, with the tensors that they had.
Case WithoutNode(const Case& c, NodeId id) {
  Case smaller = c;
  GraphEditor edit(smaller.graph);
  std::vector<GraphOutput> kept;
  for (const GraphOutput& output : c.graph.outputs()) {
    if (c.graph.producer(output.value) != id) kept.push_back(output);
  }
  if (kept.empty()) return c;
  edit.SetGraphOutputs(std::move(kept));
  for (const ValueId value : c.graph.node(id).outputs) {
    if (!value.valid() || smaller.graph.uses(value).empty()) continue;
    const Tensor& tensor = c.tensors.at(value);
    const ValueId input = edit.AddInput(Concat("cut", value.index), tensor.type(), tensor.shape());
    smaller.tensors[input] = tensor;
    for (const Use& use : std::vector<Use>(smaller.graph.uses(value))) edit.SetInput(use.node, use.index, input);
  }
  Prune(smaller);
  return smaller;
}

}  // namespace

Case Minimize(const Case& c, const Subject& subject, const Outcome& outcome) {
  Case best = c;
  int tries = 0;
  const auto still_fails = [&](const Case& smaller) {
    return ++tries <= kMostTries && Check(smaller, subject).stage == outcome.stage;
  };
  for (const GraphOutput& output : c.graph.outputs()) {
    Case one = WithOutputs(c, {output});
    if (!still_fails(one)) continue;
    best = std::move(one);
    break;
  }
  for (bool shrinking = true; shrinking && tries < kMostTries;) {
    shrinking = false;
    for (const NodeId id : best.graph.nodes()) {
      if (best.graph.op(id) == OpKind::kInput || best.graph.op(id) == OpKind::kConstant) continue;
      Case smaller = WithoutNode(best, id);
      if (smaller.graph.num_nodes() > best.graph.num_nodes() || smaller.graph.outputs().size() < 1) continue;
      bool gone = !smaller.graph.alive(id);
      if (!gone || !still_fails(smaller)) continue;
      best = std::move(smaller);
      shrinking = true;
      break;
    }
  }
  return best;
}

std::string Describe(const Case& c) {
  std::string text = PrintGraph(c.graph, {.max_elements = kSmall});
  for (const NodeId id : c.graph.inputs()) {
    const Tensor& tensor = c.tensors.at(c.graph.output(id));
    if (tensor.num_elements() > kSmall) continue;
    text += Concat("# ", c.graph.Label(id), " = {", absl::StrJoin(tensor.ToDoubles(), ", "), "}\n");
  }
  return text;
}

}  // namespace halftone::fuzz
