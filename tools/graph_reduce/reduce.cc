// SPDX-License-Identifier: Apache-2.0
#include "tools/graph_reduce/reduce.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/verifier.h"
#include "tools/graph_reduce/shrink.h"

namespace halftone {
namespace {

bool Computes(const Graph& graph, NodeId id) {
  return graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant;
}

std::vector<NodeId> Computing(const Graph& graph) {
  std::vector<NodeId> nodes = graph.TopologicalOrder();
  std::erase_if(nodes, [&](NodeId id) { return !Computes(graph, id); });
  return nodes;
}

// Removes nodes and inputs that no output depends on.
void Prune(Graph& graph) {
  GraphEditor edit(graph);
  edit.RemoveDeadNodes();
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kInput || !graph.control_users(id).empty()) continue;
    if (graph.uses(graph.output(id)).empty() && !graph.IsOutput(graph.output(id))) edit.RemoveNode(id);
  }
}

class Reducer {
 public:
  Reducer(const Graph& graph, const StillFails& still_fails, const ReduceOptions& options)
      : still_fails_(still_fails), options_(options), best_{graph, {}} {}

  Reduction Run() {
    for (bool smaller = true; smaller && tries_ < options_.max_tries;) {
      smaller = DropOutputs();
      smaller = PullOutputs() || smaller;
      smaller = CutNodes() || smaller;
      smaller = BypassNodes() || smaller;
      smaller = DropParts() || smaller;
      smaller = (options_.shrink && Shrink()) || smaller;
    }
    return std::move(best_);
  }

 private:
  // Whether `smaller` fails too. If so, it becomes the best reduction so far.
  bool Try(Reduction smaller, const std::string& what) {
    if (tries_ >= options_.max_tries || smaller.graph.outputs().empty()) return false;
    Prune(smaller.graph);
    GraphEditor edit(smaller.graph);
    if (!VerifyGraph(smaller.graph).ok() || !InferShapes(edit).ok()) return false;
    std::erase_if(smaller.cut, [&](const auto& entry) { return !IsThere(smaller.graph, entry.first); });
    ++tries_;
    if (!still_fails_(smaller)) return false;
    best_ = std::move(smaller);
    if (options_.progress) {
      const Graph& g = best_.graph;
      options_.progress(Concat(Computing(g).size(), " nodes, ", g.inputs().size(), " inputs, ", g.outputs().size(),
                               " outputs: ", what));
    }
    return true;
  }

  static bool IsThere(const Graph& graph, ValueId value) { return graph.alive(graph.producer(value)); }

  bool DropOutputs() {
    const std::vector<GraphOutput> all = best_.graph.outputs();
    if (all.size() < 2) return false;
    for (const GraphOutput& output : all) {
      Reduction one = best_;
      GraphEditor(one.graph).SetGraphOutputs({output});
      if (Try(std::move(one), Concat("only output '", output.name, "'"))) return true;
    }
    bool smaller = false;
    for (size_t i = best_.graph.outputs().size(); i-- > 0;) {
      std::vector<GraphOutput> fewer = best_.graph.outputs();
      const std::string name = fewer[i].name;
      fewer.erase(fewer.begin() + static_cast<int64_t>(i));
      Reduction less = best_;
      GraphEditor(less.graph).SetGraphOutputs(std::move(fewer));
      smaller = Try(std::move(less), Concat("without output '", name, "'")) || smaller;
    }
    return smaller;
  }

  // Moves an output to an input of the node that computes it.
  bool PullOutputs() {
    bool smaller = false;
    for (size_t i = 0; i < best_.graph.outputs().size(); ++i) {
      for (bool pulled = true; pulled;) {
        pulled = false;
        const GraphOutput output = best_.graph.outputs()[i];
        const NodeId last = best_.graph.producer(output.value);
        for (const ValueId x : std::vector<ValueId>(best_.graph.node(last).inputs)) {
          if (!x.valid() || !Computes(best_.graph, best_.graph.producer(x))) continue;
          std::vector<GraphOutput> outputs = best_.graph.outputs();
          outputs[i].value = x;
          Reduction less = best_;
          GraphEditor(less.graph).SetGraphOutputs(std::move(outputs));
          pulled = Try(std::move(less), Concat("output '", output.name, "' before its ", OpName(best_.graph.op(last))));
          if (pulled) break;
        }
        smaller = smaller || pulled;
      }
    }
    return smaller;
  }

  // The graph without `nodes`: values that other nodes read become inputs, outputs that the nodes compute are dropped.
  Reduction Without(const std::vector<NodeId>& nodes) const {
    Reduction less = best_;
    GraphEditor edit(less.graph);
    const std::set<NodeId> gone(nodes.begin(), nodes.end());
    std::vector<GraphOutput> kept;
    for (const GraphOutput& output : best_.graph.outputs()) {
      if (!gone.contains(best_.graph.producer(output.value))) kept.push_back(output);
    }
    edit.SetGraphOutputs(std::move(kept));
    for (const NodeId id : nodes) {
      for (const NodeId user : std::vector<NodeId>(less.graph.control_users(id))) {
        std::vector<NodeId> control = less.graph.node(user).control_inputs;
        std::erase(control, id);
        edit.SetControlInputs(user, std::move(control));
      }
      for (const ValueId value : best_.graph.node(id).outputs) {
        if (!value.valid()) continue;
        ValueId input = kNoValue;
        for (const Use& use : std::vector<Use>(less.graph.uses(value))) {
          if (gone.contains(use.node)) continue;
          if (!input.valid()) {
            input = edit.AddInput(Concat("cut", value.index), less.graph.type(value), less.graph.shape(value));
            less.cut[input] = value;
          }
          edit.SetInput(use.node, use.index, input);
        }
      }
    }
    return less;
  }

  bool CutNodes() {
    bool smaller = false;
    for (size_t size = std::max<size_t>(1, Computing(best_.graph).size() / 2);; size = std::max<size_t>(1, size / 2)) {
      for (size_t end = Computing(best_.graph).size(); end > 0;) {
        const std::vector<NodeId> nodes = Computing(best_.graph);
        end = std::min(end, nodes.size());
        const size_t begin = end > size ? end - size : 0;
        const std::vector<NodeId> chunk(nodes.begin() + static_cast<int64_t>(begin),
                                        nodes.begin() + static_cast<int64_t>(end));
        smaller =
            (chunk.size() < nodes.size() && Try(Without(chunk), Concat("cut ", chunk.size(), " nodes"))) || smaller;
        end = begin;
      }
      if (size == 1) return smaller;
    }
  }

  // op(x) => x where both have the same type and shape.
  bool BypassNodes() {
    bool smaller = false;
    for (const NodeId id : Computing(best_.graph)) {
      if (!best_.graph.alive(id) || best_.graph.node(id).outputs.size() != 1) continue;
      const ValueId y = best_.graph.output(id);
      for (const ValueId x : std::vector<ValueId>(best_.graph.node(id).inputs)) {
        if (!x.valid() || best_.graph.type(x) != best_.graph.type(y)) continue;
        if (best_.graph.shape(x) != best_.graph.shape(y) || best_.graph.IsOutput(y)) continue;
        Reduction less = best_;
        GraphEditor edit(less.graph);
        edit.SetValueName(y, "");
        edit.ReplaceUses(y, x);
        if (!Try(std::move(less), Concat("without ", OpName(best_.graph.op(id))))) continue;
        smaller = true;
        break;
      }
    }
    return smaller;
  }

  // Optional inputs and attributes.
  bool DropParts() {
    bool smaller = false;
    for (const NodeId id : Computing(best_.graph)) {
      const int count = static_cast<int>(best_.graph.node(id).inputs.size());
      for (int i = count; i-- > 0;) {
        const Port* port = InputPort(best_.graph.op(id), i, count);
        if (port == nullptr || !port->optional || !best_.graph.input(id, i).valid()) continue;
        Reduction less = best_;
        GraphEditor(less.graph).SetInput(id, i, kNoValue);
        smaller = Try(std::move(less), Concat("without an input of ", OpName(best_.graph.op(id)))) || smaller;
      }
      std::vector<std::string> names;
      for (const auto& [name, value] : best_.graph.node(id).attributes) names.push_back(name);
      for (const std::string& name : names) {
        Reduction less = best_;
        GraphEditor(less.graph).EraseAttribute(id, name);
        smaller = Try(std::move(less), Concat("without attribute '", name, "'")) || smaller;
      }
    }
    return smaller;
  }

  bool Shrink() {
    bool smaller = false;
    for (const int64_t number : DimensionsOf(best_.graph)) {
      for (const int64_t less_number : SmallerThan(number)) {
        bool done = false;
        for (const Replaced what : {Replaced::kShapes, Replaced::kShapesAndInts, Replaced::kEverywhere}) {
          std::optional<Graph> graph = WithNumber(best_.graph, number, less_number, what);
          done = graph.has_value() &&
                 Try({*std::move(graph), best_.cut}, Concat("dimensions of ", number, " are ", less_number));
          if (done) break;
        }
        smaller = smaller || done;
        if (done) break;
      }
    }
    for (const NodeId id : best_.graph.nodes()) {
      if (best_.graph.op(id) != OpKind::kConstant) continue;
      std::optional<Graph> graph = WithOnes(best_.graph, id);
      if (graph.has_value()) smaller = Try({*std::move(graph), best_.cut}, "a constant of ones") || smaller;
    }
    return smaller;
  }

  const StillFails& still_fails_;
  const ReduceOptions& options_;
  Reduction best_;
  int tries_ = 0;
};

}  // namespace

Reduction Reduce(const Graph& graph, const StillFails& still_fails, const ReduceOptions& options) {
  return Reducer(graph, still_fails, options).Run();
}

}  // namespace halftone
