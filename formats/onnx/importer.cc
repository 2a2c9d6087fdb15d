#include "formats/onnx/importer.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "base/strings.h"
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

// The kinds of attribute that a row may name.
bool HasKind(const onnx::AttributeProto& attribute, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
    case AttributeKind::kBool:
      return KindOf(attribute) == onnx::AttributeProto::INT;
    case AttributeKind::kFloat:
      return KindOf(attribute) == onnx::AttributeProto::FLOAT;
    case AttributeKind::kString:
      return KindOf(attribute) == onnx::AttributeProto::STRING;
    case AttributeKind::kInts:
      return KindOf(attribute) == onnx::AttributeProto::INTS || (attribute.type() == 0 && attribute.ints_size() == 0);
  }
  return false;
}

AttributeKind KindOfMoved(MovedRow::Form form) {
  if (form == MovedRow::Form::kInt) return AttributeKind::kInt;
  return form == MovedRow::Form::kFloat ? AttributeKind::kFloat : AttributeKind::kInts;
}

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
  absl::StatusOr<std::optional<Node>> Canonical(onnx::NodeProto& proto, const OpRow& row, std::vector<ValueId> inputs);
  absl::Status MoveAttribute(const NodeInFile& file, const MovedRow& moved, Node& node);
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
  std::set<std::string> own_ops_;  // operators of ONNX's domain that the model redefines as functions
  std::set<std::string> read_;     // names of values that a node, a subgraph or the model's caller reads
  absl::flat_hash_map<std::string, ValueId> values_;
  absl::flat_hash_map<std::string, const onnx::ValueInfoProto*> declared_;
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
  const bool own_op = !IsOnnxDomain(proto.domain()) || own_ops_.contains(proto.op_type());
  if (!own_op && ImportConstantNode(proto)) return absl::OkStatus();
  std::vector<ValueId> inputs;
  for (const std::string& name : proto.input()) inputs.push_back(name.empty() ? kNoValue : values_.at(name));
  const OpRow* row = own_op || !captures.empty() ? nullptr : FindRow(proto.op_type());
  if (row != nullptr && row->since <= opset_) {
    HALFTONE_ASSIGN_OR_RETURN(std::optional<Node> node, Canonical(proto, *row, inputs));
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
    const std::optional<std::vector<int64_t>> dims = graph_.ConstantInts(values_.at(proto.input(0)));
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

// nullopt: it must stay opaque.
absl::StatusOr<std::optional<Node>> Importer::Canonical(onnx::NodeProto& proto, const OpRow& row,
                                                        std::vector<ValueId> inputs) {
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  const NodeInFile file{proto, opset_, graph_, inputs, read_};
  if (inputs.size() > static_cast<size_t>(row.max_inputs)) {
    return Invalid("it has ", inputs.size(), " inputs, at most ", row.max_inputs, " are possible");
  }
  if (row.keep_opaque != nullptr && !row.keep_opaque(file).empty()) return std::nullopt;
  Node node;
  node.op = row.op;
  if (FindRow(row.op) != &row) node.spelling = row.onnx;
  node.name = proto.name();
  node.inputs = inputs;
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const AttributeRow* found = nullptr;
    for (const AttributeRow& candidate : row.attributes) {
      if (candidate.onnx == attribute.name() && opset_ >= candidate.since && opset_ < candidate.until)
        found = &candidate;
    }
    if (found == nullptr) {
      bool moved = IsReadByRule(row.onnx, attribute.name());
      for (const MovedRow& candidate : row.moved)
        moved |= candidate.onnx == attribute.name() && opset_ < candidate.until;
      if (!moved) return std::nullopt;  // says something that the canonical op cannot say
      continue;
    }
    if (!HasKind(attribute, found->kind) || !attribute.ref_attr_name().empty()) {
      return Invalid("attribute '", attribute.name(), "' is of type ",
                     onnx::AttributeProto::AttributeType_Name(attribute.type()));
    }
    onnx::AttributeProto copy = attribute;
    AttributeValue value = found->kind == AttributeKind::kBool ? AttributeValue(attribute.i() != 0)
                           : found->kind == AttributeKind::kInts
                               ? AttributeValue(std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()))
                               : TakeAttribute(copy);
    if (found->canonical.empty()) {
      node.extra.Set(attribute.name(), std::move(value));
    } else {
      node.attributes.Set(std::string(found->canonical), std::move(value));
    }
  }
  for (const MovedRow& moved : row.moved) {
    if (opset_ < moved.until) HALFTONE_RETURN_IF_ERROR(MoveAttribute(file, moved, node));
  }
  if (row.finish != nullptr) HALFTONE_RETURN_IF_ERROR(row.finish(file, edit_, node));
  const int count = static_cast<int>(node.inputs.size());
  for (size_t i = 0; i < Info(row.op).inputs.size(); ++i) {
    const Port& port = Info(row.op).inputs[i];
    const bool present = port.variadic ? count >= static_cast<int>(Info(row.op).inputs.size())
                                       : i < node.inputs.size() && node.inputs[i].valid();
    if (!port.optional && !present) return Invalid("input '", port.name, "' is missing");
    if (port.variadic && std::find(node.inputs.begin(), node.inputs.end(), kNoValue) != node.inputs.end()) {
      return Invalid("one of its inputs has no name");
    }
    if (port.variadic) break;
  }
  if (proto.output_size() > static_cast<int>(Info(row.op).outputs.size())) {
    return Invalid("it has ", proto.output_size(), " outputs, at most ", Info(row.op).outputs.size(), " are possible");
  }
  if (proto.output_size() == 0 || proto.output(0).empty()) return Invalid("its first output has no name");
  return node;
}

// An attribute of this opset that is an input of the canonical op becomes an unnamed constant.
absl::Status Importer::MoveAttribute(const NodeInFile& file, const MovedRow& moved, Node& node) {
  if (moved.input != kLastInput && file.HasInput(moved.input)) {
    return Invalid("it has ", file.inputs.size(), " inputs, in opset ", opset_, " '", moved.onnx, "' is none");
  }
  const onnx::AttributeProto* attribute = moved.onnx.empty() ? nullptr : file.Find(moved.onnx);
  if (attribute == nullptr)
    return moved.required ? Invalid("attribute '", moved.onnx, "' is missing") : absl::OkStatus();
  if (!HasKind(*attribute, KindOfMoved(moved.form))) {
    return Invalid("attribute '", moved.onnx, "' is of type ",
                   onnx::AttributeProto::AttributeType_Name(attribute->type()));
  }
  Tensor tensor;
  if (moved.form == MovedRow::Form::kInt) {
    tensor = Tensor::IntScalar(attribute->i());
  } else if (moved.form == MovedRow::Form::kInts) {
    tensor = Tensor::Ints(std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end()));
  } else {
    const DataType type = file.HasInput(0) ? graph_.type(file.inputs[0]) : DataType::kUnknown;
    tensor = Tensor::Scalar(attribute->f());
    if (IsFloatingPoint(type)) {
      HALFTONE_ASSIGN_OR_RETURN(tensor, tensor.ConvertTo(type));
    }
  }
  const size_t index = moved.input == kLastInput ? node.inputs.size() : static_cast<size_t>(moved.input);
  if (node.inputs.size() <= index) node.inputs.resize(index + 1, kNoValue);
  node.inputs[index] = edit_.AddConstant("", std::move(tensor));
  return absl::OkStatus();
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
    if (node.op == OpKind::kCast) {
      for (const onnx::AttributeProto& attribute : proto.attribute()) {
        if (attribute.name() == "to") spec.type = FromOnnxType(static_cast<int>(attribute.i()));
      }
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
