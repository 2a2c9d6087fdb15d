#include "formats/onnx/importer.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/canonical_node.h"
#include "formats/onnx/constants.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/node_order.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/shape_values.h"
#include "ir/verifier.h"
#include "onnx/onnx_pb.h"

namespace halftone {
namespace onnx_format {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

bool IsOnnxDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string LabelOf(const onnx::NodeProto& proto) {
  const std::string made = proto.output_size() > 0 ? proto.output(0) : "";
  return Concat("node '", proto.name().empty() ? made : proto.name(), "' (", proto.op_type(), ")");
}

class Importer {
 public:
  explicit Importer(onnx::ModelProto& model) : model_(model), proto_(*model.mutable_graph()) {}

  absl::StatusOr<Graph> Run() {
    Header();
    Inputs();
    Initializers();
    HALFTONE_RETURN_IF_ERROR(Nodes());
    HALFTONE_RETURN_IF_ERROR(Outputs());
    HALFTONE_RETURN_IF_ERROR(VerifyGraph(graph_));  // types that do not fit each other
    return std::move(graph_);
  }

 private:
  void Header();
  void Inputs();
  void Initializers();
  absl::Status Nodes();
  absl::Status Outputs();

  absl::Status ImportNode(onnx::NodeProto& proto, const std::vector<std::string>& captures);
  bool ImportConstantNode(onnx::NodeProto& proto);
  void AddOpaqueConstant(const std::string& name, onnx::AttributeProto value);
  absl::Status AddOutputsOf(Node node, onnx::NodeProto& proto);
  absl::Status InferTypes(NodeId id);
  void KeepType(const onnx::ValueInfoProto& info);

  onnx::ModelProto& model_;
  onnx::GraphProto& proto_;
  Graph graph_;
  GraphEditor edit_{graph_};
  int opset_ = kMaxOpset;  // a model that imports none has no node to which it matters
  int64_t fill_budget_ = kFillBudget;
  ShapeValues known_{graph_};      // of nodes that are there: their types and shapes do not change any more
  std::set<std::string> own_ops_;  // operators of ONNX's domain that the model redefines as functions
  std::set<std::string> read_;     // names of values that a node, a subgraph or the model's caller reads
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
};

// ---- What the file says about itself.

void Importer::Header() {
  edit_.SetFormat(GraphFormat::kOnnx);
  edit_.SetGraphName(proto_.name());
  edit_.SetHeader("ir_version", static_cast<int64_t>(model_.ir_version()));
  std::vector<int64_t> versions;
  std::vector<std::string> domains;
  for (const onnx::OperatorSetIdProto& opset : model_.opset_import()) {
    if (IsOnnxDomain(opset.domain())) opset_ = static_cast<int>(opset.version());
    versions.push_back(opset.version());
    domains.push_back(IsOnnxDomain(opset.domain()) ? "" : opset.domain());
  }
  edit_.SetHeader("opset", versions);
  edit_.SetHeader("opset_domains", domains);
  const auto set_text = [this](const char* name, const std::string& text) {
    if (!text.empty()) edit_.SetHeader(name, text);
  };
  set_text("producer_name", model_.producer_name());
  set_text("producer_version", model_.producer_version());
  set_text("domain", model_.domain());
  set_text("doc_string", model_.doc_string());
  set_text("graph_doc_string", proto_.doc_string());
  if (model_.has_model_version()) edit_.SetHeader("model_version", static_cast<int64_t>(model_.model_version()));
  if (model_.metadata_props_size() > 0) {
    std::vector<std::string> keys, values;
    for (const onnx::StringStringEntryProto& entry : model_.metadata_props()) {
      keys.push_back(entry.key());
      values.push_back(entry.value());
    }
    edit_.SetHeader("metadata_keys", keys);
    edit_.SetHeader("metadata_values", values);
  }
  onnx::ModelProto rest;
  rest.mutable_functions()->Swap(model_.mutable_functions());
  rest.mutable_training_info()->Swap(model_.mutable_training_info());
  for (const onnx::FunctionProto& function : rest.functions()) {
    if (IsOnnxDomain(function.domain())) own_ops_.insert(function.name());
  }
  if (rest.ByteSizeLong() > 0) edit_.SetHeader("rest", RawBytes{rest.SerializeAsString()});
  onnx::GraphProto graph_rest;
  graph_rest.mutable_quantization_annotation()->Swap(proto_.mutable_quantization_annotation());
  graph_rest.mutable_metadata_props()->Swap(proto_.mutable_metadata_props());
  if (graph_rest.ByteSizeLong() > 0) edit_.SetHeader("graph_rest", RawBytes{graph_rest.SerializeAsString()});
  for (const auto* infos : {&proto_.value_info(), &proto_.output()}) {
    for (const onnx::ValueInfoProto& info : *infos) declared_[info.name()] = &info;
  }
}

void Importer::KeepType(const onnx::ValueInfoProto& info) {
  if (info.has_type() && !IsPlainTensor(info.type()) && info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET) {
    edit_.SetHeader(Concat("type:", info.name()), RawBytes{info.type().SerializeAsString()});
  }
}

void Importer::Inputs() {
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : proto_.initializer()) initialized.insert(tensor.name());
  for (const onnx::SparseTensorProto& tensor : proto_.sparse_initializer()) initialized.insert(tensor.values().name());
  std::vector<std::string> with_default;
  for (const onnx::ValueInfoProto& input : proto_.input()) {
    if (initialized.contains(input.name())) {
      with_default.push_back(input.name());
      continue;
    }
    const bool plain = IsPlainTensor(input.type());
    KeepType(input);
    values_[input.name()] =
        edit_.AddInput(input.name(), plain ? FromOnnxType(input.type().tensor_type().elem_type()) : DataType::kUnknown,
                       plain ? FromOnnxShape(input.type().tensor_type()) : Shape());
  }
  if (!with_default.empty()) edit_.SetHeader("initializer_inputs", with_default);
}

void Importer::Initializers() {
  for (onnx::TensorProto& tensor : *proto_.mutable_initializer()) {
    const std::string name = tensor.name();
    if (FromOnnxType(tensor.data_type()) != DataType::kUnknown) {
      values_[name] = edit_.AddConstant(name, TakeTensor(tensor));
      tensor.Clear();  // typed data was copied
      continue;
    }
    onnx::AttributeProto value;
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->Swap(&tensor);
    AddOpaqueConstant(name, std::move(value));
  }
  for (onnx::SparseTensorProto& tensor : *proto_.mutable_sparse_initializer()) {
    const std::string name = tensor.values().name();
    onnx::AttributeProto value;
    value.set_name("sparse_value");
    value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    value.mutable_sparse_tensor()->Swap(&tensor);
    AddOpaqueConstant(name, std::move(value));
  }
}

// A constant that the graph cannot hold (8-bit floats, 4-bit integers, sparse) is an opaque Constant node.
void Importer::AddOpaqueConstant(const std::string& name, onnx::AttributeProto value) {
  Node node;
  node.spelling = "Constant";
  node.extra.Set(value.name(), RawBytes{value.SerializeAsString()});
  values_[name] = graph_.output(edit_.AddNode(std::move(node), {{DataType::kUnknown, Shape(), name}}));
}

// ---- Nodes.

absl::Status Importer::Nodes() {
  std::vector<std::vector<std::string>> captures(proto_.node_size());
  for (int i = 0; i < proto_.node_size(); ++i) {
    if (HasSubgraph(proto_.node(i))) captures[i] = CapturedNames(proto_.node(i));
    read_.insert(captures[i].begin(), captures[i].end());
    for (const std::string& input : proto_.node(i).input()) {
      if (!input.empty()) read_.insert(input);
    }
  }
  for (const onnx::ValueInfoProto& output : proto_.output()) read_.insert(output.name());
  std::set<std::string> known;
  for (const auto& [name, value] : values_) known.insert(name);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int> order, OrderNodes(proto_, captures, known));
  for (const int i : order) {
    onnx::NodeProto& node = *proto_.mutable_node(i);
    const std::string label = LabelOf(node);
    HALFTONE_RETURN_IF_ERROR(Annotate(ImportNode(node, captures[i]), label));
    node.Clear();
  }
  return absl::OkStatus();
}

absl::Status Importer::ImportNode(onnx::NodeProto& proto, const std::vector<std::string>& captures) {
  const bool onnx = IsOnnxDomain(proto.domain());
  const bool own_op = onnx && own_ops_.contains(proto.op_type());  // a function of the model that has ONNX's name
  if (onnx && !own_op && ImportConstantNode(proto)) return absl::OkStatus();
  std::vector<ValueId> inputs;
  for (const std::string& name : proto.input()) inputs.push_back(name.empty() ? kNoValue : values_.at(name));
  const OpRow* row = own_op || !captures.empty() ? nullptr : FindRow(onnx ? "" : proto.domain(), proto.op_type());
  if (row != nullptr && row->since <= opset_) {
    HALFTONE_ASSIGN_OR_RETURN(std::optional<Node> node,
                              CanonicalNode({proto, opset_, graph_, inputs, read_}, *row, edit_));
    if (node.has_value()) return AddOutputsOf(*std::move(node), proto);
  }
  Node node;
  node.op = OpKind::kOpaque;
  node.name = proto.name();
  node.spelling = proto.op_type();
  node.domain = IsOnnxDomain(proto.domain()) ? "" : proto.domain();
  node.inputs = std::move(inputs);
  node.captures = captures;
  for (const std::string& name : captures) node.inputs.push_back(values_.at(name));
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
    const std::string name = attribute.name();
    node.extra.Set(name, TakeAttribute(attribute));
  }
  return AddOutputsOf(std::move(node), proto);
}

// False if it is none, or one that the graph cannot hold.
bool Importer::ImportConstantNode(onnx::NodeProto& proto) {
  std::optional<Tensor> tensor;
  std::string_view mark = kConstantNodeMark;
  if (proto.op_type() == "Constant") {
    tensor = TakeConstant(proto);
  } else if (proto.op_type() == "ConstantOfShape" && proto.input_size() == 1 && !proto.input(0).empty()) {
    const std::optional<std::vector<int64_t>> dims = known_.Ints(values_.at(proto.input(0)));
    if (dims.has_value()) tensor = FilledTensor(proto, *dims, fill_budget_);
    if (tensor.has_value()) fill_budget_ -= static_cast<int64_t>(tensor->byte_size());
    mark = kFillNodeMark;
  }
  if (!tensor.has_value()) return false;
  ValueSpec spec{tensor->type(), tensor->shape(), proto.output(0)};
  Attributes attributes;
  attributes.Set("value", *std::move(tensor));
  const NodeId id = edit_.Add(OpKind::kConstant, proto.name(), {}, std::move(spec), std::move(attributes));
  edit_.SetExtra(id, std::string(mark), true);
  values_[proto.output(0)] = graph_.output(id);
  return true;
}

// Adds the node with its outputs, by their names, and finds their types and shapes.
absl::Status Importer::AddOutputsOf(Node node, onnx::NodeProto& proto) {
  if (!proto.doc_string().empty()) node.extra.Set(std::string(kDocMark), proto.doc_string());
  if (!proto.overload().empty()) node.extra.Set(std::string(kOverloadMark), proto.overload());
  const bool opaque = node.op == OpKind::kOpaque;
  std::vector<ValueSpec> specs;
  for (const std::string& name : proto.output()) {
    ValueSpec spec{DataType::kUnknown, Shape(), name};
    const auto it = declared_.find(name);
    if (opaque && it != declared_.end() && IsPlainTensor(it->second->type())) {
      spec.type = FromOnnxType(it->second->type().tensor_type().elem_type());
      spec.shape = FromOnnxShape(it->second->type().tensor_type());
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (opaque || !specs.empty() || !SaysOutputType(attribute.name())) continue;
      spec.type = FromOnnxType(static_cast<int>(attribute.i()));
    }
    if (node.op == OpKind::kShape) spec.type = DataType::kInt64;
    specs.push_back(std::move(spec));
  }
  const NodeId id = edit_.AddNode(std::move(node), std::move(specs));
  for (int i = 0; i < proto.output_size(); ++i) {
    if (!proto.output(i).empty()) values_[proto.output(i)] = graph_.output(id, i);
  }
  return opaque ? absl::OkStatus() : InferTypes(id);
}

// What inference says, completed by what the file declares. Where the file's shape contradicts it is ignored, as
// runtimes do.
absl::Status Importer::InferTypes(NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> inferred, InferNode(graph_, id));
  for (size_t i = 0; i < inferred.size(); ++i) {
    const ValueId value = graph_.output(id, static_cast<int>(i));
    if (!value.valid()) continue;
    DataType type = inferred[i].type;
    Shape shape = inferred[i].shape;
    const auto it = declared_.find(graph_.value(value).name);
    if (it != declared_.end() && IsPlainTensor(it->second->type())) {
      const DataType declared_type = FromOnnxType(it->second->type().tensor_type().elem_type());
      const Shape declared = FromOnnxShape(it->second->type().tensor_type());
      if (type == DataType::kUnknown) type = declared_type;
      if (type != declared_type) {
        return Invalid("'", graph_.value(value).name, "' is declared as ", DataTypeName(declared_type), ", but is ",
                       DataTypeName(type));
      }
      if (!shape.has_rank()) shape = declared;
      for (int d = 0; declared.has_rank() && declared.rank() == shape.rank() && d < shape.rank(); ++d) {
        if (shape.dim(d) == Dim::Unknown()) shape.mutable_dim(d) = declared.dim(d);
      }
    }
    if (type != DataType::kUnknown) edit_.SetType(value, type);
    edit_.SetShape(value, std::move(shape));
  }
  return absl::OkStatus();
}

absl::Status Importer::Outputs() {
  if (proto_.output_size() == 0) return Invalid("the graph has no outputs");
  for (const onnx::ValueInfoProto& output : proto_.output()) {
    const auto it = values_.find(output.name());
    if (it == values_.end()) return Invalid("output '", output.name(), "' of the graph is made by no node");
    KeepType(output);
    edit_.AddGraphOutput(output.name(), it->second);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace onnx_format

absl::StatusOr<Graph> ImportOnnx(std::string_view bytes) {
  const auto model = std::make_unique<onnx::ModelProto>();
  if (!onnx_format::ParseMessage(bytes, *model)) {
    return absl::InvalidArgumentError(
        "not a valid ONNX file: cut off, damaged, of another format, or larger than 2 GiB");
  }
  HALFTONE_RETURN_IF_ERROR(onnx_format::ValidateModel(*model));
  return onnx_format::Importer(*model).Run();
}

}  // namespace halftone
