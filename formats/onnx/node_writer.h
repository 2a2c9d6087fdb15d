// SPDX-License-Identifier: Apache-2.0
// Writes the nodes of a graph as NodeProtos of one opset.
#ifndef HALFTONE_FORMATS_ONNX_NODE_WRITER_H_
#define HALFTONE_FORMATS_ONNX_NODE_WRITER_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/shared_constants.h"
#include "formats/onnx/value_names.h"
#include "formats/onnx/written_nodes.h"
#include "ir/graph.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

class IntegerGroups;

// Marks of the importer in Node::extra, which are no attributes of ONNX.
inline constexpr std::string_view kConstantNodeMark = "_onnx_constant_node";  // bool: a Constant node, no initializer
inline constexpr std::string_view kFillNodeMark = "_onnx_constant_of_shape";  // bool: a ConstantOfShape node
inline constexpr std::string_view kOverloadMark = "_onnx_overload";           // string: which function is called
inline constexpr std::string_view kDocMark = "_onnx_doc_string";              // string
inline constexpr std::string_view kOuterMark = "_onnx_outer";  // string: a copy of a constant around the nested graph
inline constexpr std::string_view kOpsetMark = "_onnx_opset";  // int: an opaque node of another opset than the model's

// Call Write for each node in topological order, then Finish. Not thread-safe. The graph must outlive it.
class NodeWriter {
 public:
  // name_nodes: nodes without a name get that of their first output. `outer`: of the graph around a nested one.
  NodeWriter(const Graph& graph, int opset, ValueNames names, bool name_nodes = false, NodeWriter* outer = nullptr);

  // Nodes that are written as one operator; the groups must outlive the writer.
  void SetGroups(const IntegerGroups* groups) { groups_ = groups; }

  const Graph& graph() const { return graph_; }
  int opset() const { return opset_; }

  // Errors: UNIMPLEMENTED or INTERNAL, with the node's label, where this opset cannot express it.
  absl::Status Write(NodeId id);

  // --- For the functions of op_map.cc.
  // The name under which a node reads the value, "" for kNoValue. A constant is written only if it is read.
  std::string Read(ValueId value);
  // Names of the node's outputs without trailing ones that are absent.
  std::vector<std::string> Made(NodeId id) const;
  std::string Fresh(std::string_view base) { return names_.Fresh(base); }
  onnx::NodeProto& Add(std::string_view op_type, std::vector<std::string> inputs, std::vector<std::string> outputs);
  // An initializer that the graph does not have (axes, shapes).
  std::string AddConstant(Tensor value, std::string_view base);
  // Writes the node as its row says; never nullptr.
  absl::StatusOr<onnx::NodeProto*> WriteByRow(NodeId id, const OpRow& row);
  // The node's name and attributes as `row` has them, with other inputs and one output.
  absl::StatusOr<onnx::NodeProto*> WriteOperator(NodeId id, const OpRow& row, std::vector<std::string> inputs,
                                                 ValueId output);
  // Writes the node alone, with the names of other values in place of its own.
  absl::Status WriteAs(NodeId id, std::map<ValueId, ValueId> others);
  // An operand that is an input since opset `since` and an attribute before: adds one or the other to a node.
  void AddFloat(onnx::NodeProto& node, std::string_view attribute, int since, float value, DataType type);
  void AddInts(onnx::NodeProto& node, std::string_view attribute, int since, std::vector<int64_t> values);

  // Adds the node's name, doc string and attributes that no pass reads.
  absl::Status WriteExtra(const Node& node, onnx::NodeProto& proto) const;
  // One of the node's nested graphs as a subgraph (nested_writer.cc): what it captures it reads by name.
  absl::StatusOr<onnx::GraphProto> WriteNested(NodeId id, std::string_view name);

  // --- Results.
  struct Initializer {
    std::string name;
    Tensor value;
  };
  // Moves the nodes into `proto` and returns the initializers that are read. `keep`: those that are kept anyway.
  // INTERNAL, with the node's label, for a node that the opset does not allow; opaque ones are passed through
  // unchecked.
  absl::StatusOr<std::vector<Initializer>> Finish(onnx::GraphProto& proto, const std::vector<std::string>& keep);

 private:
  absl::Status WriteNode(NodeId id);
  ValueId InPlaceOf(ValueId value) const;
  // nested_writer.cc: a constant of this graph that nested graphs can read from here on; kNoValue if there is none.
  ValueId FindConstant(const Tensor& tensor, const std::string& name);
  // nested_writer.cc, for graphs nested in this one: the name of a constant of this graph or one around it with these
  // bytes; the outermost gets one where there is none. `name`: of the constant that it is a copy of, "" if not known.
  // `filled`: the outermost gets a ConstantOfShape node instead of an initializer.
  std::string Hoist(const Tensor& tensor, const std::string& name, bool filled);
  absl::Status WriteOpaque(NodeId id);
  absl::Status WriteConstantNode(NodeId id);
  // A ConstantOfShape node with the shape as a constant; `value`: of this graph, left out unless it is read.
  onnx::NodeProto& WriteFill(const Tensor& tensor, const std::string& name, ValueId value);
  std::string AddFill(const Tensor& tensor, std::string_view base);
  onnx::NodeProto& AddConstantNode(std::string_view op_type, std::vector<std::string> inputs, std::string output,
                                   const Tensor& content, ValueId value);
  // Whether the constant of a graph, this one or one nested in it, is written as a ConstantOfShape node.
  bool IsFillNode(const Graph& graph, NodeId id) const;
  bool IsInitializer(NodeId id) const;
  absl::Status WriteMoved(NodeId id, const MovedRow& moved, ValueId input, onnx::NodeProto& proto) const;
  absl::Status WriteAttributes(NodeId id, const OpRow& row, onnx::NodeProto& proto) const;
  void WriteAliases(NodeId id);

  struct Written {
    onnx::NodeProto proto;
    ValueId constant;  // valid: left out unless this value is read
    NodeId from = {};  // the graph's node that it was written for
  };

  const Graph& graph_;
  const int opset_;
  ValueNames names_;
  const bool name_nodes_;
  NodeWriter* const outer_;
  const std::set<NodeId> inside_attention_;
  const IntegerGroups* groups_ = nullptr;
  std::map<ValueId, ValueId> others_;  // of WriteAs
  std::vector<bool> read_;             // by value
  std::deque<Written> nodes_;
  WrittenTypes types_;
  std::vector<Initializer> added_;
  std::map<std::string, ValueId> constants_;             // by name, filled when first needed
  std::set<ValueId> written_constants_;                  // those that are nodes
  const std::shared_ptr<const SharedConstants> shared_;  // of the whole model
  // Of the outermost writer: constants that only nested graphs hold.
  std::map<std::tuple<const std::byte*, DataType, std::vector<int64_t>>, std::string> hoisted_;
};

void SetInt(onnx::NodeProto& node, std::string_view name, int64_t value);
void SetFloat(onnx::NodeProto& node, std::string_view name, float value);
void SetInts(onnx::NodeProto& node, std::string_view name, const std::vector<int64_t>& values);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_NODE_WRITER_H_
