// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph are in a GraphDef, and where: nodes of the graph and of the file are not always one to one.
#ifndef HALFTONE_FORMATS_TENSORFLOW_WRITTEN_AS_H_
#define HALFTONE_FORMATS_TENSORFLOW_WRITTEN_AS_H_

#include <map>
#include <string>
#include <vector>

#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/quantized_groups.h"
#include "ir/graph.h"

namespace halftone::graphdef {

// The NodeDef's data inputs that a row's order gives the canonical inputs: `count` of them. kAbsentInput for none.
std::vector<int> ReadOrder(std::string_view order, int count);

// Whether the node has exactly the attributes and inputs that the row's name implies.
bool RowFits(const Graph& graph, NodeId id, const OpRow& row);

// The row of the node's spelling if it is one of its op's and fits, else the first that fits, else the first; nullptr:
// TensorFlow has no such op.
const OpRow* SpelledRow(const Graph& graph, NodeId id);

// The row of the node's spelling if it fits and has a rule that writes it.
const OpRow* OwnWriter(const Graph& graph, NodeId id);

// Whether the node is written as a bf16 matmul with an f32 result, whose operands are the inputs of casts to f32.
bool ReadsThroughCasts(const Graph& graph, NodeId id);

struct FileTensor {
  NodeId node;
  int port = 0;
};

// Thread-compatible; the graph must outlive it and not change.
class WrittenAs {
 public:
  // `quantized_ops`: with TensorFlow's ops on quantized tensors (quantized_groups.h).
  WrittenAs(const Graph& graph, bool quantized_ops);

  // The node of the file that has this value, as the node of the graph that it is written for, and its port there.
  FileTensor Of(ValueId value) const;
  // Written with another node: a helper that its reader absorbs, or a part that is not the first.
  bool IsSilent(NodeId id) const { return id.index < static_cast<int>(is_silent_.size()) && is_silent_[id.index]; }
  const QuantizedGroups& groups() const { return groups_; }
  // The nodes that are one in the file, if this is the first of them; else nullptr.
  const std::vector<NodeId>* PartsOf(NodeId id) const;

 private:
  void FindParts();
  void FindHelpers();

  const Graph& graph_;
  const QuantizedGroups groups_;
  std::vector<bool> is_silent_;
  std::map<NodeId, std::vector<NodeId>> parts_;  // by the first
  std::map<NodeId, FileTensor> part_;            // of all but the first
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_WRITTEN_AS_H_
