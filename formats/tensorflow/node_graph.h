// SPDX-License-Identifier: Apache-2.0
// The nodes of a GraphDef as a graph: names, edges, order. Refuses what is no graph.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NODE_GRAPH_H_
#define HALFTONE_FORMATS_TENSORFLOW_NODE_GRAPH_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

inline constexpr int kMaxNodes = 1'000'000;

// One data input: output `port` of node `node` (an index in GraphDef.node).
struct Edge {
  int node = 0;
  int port = 0;
  bool explicit_zero = false;  // written "node:0"
};

struct NodeEdges {
  std::vector<Edge> data;
  std::vector<int> control;
};

// "node" or "node:1", as in NodeDef.input and in names of outputs. INVALID_ARGUMENT for ports that are no number.
struct TensorName {
  std::string_view node;
  int port = 0;
  bool explicit_zero = false;
};
absl::StatusOr<TensorName> ParseTensorName(std::string_view text);

// What a node may be called: not empty, at most 4096 bytes, no control characters, spaces or ':', no '^' at the front.
bool IsNodeName(std::string_view name);

// Names that are close to `name`, best first, for error messages: ". Did you mean 'a', 'b'?" or "".
std::string NearMisses(std::string_view name, const std::vector<std::string_view>& names);

// Thread-compatible. Views into the GraphDef, which must outlive it.
class NodeGraph {
 public:
  // INVALID_ARGUMENT: no nodes, too many, a name that is none or is taken twice, a node without op, an input that does
  // not exist, a data input after a control input, a node that reads itself, a cycle that does not go through
  // NextIteration -> Merge.
  static absl::StatusOr<NodeGraph> Build(const tf::GraphDef& graph);

  const std::vector<NodeEdges>& edges() const { return edges_; }
  // Each node after the nodes that it reads or runs after, but for NextIteration -> Merge; else in the order of the
  // file.
  const std::vector<int>& order() const { return order_; }
  // -1 if there is no such node.
  int Find(std::string_view name) const;
  // For each node the highest port that is read, plus one.
  std::vector<int> CountReadOutputs() const;

 private:
  explicit NodeGraph(const tf::GraphDef& graph) : graph_(&graph) {}
  absl::Status IndexNames();
  absl::Status ReadEdges();
  absl::Status Sort();

  const tf::GraphDef* graph_;
  std::unordered_map<std::string_view, int> by_name_;
  std::vector<NodeEdges> edges_;
  std::vector<int> order_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_NODE_GRAPH_H_
