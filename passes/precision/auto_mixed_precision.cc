// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/auto_mixed_precision.h"

#include <algorithm>

namespace halftone {
namespace {

using enum ListKind;

bool IsVariable(std::string_view op) {
  constexpr std::string_view kVariables[] = {"AutoReloadVariable", "ReadVariableOp", "VarHandleOp",     "Variable",
                                             "VariableV2",         "_VarHandlesOp",  "_ReadVariablesOp"};
  return std::find(std::begin(kVariables), std::end(kVariables), op) != std::end(kVariables);
}

}  // namespace

AutoMixedPrecision::AutoMixedPrecision(TypeTopology& topology, const OpLists& lists)
    : topology_(topology), lists_(lists), state_(topology.vertices().size()) {
  for (const TypeTopology::Node& node : topology_.nodes()) lists_by_node_.push_back(lists_.ListOf(node.op));
}

bool AutoMixedPrecision::Run(bool mark_infer_after_allow) {
  FindTensorLists();
  AllowListed();
  if (std::none_of(state_.begin(), state_.end(), [](const State& state) { return state.allowed; })) {
    std::fill(state_.begin(), state_.end(), State());
    return false;
  }
  PropagateDeny();
  MatchTensorLists();
  MarkBetweenAllow();
  if (mark_infer_after_allow) MarkInferAfterAllow();
  MarkClearNeighbours();
  TakeBackNotSupported();
  MatchTensorLists();
  MatchLoopEdges();
  MarkCasts();
  return true;
}

bool AutoMixedPrecision::IsMarked(int vertex) const {
  const TypeTopology::Vertex& type = topology_.vertices()[vertex];
  return state_[vertex].allowed && type.is_f32 && !type.id.attribute.empty();
}

void AutoMixedPrecision::Allow(int vertex, std::string_view step) {
  State& state = state_[vertex];
  if (state.allowed) return;
  state.allowed = true;
  state.step = step;
}

void AutoMixedPrecision::Deny(int vertex, std::string_view step, int cause) {
  State& state = state_[vertex];
  if (state.denied) return;
  state.denied = true;
  state.step = step;
  state.cause = cause;
}

void AutoMixedPrecision::TakeBack(int vertex, std::string_view step) {
  if (!state_[vertex].allowed) return;
  state_[vertex].allowed = false;
  state_[vertex].step = step;
}

bool AutoMixedPrecision::MayMark(int vertex) const {
  const TypeTopology::Vertex& type = topology_.vertices()[vertex];
  return type.is_f32 && type.allows_target && IsProcessed(vertex) && !state_[vertex].denied;
}

void AutoMixedPrecision::AllowListed() {
  for (int v = 0; v < num_vertices(); ++v) {
    if (IsAllowRoot(v)) Allow(v, "allow");
  }
}

void AutoMixedPrecision::PropagateDeny() {
  std::vector<bool> upstream(state_.size(), false);  // of a deny or infer op through clear ops
  const auto is_clear = [this](int v) { return ListOf(v) == kClear; };
  for (int v = 0; v < num_vertices(); ++v) {
    if (ListOf(v) != kDeny && ListOf(v) != kInfer) continue;
    Walk(v, false, true, upstream, is_clear, [](int) {});
  }
  for (int root = 0; root < num_vertices(); ++root) {
    if (ListOf(root) != kDeny || state_[root].denied) continue;
    std::vector<int> work = {root};
    Deny(root, "deny-propagation");
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      for (const int next : topology_.vertices()[at].fanout) {
        if (state_[next].denied || !upstream[next]) continue;
        Deny(next, "deny-propagation", root);
        work.push_back(next);
      }
    }
  }
}

void AutoMixedPrecision::MarkBetweenAllow() {
  std::vector<bool> downstream(state_.size(), false);
  const auto is_soft = [this](int v) { return (ListOf(v) == kClear || ListOf(v) == kInfer) && MayMark(v); };
  for (int v = 0; v < num_vertices(); ++v) {
    if (IsAllowRoot(v)) Walk(v, true, false, downstream, is_soft, [](int) {});
  }
  std::vector<bool> upstream(state_.size(), false);
  const auto is_downstream = [&](int v) { return static_cast<bool>(downstream[v]); };
  for (int v = 0; v < num_vertices(); ++v) {
    if (!IsAllowRoot(v) || upstream[v]) continue;
    Walk(v, false, true, upstream, is_downstream, [this](int at) { Allow(at, "infer-between"); });
  }
}

// In the order of the file, so that one marked op can follow another.
void AutoMixedPrecision::MarkInferAfterAllow() {
  for (int v = 0; v < num_vertices(); ++v) {
    if (ListOf(v) != kInfer || state_[v].allowed || !MayMark(v)) continue;
    const std::vector<int>& before = topology_.vertices()[v].fanin;
    if (std::any_of(before.begin(), before.end(), [this](int from) { return state_[from].denied; })) continue;
    if (std::any_of(before.begin(), before.end(), [this](int from) { return state_[from].allowed; })) {
      Allow(v, "infer-after");
    }
  }
}

// A variable is read through Identity, and in a loop through a following Enter. TensorFlow does not change these nodes,
// because other tools inspect them.
bool AutoMixedPrecision::ReadsVariable(int node) const {
  for (size_t steps = 0; node >= 0 && steps <= topology_.nodes().size(); ++steps) {
    const TypeTopology::Node& reader = topology_.nodes()[node];
    if (reader.op != "Identity" && reader.op != "Enter") return false;
    const int from = reader.sources.empty() ? -1 : reader.sources[0].node;
    if (from < 0) return false;
    if (reader.op == "Identity") {
      return topology_.nodes()[from].op == "Variable" || topology_.nodes()[from].op == "VariableV2";
    }
    node = from;
  }
  return false;
}

void AutoMixedPrecision::MarkClearNeighbours() {
  std::vector<bool> reached(state_.size(), false);
  const auto enter = [this](int v) {
    return !state_[v].allowed && ListOf(v) == kClear && MayMark(v) && !ReadsVariable(topology_.vertices()[v].node);
  };
  for (int v = 0; v < num_vertices(); ++v) {
    if (!IsProcessed(v) || reached[v] || !state_[v].allowed) continue;
    Walk(v, true, true, reached, enter, [this](int at) { Allow(at, "clear-adjacent"); });
  }
}

void AutoMixedPrecision::TakeBackNotSupported() {
  for (int v = 0; v < num_vertices(); ++v) {
    if (ListOf(v) != kAllow) continue;
    if (!topology_.vertices()[v].allows_target || topology_.node_of(v).is_quantized) TakeBack(v, "not-supported");
  }
}

void AutoMixedPrecision::MatchLoopEdges() {
  const TypeId type{"T"};
  for (size_t i = 0; i < topology_.nodes().size(); ++i) {
    const TypeTopology::Node& node = topology_.nodes()[i];
    if (node.op != "NextIteration" || node.readers.empty()) continue;
    const int next = topology_.Find(static_cast<int>(i), type);
    std::vector<int> merges;
    for (const TypeTopology::Port& reader : node.readers[0]) {
      if (topology_.nodes()[reader.node].op == "Merge") merges.push_back(topology_.Find(reader.node, type));
    }
    std::erase(merges, -1);
    if (next < 0) continue;
    if (std::all_of(merges.begin(), merges.end(), [this](int merge) { return state_[merge].allowed; })) {
      Allow(next, "loop-edges");
      continue;
    }
    for (const int merge : merges) TakeBack(merge, "loop-edges");
    TakeBack(next, "loop-edges");
  }
}

void AutoMixedPrecision::MarkCasts() {
  const TypeId result{"DstT"};
  for (size_t i = 0; i < topology_.nodes().size(); ++i) {
    const TypeTopology::Node& node = topology_.nodes()[i];
    if (node.op != "Cast" || node.readers.empty() || node.readers[0].empty() || node.read_by_caller) continue;
    const int vertex = topology_.Find(static_cast<int>(i), result);
    if (vertex < 0 || !topology_.vertices()[vertex].is_f32) continue;
    const bool all = std::all_of(node.readers[0].begin(), node.readers[0].end(), [this](const auto& reader) {
      const int target = topology_.nodes()[reader.node].input_vertices[reader.port];
      return target >= 0 && state_[target].allowed;
    });
    if (all) Allow(vertex, "casts");
  }
}

int AutoMixedPrecision::CountMarked() const {
  int count = 0;
  for (int v = 0; v < num_vertices(); ++v) count += IsMarked(v) ? 1 : 0;
  return count;
}

int AutoMixedPrecision::CountCasts(bool to_target) const {
  int count = 0;
  for (size_t i = 0; i < topology_.nodes().size(); ++i) {
    const TypeTopology::Node& node = topology_.nodes()[i];
    const bool is_free = node.op == "Const" || IsVariable(node.op) || ReadsVariable(static_cast<int>(i));
    if (to_target && is_free) continue;
    for (size_t port = 0; port < node.output_vertices.size(); ++port) {
      const int from = node.output_vertices[port];
      if (from < 0 || !topology_.vertices()[from].is_f32 || state_[from].allowed == to_target) continue;
      const bool returned = node.read_by_caller && !to_target;
      const bool needed =
          returned ||
          std::any_of(node.readers[port].begin(), node.readers[port].end(), [&](const TypeTopology::Port& reader) {
            const int target = topology_.nodes()[reader.node].input_vertices[reader.port];
            return target >= 0 && state_[target].allowed == to_target;
          });
      count += needed ? 1 : 0;
    }
  }
  return count;
}

}  // namespace halftone
