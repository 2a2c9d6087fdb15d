// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/type_topology.h"

#include <algorithm>
#include <utility>

namespace halftone {
namespace {

void Unite(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

int TypeTopology::Find(int node, const TypeId& id) const {
  for (const int vertex : nodes_[node].vertices) {
    if (vertices_[vertex].id == id) return vertex;
  }
  return -1;
}

const std::vector<int>& TypeTopology::Deciding(NodeId id) const {
  static const auto& kNone = *new std::vector<int>;
  return static_cast<size_t>(id.index) < deciding_.size() ? deciding_[id.index] : kNone;
}

void TypeTopology::SetDeciding(NodeId id, std::vector<int> vertices) {
  if (static_cast<size_t>(id.index) >= deciding_.size()) deciding_.resize(id.index + 1);
  Unite(vertices);
  deciding_[id.index] = std::move(vertices);
}

void TypeTopology::AddEdge(int from, int to) {
  const auto insert = [](std::vector<int>& list, int vertex) {
    const auto place = std::lower_bound(list.begin(), list.end(), vertex);
    if (place == list.end() || *place != vertex) list.insert(place, vertex);
  };
  insert(vertices_[from].fanout, to);
  insert(vertices_[to].fanin, from);
}

void TypeTopology::Connect() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    for (size_t k = 0; k < node.sources.size(); ++k) {
      const auto [from, port] = node.sources[k];
      if (from < 0 || static_cast<size_t>(port) >= nodes_[from].output_vertices.size()) continue;
      nodes_[from].readers[port].push_back({static_cast<int>(i), static_cast<int>(k)});
      const int source = nodes_[from].output_vertices[port];
      const int target = node.input_vertices[k];
      if (source < 0 || target < 0) continue;
      vertices_[source].fanout.push_back(target);
      vertices_[target].fanin.push_back(source);
    }
  }
  for (Vertex& vertex : vertices_) {
    Unite(vertex.fanin);
    Unite(vertex.fanout);
  }
}

}  // namespace halftone
