// SPDX-License-Identifier: Apache-2.0
// The only way to change a Graph.
#ifndef HALFTONE_IR_EDITOR_H_
#define HALFTONE_IR_EDITOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Type and shape of an output to be made, its name if the format gives it one, and what its integers stand for.
struct ValueSpec {
  DataType type = DataType::kUnknown;
  Shape shape;
  std::string name;
  std::shared_ptr<const Quantization> quantization = nullptr;
};

// Edits one graph and counts the edits that really changed something. Not thread-safe. The graph must outlive it.
class GraphEditor {
 public:
  explicit GraphEditor(Graph& graph) : graph_(graph) {}
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;

  const Graph& graph() const { return graph_; }
  int64_t edits() const { return edits_; }
  // From now on every node that is added, changes, or whose values change or get other readers is appended to `log`
  // (again each time, and also those that are removed later), until nullptr is given.
  void LogTouched(std::vector<NodeId>* log) { touched_ = log; }

  // --- Adding.
  // Everything of `node` but `outputs` is taken as it is (inputs must exist; origin, if unset, becomes the new node);
  // one new value is made per spec. A kInput node is appended to the graph's inputs.
  NodeId AddNode(Node node, std::vector<ValueSpec> outputs);
  // The common case: one op, one output of the type and shape given (unknown shape: see InferShapes).
  NodeId Add(OpKind op, std::string name, std::vector<ValueId> inputs, ValueSpec output, Attributes attributes = {});
  ValueId AddConstant(std::string name, Tensor value);  // name "": a small inline constant
  ValueId AddInput(std::string name, DataType type, Shape shape);
  // A new node with the same everything (origin too) and new outputs of the same types, shapes and quantizations, unnamed.
  NodeId Clone(NodeId id);

  // --- Changing nodes. Each is no edit where nothing changes.
  void SetInput(NodeId id, int index, ValueId value);  // index may be one past the end; gaps become kNoValue
  void SetInputs(NodeId id, std::vector<ValueId> inputs);
  void SetOp(NodeId id, OpKind op, std::string spelling = "");
  void SetAttribute(NodeId id, std::string name, AttributeValue value);
  void EraseAttribute(NodeId id, std::string_view name);
  // Puts a nested graph back in which `edits` edits were made; 0: only shapes have changed.
  void SetNestedGraph(NodeId id, std::string_view name, Graph nested, int64_t edits);
  void SetExtra(NodeId id, std::string name, AttributeValue value);
  void EraseExtra(NodeId id, std::string_view name);
  void SetName(NodeId id, std::string name);
  void SetDevice(NodeId id, std::string device);
  void SetSpelling(NodeId id, std::string spelling);
  void SetDomain(NodeId id, std::string domain);
  void SetControlInputs(NodeId id, std::vector<NodeId> inputs);
  // Appends an output to a node (importers of nodes whose outputs are found late).
  ValueId AddOutput(NodeId id, ValueSpec spec);

  // Output i of the node becomes kNoValue where absent[i]. REQUIRES: it has no consumers.
  void DropAbsentOutputs(NodeId id, const std::vector<bool>& absent);

  // --- Changing values.
  void SetType(ValueId id, DataType type);
  void SetShape(ValueId id, Shape shape);  // shape inference; counts as no edit
  // An edit where it differs by content. Whether it fits the type is the verifier's question.
  void SetQuantization(ValueId id, std::shared_ptr<const Quantization> quantization);
  void SetValueName(ValueId id, std::string name);
  // Everyone who reads `old`, outputs of the graph included, reads `replacement` from now on. If `replacement` has no name,
  // or its producer is not an input or constant and `old` is an output or is captured, it takes over old's name.
  void ReplaceUses(ValueId old, ValueId replacement);
  // ReplaceUses of all outputs of `old` by those of `replacement`, which also takes over old's name, device and the control
  // edges out of `old`; then removes `old`. (A fused node has the name of the last node of its pattern.)
  void ReplaceNode(NodeId old, NodeId replacement);

  // --- Removing.
  void RemoveNode(NodeId id);  // REQUIRES: its outputs have no consumers, no node runs after it
  // Removes what no output needs: nodes that are not inputs, have no consumers and no node that runs after them; returns
  // their number. Opaque and structural nodes count as dead too if nothing leads from them to an output.
  int RemoveDeadNodes();

  // --- The whole.
  // Every node is its own origin again: the graph as it is becomes the one that is planned. No edit.
  void ResetOrigins();
  void SetGraphName(std::string name) { graph_.name_ = std::move(name); }
  void SetLayout(GraphLayout layout) { graph_.layout_ = layout; }
  // What Graph::source gives until a node or value is edited.
  void SetSource(std::shared_ptr<const SourceGraph> source) { graph_.source_ = std::move(source); }
  void SetHeader(std::string name, AttributeValue value);
  void AddGraphOutput(std::string name, ValueId value);
  void SetGraphOutputs(std::vector<GraphOutput> outputs);

 private:
  Node& Mutable(NodeId id);
  // Of nodes and values.
  void CountEdits(int64_t count = 1) {
    edits_ += count;
    if (count > 0) graph_.source_ = nullptr;
  }
  void Touch(NodeId id) {
    if (touched_ != nullptr && id.valid()) touched_->push_back(id);
  }
  void AddUse(ValueId value, Use use);
  void RemoveUse(ValueId value, Use use);
  void Link(NodeId id);
  void Unlink(NodeId id);
  // The control edges into `id`, in the index of the nodes that run after a node.
  void LinkControl(NodeId id);
  void UnlinkControl(NodeId id);
  void Rename(std::string& name, std::string to);

  Graph& graph_;
  int64_t edits_ = 0;
  std::vector<NodeId>* touched_ = nullptr;
};

}  // namespace halftone

#endif  // HALFTONE_IR_EDITOR_H_
