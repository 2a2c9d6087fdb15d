// SPDX-License-Identifier: Apache-2.0
// The one intermediate representation: nodes and values as ids into tables that a Graph owns.
#ifndef HALFTONE_IR_GRAPH_H_
#define HALFTONE_IR_GRAPH_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/log/check.h"
#include "ir/attributes.h"
#include "ir/name_counts.h"
#include "ir/ops.h"
#include "ir/quantization.h"
#include "ir/shape.h"
#include "ir/tensor.h"
#include "ir/types.h"

namespace halftone {

// Ids are indices, never reused in one graph, and stay valid when other nodes come and go. Copies of a graph keep them.
struct NodeId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const NodeId&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, NodeId id) {
    return H::combine(std::move(h), id.index);
  }
};
struct ValueId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const ValueId&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, ValueId id) {
    return H::combine(std::move(h), id.index);
  }
};
inline constexpr NodeId kNoNode{};
inline constexpr ValueId kNoValue{};

struct Node {
  OpKind op = OpKind::kOpaque;
  std::string
      name;  // may be empty; files in which it must be unique are checked when they are written. See Graph::Label.
  std::vector<ValueId> inputs;   // kNoValue: an optional input that is absent
  std::vector<ValueId> outputs;  // kNoValue: an optional output that is absent (ONNX: empty name)
  Attributes attributes;         // canonical: only names that Info(op).attributes lists
  Attributes extra;              // whatever else the format said; kept, printed, exported, never interpreted by passes
  std::string spelling;          // the format's own op where several mean `op` ("AddV2"); the type of an opaque node
  std::string domain;            // ONNX, beside a spelling: the operator set's domain
  std::string device;            // TensorFlow
  std::vector<NodeId> control_inputs;  // TensorFlow: run after these
  // Nodes with subgraphs: the last captures.size() inputs are outer values that a subgraph reads by these names. Of a
  // nested graph "" where any name will do: its own inputs stand for them.
  std::vector<std::string> captures;
  NodeId origin;  // the node of the imported graph that this one stands for (itself, until GraphEditor::Clone)
};

struct Value {
  std::string name;  // "" until printed or exported; unique where not empty
  DataType type = DataType::kUnknown;
  Shape shape;
  NodeId producer;
  int port = 0;  // index in the producer's outputs
  // Of u8, s8, s32: the real numbers that the integers stand for; nullptr: the integers are the numbers.
  std::shared_ptr<const Quantization> quantization = nullptr;
};

// Node `node` reads a value as its input `index`.
struct Use {
  NodeId node;
  int index = 0;
  bool operator==(const Use&) const = default;
};

struct GraphOutput {
  std::string name;  // as callers of the model know it
  ValueId value;
};

// Where the channels of images lie that no op says anything about: dimension 1 or the last one.
enum class GraphLayout : uint8_t { kChannelsFirst, kChannelsLast };

// The name of the format that reads and writes the file, a string in Graph::header. formats/ alone interprets it.
inline constexpr std::string_view kHeaderFormat = "format";

struct SourceGraph;  // source_graph.h

// Cheap to copy: weights are shared. A const Graph is truly read-only and may be read from many threads; a graph that is
// being edited may not. Only GraphEditor (editor.h) edits.
class Graph {
 public:
  // --- Nodes and values, in the order in which they were added (importers add in topological order where one exists).
  std::vector<NodeId> nodes() const;  // those that are alive
  int num_nodes() const { return num_alive_; }
  bool alive(NodeId id) const {
    return id.valid() && static_cast<size_t>(id.index) < nodes_.size() && nodes_[id.index] != nullptr;
  }
  const Node& node(NodeId id) const {
    DCHECK(alive(id));
    return *nodes_[id.index];
  }
  const Value& value(ValueId id) const { return values_[id.index]; }
  int num_values() const { return static_cast<int>(values_.size()); }  // dead ones included: an exclusive bound of ids

  NodeId producer(ValueId id) const { return value(id).producer; }
  const Node& producer_node(ValueId id) const { return node(producer(id)); }
  OpKind op(NodeId id) const { return node(id).op; }
  // The op that makes this value. REQUIRES: valid
  OpKind op(ValueId id) const { return node(producer(id)).op; }

  // Input i, or kNoValue if it is absent or out of range.
  ValueId input(NodeId id, int i) const;
  ValueId output(NodeId id, int i = 0) const;
  template <int N>
  std::array<ValueId, N> inputs(NodeId id) const {
    std::array<ValueId, N> result;
    for (int i = 0; i < N; ++i) result[i] = input(id, i);
    return result;
  }

  DataType type(ValueId id) const { return value(id).type; }
  const Shape& shape(ValueId id) const { return value(id).shape; }
  const Quantization* quantization(ValueId id) const { return value(id).quantization.get(); }  // nullptr: none

  // --- Who reads a value.
  const std::vector<Use>& uses(ValueId id) const { return uses_[id.index]; }
  bool IsOutput(ValueId id) const;
  // Read inside a subgraph, by name: must keep its name.
  bool IsCaptured(ValueId id) const;
  // Exactly one use, not an output of the graph, not captured, and the producer is no node's control input.
  bool HasOneUser(ValueId id) const;
  // Nodes that run after this one by a control edge, in the order of nodes().
  const std::vector<NodeId>& control_users(NodeId id) const;
  bool HasControlEdges(NodeId id) const;  // in or out

  // --- The whole.
  const std::string& name() const { return name_; }
  const std::vector<NodeId>& inputs() const { return inputs_; }  // kInput nodes, in the model's order
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  GraphLayout layout() const { return layout_; }
  // What the file said about itself, and kHeaderFormat. ONNX: "ir_version", "opset" (ints, in the order of "opset_domains"), "opset_domains",
  // "producer_name", "metadata_keys", "metadata_values", ...; GraphDef: "producer", "min_consumer", "library" (RawBytes), ...
  const Attributes& header() const { return header_; }
  // The nodes as the file spelled them; nullptr once a node or value was edited (but for shapes, origins), and of other
  // graphs.
  const SourceGraph* source() const { return source_.get(); }

  NodeId FindNode(std::string_view name) const;    // linear; kNoNode if there is none
  ValueId FindValue(std::string_view name) const;  // linear; kNoValue if there is none
  // Whether a node or a value has this name. Not linear.
  bool HasName(std::string_view name) const { return names_.has(name); }

  // A name for people: the node's, else its first output's, else "#12".
  std::string Label(NodeId id) const;

  // --- Constants.
  bool IsConstant(ValueId id) const { return id.valid() && producer(id).valid() && op(id) == OpKind::kConstant; }
  // The constant's tensor, or nullptr.
  const Tensor* ConstantTensor(ValueId id) const;
  // The constant's elements as int64; nullopt if it is not an integer constant.
  std::optional<std::vector<int64_t>> ConstantInts(ValueId id) const;
  // The single element of a constant of one element, of any numeric type.
  std::optional<double> ConstantScalar(ValueId id) const;

  // Alive nodes so that each comes after the producers of its inputs and after its control inputs; edges out of
  // NextIteration do not count. Among equals the order of nodes(). Nodes on an illegal cycle come last, in order of nodes()
  // (the verifier refuses such a graph).
  std::vector<NodeId> TopologicalOrder() const;

 private:
  friend class GraphEditor;
  std::string name_;
  GraphLayout layout_ = GraphLayout::kChannelsFirst;
  Attributes header_;
  std::shared_ptr<const SourceGraph> source_;
  std::vector<std::shared_ptr<const Node>>
      nodes_;  // null: removed. Shared between copies until one of them edits the node
  std::vector<Value> values_;
  std::vector<std::vector<Use>> uses_;
  std::vector<NodeId> inputs_;
  std::vector<GraphOutput> outputs_;
  std::map<NodeId, std::vector<NodeId>> control_users_;  // only of nodes that have one
  NameCounts names_;
  int num_alive_ = 0;
};

}  // namespace halftone

#endif  // HALFTONE_IR_GRAPH_H_
