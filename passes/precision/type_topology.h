// SPDX-License-Identifier: Apache-2.0
// A graph as TensorFlow's planner models it: its vertices are the types of its nodes, its edges the data flow between
// them. A node has one vertex per type attribute, one per type of a list attribute, and one per fixed type of its
// ports, so that a data path may pass through one type of a node and not through another.
//
// OfSource models a GraphDef node by node as the file spells it (Graph::source); OfGraph models any graph by its
// canonical nodes, which count as the corresponding TensorFlow ops.
#ifndef HALFTONE_PASSES_PRECISION_TYPE_TOPOLOGY_H_
#define HALFTONE_PASSES_PRECISION_TYPE_TOPOLOGY_H_

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "ir/source_graph.h"

namespace halftone {

struct TypeId {
  std::string attribute;   // "": a fixed type
  int index = -1;          // in a list attribute
  std::string fixed = {};  // "f32", "variant", "?": of an op that is not known
  auto operator<=>(const TypeId&) const = default;
};

struct TopologyOptions {
  DataType target = DataType::kBFloat16;
  bool keep_outputs = false;                   // nodes that make outputs of the graph are preserved, as inputs are
  const FileDialect* imported_from = nullptr;  // OfGraph: see PlannerOptions
  const FileDialect* fused_as = nullptr;       // OfGraph: a fused node counts as the fused op of this dialect
};

class TypeTopology {
 public:
  struct Vertex {
    int node = 0;
    TypeId id;
    bool is_f32 = false;
    bool allows_target = false;  // by TensorFlow's registry
    std::vector<int> fanin;      // vertices, sorted
    std::vector<int> fanout;
  };
  // Port `port` of node `node`.
  struct Port {
    int node = -1;
    int port = 0;
  };
  struct Node {
    std::string name;  // for messages
    std::string op;
    std::string device;
    NodeId id;
    bool preserved = false;  // an input, or an output that is kept
    bool processed = true;   // not preserved and on a CPU
    bool is_known = true;    // the op is in the registry, or a function
    bool is_function = false;
    bool is_quantized = false;    // it has a quantized type
    bool read_by_caller = false;  // produces an output that is not preserved: the caller reads f32
    std::vector<int> vertices;
    std::vector<int> input_vertices;  // by port; -1 for an absent input
    std::vector<int> output_vertices;
    std::vector<Port> sources;               // by input port
    std::vector<std::vector<Port>> readers;  // by output port
  };

  static TypeTopology OfSource(const Graph& graph, const SourceGraph& source, const TopologyOptions& options);
  static TypeTopology OfGraph(const Graph& graph, const TopologyOptions& options);

  const std::vector<Node>& nodes() const { return nodes_; }  // in the order of the file
  const std::vector<Vertex>& vertices() const { return vertices_; }
  const Node& node_of(int vertex) const { return nodes_[vertices_[vertex].node]; }
  // -1: the node has no such vertex.
  int Find(int node, const TypeId& id) const;
  // The vertices that decide the planned variable (type_variables.h) of a node of the graph: it is converted if all of
  // them are marked. Empty if there are none.
  const std::vector<int>& Deciding(NodeId id) const;

  // Adds an edge between vertices that no port connects.
  void AddEdge(int from, int to);

 private:
  class SourceBuilder;
  class GraphBuilder;
  // Fills vertices' edges and nodes' readers from nodes' sources.
  void Connect();
  void SetDeciding(NodeId id, std::vector<int> vertices);

  std::vector<Node> nodes_;
  std::vector<Vertex> vertices_;
  std::vector<std::vector<int>> deciding_;  // by NodeId::index
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_TYPE_TOPOLOGY_H_
