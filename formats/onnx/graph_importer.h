// SPDX-License-Identifier: Apache-2.0
// GraphProto -> Graph: the model's graph and the subgraphs of its nodes.
#ifndef HALFTONE_FORMATS_ONNX_GRAPH_IMPORTER_H_
#define HALFTONE_FORMATS_ONNX_GRAPH_IMPORTER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/onnx/constants.h"
#include "formats/onnx/functions.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/sequences.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/shape_values.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

inline bool IsOnnxDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// What all graphs of one model share while it is imported.
struct ModelImport {
  int opset;         // of the model; functions may have another
  bool from_opset6;  // nodes are written as in opset 6, `opset` is 7
  Functions functions;
  int64_t fill_budget = kFillBudget;
  int depth = 0;  // graphs around
};

// Type and shape of a formal input of a subgraph.
struct FormalInput {
  DataType type = DataType::kUnknown;
  Shape shape;
};

// A value of an outer scope that a subgraph reads by its name.
struct OuterValue {
  std::string name;
  DataType type = DataType::kUnknown;
  Shape shape;
  const KnownTensor* known = nullptr;
  const Tensor* constant = nullptr;  // not nullptr: each nested graph gets a copy instead of an input
  bool filled = false;               // the constant of a ConstantOfShape node
};

// Imports one graph; takes its weights out of the proto. Not thread-safe.
class GraphImporter {
 public:
  GraphImporter(ModelImport& model, onnx::GraphProto& proto, int opset) : model_(model), proto_(proto), opset_(opset) {}

  // The model's graph. Inputs that are initialized become constants.
  absl::StatusOr<Graph> RunMain();
  // A subgraph as a closed graph: its inputs are `formal`, then those of `outer` that are no constants.
  absl::StatusOr<Graph> RunNested(const std::vector<FormalInput>& formal, const std::vector<OuterValue>& outer);

 private:
  absl::StatusOr<Graph> Run();
  void Header();
  void Inputs();
  void Initializers();
  void AddOuterValues(const std::vector<OuterValue>& outer);
  absl::Status ReadNames();
  absl::Status Nodes();
  absl::Status Outputs();

  absl::Status ImportNode(onnx::NodeProto& proto, int opset, const std::vector<std::string>& captures);
  bool ImportConstantNode(onnx::NodeProto& proto);
  void AddOpaqueConstant(const std::string& name, onnx::AttributeProto value);
  absl::Status ImportOpaque(onnx::NodeProto& proto, int opset, std::vector<ValueId> inputs,
                            const std::vector<std::string>& captures);
  absl::Status AddOutputsOf(Node node, onnx::NodeProto& proto);
  absl::Status InferTypes(NodeId id);
  void KeepType(const onnx::ValueInfoProto& info);
  Shape DeclaredShape(const onnx::TypeProto::Tensor& type) const;

  // control_importer.cc: If, Loop, Scan. nullopt: the node violates its operator's definition and stays opaque.
  absl::StatusOr<std::optional<Node>> ImportControlFlow(onnx::NodeProto& proto, OpKind op, int opset,
                                                        const std::vector<ValueId>& inputs,
                                                        const std::vector<std::string>& captures);
  std::vector<FormalInput> FormalInputs(const Node& node) const;

  ModelImport& model_;
  onnx::GraphProto& proto_;
  const int opset_;
  bool nested_ = false;
  Graph graph_;
  GraphEditor edit_{graph_};
  ShapeValues known_{graph_};  // of nodes that are there: their types and shapes do not change any more
  std::vector<int> opsets_;    // of each node
  std::vector<std::vector<std::string>> captures_;  // of each node
  std::set<std::string> read_;                      // names of values that a node, a subgraph or the caller reads
  std::unordered_map<std::string, ValueId> values_;
  Sequences sequences_{edit_, known_};
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_GRAPH_IMPORTER_H_
