// SPDX-License-Identifier: Apache-2.0
// Builds a GraphDef from a Graph: what every op needs. How each op is written is in write_node.cc.
#ifndef HALFTONE_FORMATS_TENSORFLOW_GRAPH_WRITER_H_
#define HALFTONE_FORMATS_TENSORFLOW_GRAPH_WRITER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/names.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/graph.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// A data input as the file writes it ("node:1"), and its element type.
struct Source {
  std::string name;
  DataType type = DataType::kUnknown;
};

using AttrValues = std::map<std::string, tf::AttrValue>;

tf::AttrValue BoolAttr(bool value);
tf::AttrValue IntAttr(int64_t value);
tf::AttrValue FloatAttr(float value);
tf::AttrValue StringAttr(std::string_view value);
tf::AttrValue TypeAttr(DataType value);
tf::AttrValue IntsAttr(const std::vector<int64_t>& values);
tf::AttrValue StringsAttr(const std::vector<std::string>& values);

// Thread-compatible; the graph must outlive it.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, NameTable names) : graph_(graph), names_(std::move(names)) {}
  GraphWriter(const GraphWriter&) = delete;
  GraphWriter& operator=(const GraphWriter&) = delete;

  const Graph& graph() const { return graph_; }
  const WrittenAs& written() const { return names_.written(); }
  const std::string& NameOf(NodeId id) const { return names_.Of(id); }
  std::string UniqueName(std::string_view wish) { return names_.Unique(wish); }

  // Input `i` of a node; an unnamed constant is written now, under the node's name and the port's. REQUIRES: it is
  // there
  Source Input(NodeId id, int i);
  Source Value(ValueId value, std::string_view wish);

  // A new Const. Its name is like `wish`.
  Source AddConst(std::string_view wish, const Tensor& value, const std::string& device = "");
  // Its name is just `name`, which is a node's of the graph.
  Source AddConstAs(std::string name, const Tensor& value, const std::string& device);
  // The graph's constant of just this name if it has this value (what an attribute was read from), else a new one.
  Source ConstNamed(std::string_view name, const Tensor& value, const std::string& device);
  // A new node that stands for no node of the graph: device as `owner`. `type`: of its output 0.
  Source Add(std::string_view tf_op, std::string name, NodeId owner, const std::vector<Source>& inputs,
             AttrValues attrs, DataType type);

  // Writes node `id` as this row says, with these data inputs, in the NodeDef's order, with `attributes` instead of its
  // own if they are given, and with what `by_rule` says of attributes of that form (a value that is not set: absent).
  absl::Status AddRow(NodeId id, const OpRow& row, const std::vector<Source>& inputs,
                      const Attributes* attributes = nullptr, const AttrValues& by_rule = {});
  // Writes the node with its attributes verbatim.
  absl::Status AddOpaque(NodeId id);
  absl::Status AddConstant(NodeId id);
  // Nodes that are one in the file.
  absl::Status AddParts(const std::vector<NodeId>& parts);
  absl::Status AddAliases();
  // Of control flow: the nested graph as a new function, whose name is like `wish`; the node, with the functions of its
  // attributes (function_writer.cc).
  absl::StatusOr<std::string> AddFunction(const Graph& graph, std::string_view wish);
  absl::Status AddCall(NodeId id, const OpRow& row, const std::vector<Source>& inputs, AttrValues functions);

  tf::GraphDef& result() { return result_; }

 private:
  // Everything of the NodeDef but inputs and attributes of the op.
  absl::StatusOr<tf::NodeDef> Begin(NodeId id, std::string_view tf_op);
  void Finish(NodeId id, tf::NodeDef def, const std::vector<Source>& inputs, AttrValues attrs);
  absl::StatusOr<AttrValues> Extra(NodeId id, std::string_view tf_op);
  void AddControlInputs(NodeId id, tf::NodeDef& def) const;
  void MendColocation(const std::vector<std::string>& names, AttrValues& attrs);
  NodeId NodeNamed(std::string_view name);  // kNoNode if there is none

  const Graph& graph_;
  NameTable names_;
  std::map<std::string, NodeId, std::less<>> old_names_;  // filled on first use
  tf::GraphDef result_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_GRAPH_WRITER_H_
