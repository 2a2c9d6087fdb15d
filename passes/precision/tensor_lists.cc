// SPDX-License-Identifier: Apache-2.0
// Tensor lists: every op that reads or writes a list has a type attribute for its elements, and the ops are connected
// by a handle (a variant). All these type attributes must be equal.

#include <algorithm>
#include <set>
#include <string_view>

#include "passes/precision/auto_mixed_precision.h"

namespace halftone {
namespace {

template <size_t N>
bool IsOneOf(std::string_view op, const std::string_view (&ops)[N]) {
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

bool IsReader(std::string_view op) {
  constexpr std::string_view kReaders[] = {"TensorListConcat",  "TensorListConcatV2", "TensorListGather",
                                           "TensorListGetItem", "TensorListPopBack",  "TensorListStack"};
  return IsOneOf(op, kReaders);
}

bool IsWriter(std::string_view op) {
  constexpr std::string_view kWriters[] = {"TensorListFromTensor",
                                           "TensorListPushBack",
                                           "TensorListPushBackBatch",
                                           "TensorListScatter",
                                           "TensorListScatterIntoExistingList",
                                           "TensorListScatterV2",
                                           "TensorListSetItem",
                                           "TensorListSplit"};
  return IsOneOf(op, kWriters);
}

// Ops through which a handle enters or leaves the visible graph.
bool IsBorder(const TypeTopology::Node& node) {
  constexpr std::string_view kBorders[] = {
      "OptionalFromValue", "OptionalGetValue",       "PartitionedCall", "Placeholder", "_Arg",
      "_Retval",           "StatefulPartitionedCall"};
  return node.is_function || IsOneOf(node.op, kBorders);
}

bool IsVariant(const TypeTopology::Vertex& vertex) { return vertex.id.fixed == "variant"; }

}  // namespace

// The vertex of the elements' type if it is f32, else -1.
int AutoMixedPrecision::ListType(int node) const {
  if (topology_.nodes()[node].op.find("TensorList") == std::string::npos) return -1;
  for (const int v : topology_.nodes()[node].vertices) {
    const TypeTopology::Vertex& vertex = topology_.vertices()[v];
    if (vertex.is_f32 && !vertex.id.attribute.empty() && vertex.id.index < 0) return v;
  }
  return -1;
}

void AutoMixedPrecision::FindTensorLists() {
  std::vector<bool> reached(state_.size(), false);
  std::vector<std::vector<int>> clusters;  // nodes
  for (int root = 0; root < num_vertices(); ++root) {
    const TypeTopology::Vertex& vertex = topology_.vertices()[root];
    if (reached[root] || !IsVariant(vertex) || !IsProcessed(root) || ListType(vertex.node) < 0) continue;
    std::set<int> members = {vertex.node};
    std::vector<int> roots;
    bool is_safe = true;
    const auto visit = [&](int at) {
      const int node = topology_.vertices()[at].node;
      if (ListType(node) < 0) {
        is_safe = is_safe && !IsBorder(topology_.nodes()[node]);
        return;
      }
      members.insert(node);
      is_safe = is_safe && IsProcessed(at);
      if (IsVariant(topology_.vertices()[at]) && IsProcessed(at)) roots.push_back(ListType(node));
    };
    Walk(root, true, true, reached, [](int) { return true; }, visit);
    if (!is_safe) {
      for (const int type : roots) Deny(type, "tensor-lists");
    }
    clusters.emplace_back(members.begin(), members.end());
  }
  for (const std::vector<int>& cluster : clusters) {
    clusters_.emplace_back();
    for (const int node : cluster) clusters_.back().types.push_back(ListType(node));
    AddListEdges(cluster);
  }
}

// Adds edges from each op that writes an element to the ops that may read it: data flows there without a port.
void AutoMixedPrecision::AddListEdges(const std::vector<int>& cluster) {
  for (const int reader : cluster) {
    const int handle = topology_.Find(reader, TypeId{.attribute = "", .index = -1, .fixed = "variant"});
    if (!IsReader(topology_.nodes()[reader].op) || handle < 0 || !IsProcessed(handle)) continue;
    std::vector<int> writers;
    std::vector<bool> reached(state_.size(), false);
    Walk(
        handle, false, true, reached, [this](int v) { return IsProcessed(v); },
        [&](int at) {
          const int node = topology_.vertices()[at].node;
          if (IsWriter(topology_.nodes()[node].op) && ListType(node) >= 0) writers.push_back(ListType(node));
        });
    for (const int writer : writers) topology_.AddEdge(writer, ListType(reader));
  }
}

void AutoMixedPrecision::MatchTensorLists() {
  for (const TensorListCluster& cluster : clusters_) {
    const auto any = [&](auto holds) { return std::any_of(cluster.types.begin(), cluster.types.end(), holds); };
    if (any([this](int type) { return state_[type].denied; })) {
      for (const int type : cluster.types) {
        TakeBack(type, "tensor-lists");
        Deny(type, "tensor-lists");
      }
    } else if (any([this](int type) { return state_[type].allowed; })) {
      for (const int type : cluster.types) Allow(type, "tensor-lists");
    }
  }
}

}  // namespace halftone
