// SPDX-License-Identifier: Apache-2.0
#include "passes/prepare/build_loops.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/shape_inference.h"
#include "passes/prepare/subgraph.h"

namespace halftone {
namespace lowering {
namespace {

using enum OpKind;

template <typename... Parts>
absl::Status Cannot(const Graph& graph, NodeId id, const Parts&... parts) {
  return absl::UnimplementedError(Concat("node '", graph.Label(id), "' (", OpName(graph.op(id)), "): ", parts...));
}

// One frame: the nodes that stand at its border.
struct Frame {
  int depth = 0;
  std::vector<NodeId> enters, merges, exits;
  NodeId condition = kNoNode;
};

// The frame of each value's node is the deepest one among its inputs; Enter goes one deeper, Exit comes back.
class FrameFinder {
 public:
  explicit FrameFinder(const Graph& graph) : graph_(graph) {}

  absl::StatusOr<std::map<std::string, Frame>> Find() {
    for (const NodeId id : graph_.TopologicalOrder()) {
      const Node& node = graph_.node(id);
      const std::string frame = FrameOfInputs(node);
      if (node.op == kEnter) {
        const std::string name = node.extra.String("frame_name", "");
        if (name.empty()) return Cannot(graph_, id, "has no frame_name");
        const int depth = Depth(frame) + 1;
        if (depth > Depth(name)) {
          frames_[name].depth = depth;
          parents_[name] = frame;
        }
        frames_[name].enters.push_back(id);
        of_[id] = name;
      } else if (node.op == kExit) {
        if (frame.empty()) return Cannot(graph_, id, "leaves no loop");
        frames_[frame].exits.push_back(id);
        of_[id] = parents_[frame];
      } else {
        of_[id] = frame;
        if (node.op == kLoopCond) {
          if (frame.empty() || frames_[frame].condition.valid())
            return Cannot(graph_, id, "is not the only one of its loop");
          frames_[frame].condition = id;
        }
        if (node.op == kMerge && IsLoopMerge(node)) frames_[frame].merges.push_back(id);
      }
    }
    return std::move(frames_);
  }

 private:
  int Depth(const std::string& frame) const {
    const auto it = frames_.find(frame);
    return it == frames_.end() ? 0 : it->second.depth;
  }

  bool IsLoopMerge(const Node& merge) const {
    return std::any_of(merge.inputs.begin(), merge.inputs.end(),
                       [&](ValueId v) { return v.valid() && graph_.op(v) == kNextIteration; });
  }

  std::string FrameOfInputs(const Node& node) const {
    std::string deepest;
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      const auto it = of_.find(graph_.producer(input));  // NextIteration comes later
      if (it != of_.end() && Depth(it->second) > Depth(deepest)) deepest = it->second;
    }
    return deepest;
  }

  const Graph& graph_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, std::string> parents_;
  std::map<NodeId, std::string> of_;
};

// Builds the while node of one frame.
class LoopBuilder {
 public:
  LoopBuilder(GraphEditor& edit, const Frame& frame) : edit_(edit), graph_(edit.graph()), frame_(frame) {}

  absl::Status Build() {
    if (!frame_.condition.valid()) return Cannot(graph_, frame_.enters.front(), "its loop has no LoopCond");
    HALFTONE_RETURN_IF_ERROR(FindStates());
    FindInside();
    SubgraphCopier condition(graph_, inside_, boundary_, inputs_);
    SubgraphCopier body(graph_, inside_, boundary_, inputs_);
    const ValueId goes_on = condition.Copy(graph_.input(frame_.condition, 0));
    std::vector<ValueId> next;
    for (const State& state : states_) next.push_back(body.Copy(state.next));
    for (size_t i = states_.size(); i < inputs_.inputs().size(); ++i) next.push_back(body.Copy(inputs_.inputs()[i]));
    AddWhile(condition.Finish({goes_on}), body.Finish(next));
    return absl::OkStatus();
  }

 private:
  struct State {
    NodeId merge;
    ValueId start, next;
    std::vector<NodeId> switches;
  };

  absl::Status FindStates();
  void FindInside();
  void AddWhile(std::shared_ptr<const Graph> condition, std::shared_ptr<const Graph> body);

  GraphEditor& edit_;
  const Graph& graph_;
  const Frame& frame_;
  std::vector<State> states_;
  NestedInputs inputs_;
  std::set<NodeId> inside_;
  std::set<ValueId> boundary_;
};

absl::Status LoopBuilder::FindStates() {
  for (const NodeId id : frame_.merges) {
    const Node& merge = graph_.node(id);
    State state{id, kNoValue, kNoValue, {}};
    for (const ValueId input : merge.inputs) {
      if (graph_.op(input) == kNextIteration) state.next = graph_.input(graph_.producer(input), 0);
      if (graph_.op(input) == kEnter) state.start = graph_.input(graph_.producer(input), 0);
    }
    if (merge.inputs.size() != 2 || !state.start.valid() || !state.next.valid())
      return Cannot(graph_, id, "does not merge one Enter and one NextIteration");
    if (graph_.output(id, 1).valid() && !graph_.uses(graph_.output(id, 1)).empty())
      return Cannot(graph_, id, "its value_index is read inside a loop");
    const ValueId value = graph_.output(id, 0);
    inputs_.Of(value);
    boundary_.insert(value);
    for (const Use& use : graph_.uses(value)) {
      if (graph_.op(use.node) != kSwitch || use.index != 0) continue;
      ValueId predicate = graph_.input(use.node, 1);
      while (graph_.op(predicate) == kIdentity) predicate = graph_.input(graph_.producer(predicate), 0);
      if (graph_.producer(predicate) != frame_.condition) continue;
      state.switches.push_back(use.node);
      if (const ValueId goes_on = graph_.output(use.node, 1); goes_on.valid()) {
        inputs_.SetAlias(goes_on, value);
        boundary_.insert(goes_on);
      }
    }
    states_.push_back(std::move(state));
  }
  if (states_.empty()) return Cannot(graph_, frame_.condition, "its loop carries no values");
  return absl::OkStatus();
}

void LoopBuilder::FindInside() {
  std::vector<ValueId> values;
  for (const NodeId enter : frame_.enters) {
    values.push_back(graph_.output(enter));
    boundary_.insert(graph_.output(enter));
  }
  for (const NodeId merge : frame_.merges) values.push_back(graph_.output(merge));
  inside_ =
      DependentNodes(graph_, values, [](const Node& node) { return node.op == kExit || node.op == kNextIteration; });
}

void LoopBuilder::AddWhile(std::shared_ptr<const Graph> condition, std::shared_ptr<const Graph> body) {
  Node node;
  node.op = kWhile;
  node.attributes.Set("condition", std::move(condition));
  node.attributes.Set("body", std::move(body));
  std::vector<ValueSpec> outputs;
  const std::vector<ValueId>& inner = inputs_.inputs();
  for (size_t i = 0; i < inner.size(); ++i) {
    ValueId outer = i < states_.size() ? states_[i].start : inner[i];
    if (graph_.op(outer) == kEnter && i >= states_.size()) outer = graph_.input(graph_.producer(outer), 0);
    node.inputs.push_back(outer);
    outputs.push_back({graph_.type(inner[i]), Shape(), ""});
  }
  node.name = Concat(graph_.Label(frame_.condition), "/loop");
  node.origin = frame_.condition;
  const NodeId loop = edit_.AddNode(std::move(node), std::move(outputs));
  for (size_t i = 0; i < states_.size(); ++i) {
    for (const NodeId choice : states_[i].switches) {
      const ValueId done = graph_.output(choice, 0);
      if (!done.valid()) continue;
      const std::vector<Use> uses = graph_.uses(done);
      for (const Use& use : uses) {
        if (graph_.op(use.node) == kExit)
          edit_.ReplaceUses(graph_.output(use.node), graph_.output(loop, static_cast<int>(i)));
      }
    }
  }
}

absl::Status BuildWhiles(GraphEditor& edit) {
  const Graph& graph = edit.graph();
  for (;;) {  // one frame a round, the deepest first: ids of nodes around it change with it
    HALFTONE_RETURN_IF_ERROR(BuildConditionals(edit, /*must_all=*/false));
    HALFTONE_ASSIGN_OR_RETURN(const auto frames, FrameFinder(graph).Find());
    const Frame* deepest = nullptr;
    for (const auto& [name, frame] : frames) {
      if (!frame.enters.empty() && (deepest == nullptr || frame.depth > deepest->depth)) deepest = &frame;
    }
    if (deepest == nullptr) return absl::OkStatus();
    HALFTONE_RETURN_IF_ERROR(LoopBuilder(edit, *deepest).Build());
    edit.RemoveDeadNodes();
    for (const NodeId enter : deepest->enters) {
      if (graph.alive(enter)) return Cannot(graph, enter, "what it brings into the loop is read outside of it");
    }
  }
}

}  // namespace
}  // namespace lowering

namespace {

bool IsForRunningOnly(const Node& node) {
  return (node.op >= OpKind::kTensorArray && node.op <= OpKind::kLoopCond) ||
         (node.op == OpKind::kOpaque && node.spelling == "PlaceholderWithDefault");
}

}  // namespace

absl::Status BuildLoops(GraphEditor& edit) {
  const Graph& graph = edit.graph();
  const std::vector<NodeId> nodes = graph.nodes();
  if (std::none_of(nodes.begin(), nodes.end(), [&](NodeId id) { return IsForRunningOnly(graph.node(id)); }))
    return absl::OkStatus();
  edit.RemoveDeadNodes();
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op == OpKind::kOpaque && node.spelling == "PlaceholderWithDefault" && node.inputs.size() == 1)
      edit.SetOp(id, OpKind::kIdentity);
  }
  HALFTONE_RETURN_IF_ERROR(lowering::BuildArrays(edit));
  lowering::PinConstantBranches(edit);
  for (const NodeId id : graph.nodes()) edit.SetControlInputs(id, {});  // from here on only data flow counts
  edit.RemoveDeadNodes();
  HALFTONE_RETURN_IF_ERROR(lowering::BuildWhiles(edit));
  HALFTONE_RETURN_IF_ERROR(lowering::BuildConditionals(edit, /*must_all=*/true));
  return InferShapes(edit);
}

absl::Status BuildLoopsPass::Run(GraphEditor& edit, PassContext&) const { return BuildLoops(edit); }

}  // namespace halftone
