// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/validator.h"

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/tensors.h"

namespace halftone::onnx_format {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

using FunctionId = std::pair<std::string, std::string>;  // domain, name

std::string NodeLabel(const onnx::NodeProto& node) {
  if (!node.name().empty()) return Concat("node '", node.name(), "' (", node.op_type(), ")");
  return Concat("a ", node.op_type(), " node",
                node.output_size() > 0 ? Concat(" that makes '", node.output(0), "'") : "");
}

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Walks the main graph, then the bodies of functions, with a list of graphs still to look at instead of recursion.
class Validator {
 public:
  explicit Validator(const onnx::ModelProto& model) : model_(model) {}

  absl::Status Run() {
    HALFTONE_RETURN_IF_ERROR(Header());
    HALFTONE_RETURN_IF_ERROR(Walk(model_.graph()));
    for (const onnx::FunctionProto& function : model_.functions()) HALFTONE_RETURN_IF_ERROR(Function(function));
    for (const onnx::TrainingInfoProto& training : model_.training_info()) {
      HALFTONE_RETURN_IF_ERROR(Walk(training.initialization()));
      HALFTONE_RETURN_IF_ERROR(Walk(training.algorithm()));
    }
    return FunctionCalls();
  }

 private:
  absl::Status Header();
  absl::Status Function(const onnx::FunctionProto& function);
  absl::Status FunctionCalls() const;
  absl::Status Walk(const onnx::GraphProto& graph);
  absl::Status OneGraph(const onnx::GraphProto& graph, int depth);
  absl::Status Nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int depth,
                     std::unordered_set<std::string>& made);
  absl::Status Attribute(const onnx::NodeProto& node, const onnx::AttributeProto& attribute, int depth);
  absl::Status OneTensor(const onnx::TensorProto& tensor, const std::string& where);
  absl::Status Sparse(const onnx::SparseTensorProto& tensor, const std::string& where);

  const onnx::ModelProto& model_;
  std::vector<std::pair<const onnx::GraphProto*, int>> work_;  // graph, depth
  bool imports_onnx_ = false;
  int64_t num_nodes_ = 0;
  int64_t num_tensors_ = 0;
  FunctionId current_function_;
  std::map<FunctionId, std::set<FunctionId>> calls_;  // of functions that the model defines
};

absl::Status Validator::Header() {
  if (!model_.has_graph()) return Invalid("no graph in it: this is not an ONNX model, or only a part of one");
  if (model_.ir_version() < kMinIrVersion || model_.ir_version() > kMaxIrVersion) {
    return Invalid("IR version ", model_.ir_version(), " is not supported, ", kMinIrVersion, " to ", kMaxIrVersion,
                   " are");
  }
  std::set<std::string> domains;
  for (const onnx::OperatorSetIdProto& opset : model_.opset_import()) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(opset.domain(), "a domain"));
    if (!domains.insert(Domain(opset.domain())).second)
      return Invalid("domain '", opset.domain(), "' is imported twice");
    if (Domain(opset.domain()).empty() && (opset.version() < kOldestOpset || opset.version() > kMaxOpset)) {
      return Invalid("opset ", opset.version(), " is not supported, ", kOldestOpset, " to ", kMaxOpset, " are");
    }
  }
  imports_onnx_ = domains.contains("");
  for (const std::string* text : {&model_.producer_name(), &model_.producer_version(), &model_.domain()}) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(*text, "the producer or domain"));
  }
  for (const onnx::StringStringEntryProto& entry : model_.metadata_props()) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(entry.key(), "a metadata key"));
  }
  return absl::OkStatus();
}

absl::Status Validator::Function(const onnx::FunctionProto& function) {
  HALFTONE_RETURN_IF_ERROR(ValidateName(function.name(), "a function's name"));
  HALFTONE_RETURN_IF_ERROR(ValidateName(function.domain(), "a function's domain"));
  for (const onnx::OperatorSetIdProto& opset : function.opset_import()) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(opset.domain(), "a domain"));
  }
  if (function.name().empty()) return Invalid("a function has no name");
  current_function_ = {Domain(function.domain()), function.name()};
  if (!calls_.emplace(current_function_, std::set<FunctionId>()).second && function.overload().empty()) {
    return Invalid("function '", function.name(), "' is defined twice");
  }
  std::unordered_set<std::string> made;
  for (const std::string& input : function.input()) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(input, "a function's input"));
    if (!made.insert(input).second) return Invalid("function '", function.name(), "' has two inputs '", input, "'");
  }
  HALFTONE_RETURN_IF_ERROR(Annotate(Nodes(function.node(), 0, made), Concat("function '", function.name(), "'")));
  while (!work_.empty()) {
    const auto [graph, depth] = work_.back();
    work_.pop_back();
    HALFTONE_RETURN_IF_ERROR(Annotate(OneGraph(*graph, depth), Concat("function '", function.name(), "'")));
  }
  return absl::OkStatus();
}

// Peels functions that call none of the remaining ones; each round is one level of calls.
absl::Status Validator::FunctionCalls() const {
  std::map<FunctionId, std::set<FunctionId>> waiting = calls_;
  for (auto& [id, callees] : waiting) {
    std::erase_if(callees, [this](const FunctionId& callee) { return !calls_.contains(callee); });
  }
  for (int level = 0; !waiting.empty(); ++level) {
    if (level > kMaxFunctionDepth)
      return Invalid("functions call each other more than ", kMaxFunctionDepth, " levels deep");
    std::set<FunctionId> leaves;
    for (const auto& [id, callees] : waiting) {
      if (callees.empty()) leaves.insert(id);
    }
    if (leaves.empty())
      return Invalid("function '", waiting.begin()->first.second, "' calls itself, directly or through others");
    for (const FunctionId& leaf : leaves) waiting.erase(leaf);
    for (auto& [id, callees] : waiting) {
      std::erase_if(callees, [&leaves](const FunctionId& callee) { return leaves.contains(callee); });
    }
  }
  return absl::OkStatus();
}

absl::Status Validator::Walk(const onnx::GraphProto& graph) {
  current_function_ = {};
  work_.emplace_back(&graph, 0);
  while (!work_.empty()) {
    const auto [next, depth] = work_.back();
    work_.pop_back();
    HALFTONE_RETURN_IF_ERROR(OneGraph(*next, depth));
  }
  return absl::OkStatus();
}

absl::Status Validator::OneGraph(const onnx::GraphProto& graph, int depth) {
  if (depth > kMaxSubgraphDepth) return Invalid("subgraphs are nested more than ", kMaxSubgraphDepth, " deep");
  HALFTONE_RETURN_IF_ERROR(ValidateName(graph.name(), "a graph's name"));
  std::unordered_set<std::string> inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(input.name(), "an input's name"));
    if (input.name().empty()) return Invalid("an input of the graph has no name");
    if (!inputs.insert(input.name()).second) return Invalid("two inputs of the graph are called '", input.name(), "'");
  }
  std::unordered_set<std::string> made;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    HALFTONE_RETURN_IF_ERROR(OneTensor(tensor, "an initializer"));
    if (tensor.name().empty()) return Invalid("an initializer has no name");
    if (!made.insert(tensor.name()).second) return Invalid("two initializers are called '", tensor.name(), "'");
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    HALFTONE_RETURN_IF_ERROR(Sparse(tensor, "a sparse initializer"));
    if (tensor.values().name().empty()) return Invalid("a sparse initializer has no name");
    if (!made.insert(tensor.values().name()).second)
      return Invalid("two initializers are called '", tensor.values().name(), "'");
  }
  made.insert(inputs.begin(), inputs.end());  // an input that is an initializer too has a default
  for (const auto* infos : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const onnx::ValueInfoProto& info : *infos) {
      HALFTONE_RETURN_IF_ERROR(ValidateName(info.name(), "a value's name"));
      if (!info.type().has_tensor_type()) continue;
      for (const onnx::TensorShapeProto::Dimension& dim : info.type().tensor_type().shape().dim()) {
        HALFTONE_RETURN_IF_ERROR(ValidateName(dim.dim_param(), "the name of a dimension"));
      }
      if (info.type().tensor_type().shape().dim_size() > kMaxRank) {
        return Invalid("value '", info.name(), "' has rank ", info.type().tensor_type().shape().dim_size(),
                       ", at most ", kMaxRank, " is supported");
      }
    }
  }
  std::unordered_set<std::string> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (depth == 0 && !outputs.insert(output.name()).second) {
      return Invalid("two outputs of the graph are called '", output.name(), "'");
    }
  }
  return Nodes(graph.node(), depth, made);
}

absl::Status Validator::Nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int depth,
                              std::unordered_set<std::string>& made) {
  num_nodes_ += nodes.size();
  if (num_nodes_ > kMaxNodes) return Invalid("more than ", kMaxNodes, " nodes");
  for (const onnx::NodeProto& node : nodes) {
    HALFTONE_RETURN_IF_ERROR(ValidateName(node.name(), "a node's name"));
    HALFTONE_RETURN_IF_ERROR(ValidateName(node.op_type(), "a node's op_type"));
    HALFTONE_RETURN_IF_ERROR(ValidateName(node.domain(), "a node's domain"));
    HALFTONE_RETURN_IF_ERROR(ValidateName(node.overload(), "a node's overload"));
    if (node.op_type().empty()) return Invalid(NodeLabel(node), ": op_type is empty");
    if (!imports_onnx_ && Domain(node.domain()).empty()) {
      return Invalid(NodeLabel(node), ": the model imports no version of ONNX's own operators (opset_import)");
    }
    for (const std::string& input : node.input()) HALFTONE_RETURN_IF_ERROR(ValidateName(input, "a node's input"));
    for (const std::string& output : node.output()) {
      HALFTONE_RETURN_IF_ERROR(ValidateName(output, "a node's output"));
      if (output.empty()) continue;
      if (!made.insert(output).second) return Invalid(NodeLabel(node), ": value '", output, "' is made twice");
    }
    std::set<std::string> names;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!names.insert(attribute.name()).second)
        return Invalid(NodeLabel(node), ": attribute '", attribute.name(), "' is there twice");
      HALFTONE_RETURN_IF_ERROR(Attribute(node, attribute, depth));
    }
    if (!current_function_.second.empty()) calls_[current_function_].insert({Domain(node.domain()), node.op_type()});
  }
  return absl::OkStatus();
}

absl::Status Validator::Attribute(const onnx::NodeProto& node, const onnx::AttributeProto& attribute, int depth) {
  HALFTONE_RETURN_IF_ERROR(ValidateName(attribute.name(), "an attribute's name"));
  if (attribute.name().empty()) return Invalid(NodeLabel(node), ": an attribute has no name");
  const std::string where = Concat(NodeLabel(node), ": attribute '", attribute.name(), "'");
  const bool refers = !attribute.ref_attr_name().empty();
  if (refers && current_function_.second.empty())
    return Invalid(where, " refers to a function's attribute outside of any function");
  const onnx::AttributeProto::AttributeType kind = KindOf(attribute);
  if (kind == onnx::AttributeProto::UNDEFINED) return Invalid(where, " has no type");
  // Fields that do not belong to the type must be empty.
  using A = onnx::AttributeProto;
  const std::pair<A::AttributeType, bool> fields[] = {{A::FLOAT, attribute.has_f()},
                                                      {A::INT, attribute.has_i()},
                                                      {A::STRING, attribute.has_s()},
                                                      {A::TENSOR, attribute.has_t()},
                                                      {A::GRAPH, attribute.has_g()},
                                                      {A::SPARSE_TENSOR, attribute.has_sparse_tensor()},
                                                      {A::TYPE_PROTO, attribute.has_tp()},
                                                      {A::FLOATS, attribute.floats_size() > 0},
                                                      {A::INTS, attribute.ints_size() > 0},
                                                      {A::STRINGS, attribute.strings_size() > 0},
                                                      {A::TENSORS, attribute.tensors_size() > 0},
                                                      {A::GRAPHS, attribute.graphs_size() > 0},
                                                      {A::SPARSE_TENSORS, attribute.sparse_tensors_size() > 0},
                                                      {A::TYPE_PROTOS, attribute.type_protos_size() > 0}};
  for (const auto& [field, present] : fields) {
    if (present && field != kind)
      return Invalid(where, " is of type ", A::AttributeType_Name(kind), " but holds ", A::AttributeType_Name(field));
    const bool single = field == A::TENSOR || field == A::GRAPH || field == A::SPARSE_TENSOR || field == A::TYPE_PROTO;
    if (field == kind && single && !present && !refers)
      return Invalid(where, " is of type ", A::AttributeType_Name(kind), " but holds none");
  }
  size_t longest = attribute.s().size();
  for (const std::string& text : attribute.strings()) longest = std::max(longest, text.size());
  if (longest > kMaxStringBytes)
    return Invalid(where, " has a string of ", longest, " bytes, at most ", kMaxStringBytes, " are allowed");
  if (attribute.has_t()) HALFTONE_RETURN_IF_ERROR(OneTensor(attribute.t(), where));
  for (const onnx::TensorProto& tensor : attribute.tensors()) HALFTONE_RETURN_IF_ERROR(OneTensor(tensor, where));
  if (attribute.has_sparse_tensor()) HALFTONE_RETURN_IF_ERROR(Sparse(attribute.sparse_tensor(), where));
  for (const onnx::SparseTensorProto& tensor : attribute.sparse_tensors())
    HALFTONE_RETURN_IF_ERROR(Sparse(tensor, where));
  if (attribute.has_g()) work_.emplace_back(&attribute.g(), depth + 1);
  for (const onnx::GraphProto& graph : attribute.graphs()) work_.emplace_back(&graph, depth + 1);
  return absl::OkStatus();
}

absl::Status Validator::OneTensor(const onnx::TensorProto& tensor, const std::string& where) {
  if (++num_tensors_ > kMaxTensors) return Invalid("more than ", kMaxTensors, " tensors");
  return ValidateTensor(tensor, where);
}

absl::Status Validator::Sparse(const onnx::SparseTensorProto& tensor, const std::string& where) {
  HALFTONE_RETURN_IF_ERROR(OneTensor(tensor.values(), where));
  return OneTensor(tensor.indices(), where);
}

}  // namespace

absl::Status ValidateModel(const onnx::ModelProto& model) { return Validator(model).Run(); }

}  // namespace halftone::onnx_format
