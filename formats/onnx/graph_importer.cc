// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/graph_importer.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/canonical_node.h"
#include "formats/onnx/dialects.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/loop_lists.h"
#include "formats/onnx/node_order.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/opset6.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"
#include "ir/nested.h"
#include "ir/shape_inference.h"

namespace halftone::onnx_format {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

std::string LabelOf(const onnx::NodeProto& proto) {
  const std::string made = proto.output_size() > 0 ? proto.output(0) : "";
  return Concat("node '", proto.name().empty() ? made : proto.name(), "' (", proto.op_type(), ")");
}

// A symbolic dimension inside a subgraph holds for one run of it only.
Shape WithoutSymbols(Shape shape) {
  for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) shape.mutable_dim(i).symbol.clear();
  return shape;
}

}  // namespace

absl::StatusOr<Graph> GraphImporter::RunMain() {
  edit_.SetHeader(std::string(kHeaderFormat), std::string(OnnxDialect().name));
  Header();
  Inputs();
  HALFTONE_RETURN_IF_ERROR(ReadNames());
  return Run();
}

absl::StatusOr<Graph> GraphImporter::RunNested(const std::vector<FormalInput>& formal,
                                               const std::vector<OuterValue>& outer) {
  if (model_.depth >= kMaxSubgraphDepth) {  // the validator has counted, but not those inside functions
    return Invalid("subgraphs are nested more than ", kMaxSubgraphDepth, " deep");
  }
  nested_ = true;
  Header();
  for (int i = 0; i < proto_.input_size(); ++i) {
    const onnx::ValueInfoProto& input = proto_.input(i);
    KeepType(input);
    DataType type = formal[i].type;
    if (IsPlainTensor(input.type())) type = FromOnnxType(input.type().tensor_type().elem_type());
    values_[input.name()] = edit_.AddInput(input.name(), type, formal[i].shape);
  }
  HALFTONE_RETURN_IF_ERROR(ReadNames());
  AddOuterValues(outer);
  ++model_.depth;
  absl::StatusOr<Graph> graph = Run();
  --model_.depth;
  return graph;
}

absl::StatusOr<Graph> GraphImporter::Run() {
  Initializers();
  HALFTONE_RETURN_IF_ERROR(Nodes());
  HALFTONE_RETURN_IF_ERROR(Outputs());
  return std::move(graph_);
}

// Name, doc string, annotations and metadata of the graph.
void GraphImporter::Header() {
  edit_.SetGraphName(proto_.name());
  if (!proto_.doc_string().empty()) edit_.SetHeader("graph_doc_string", proto_.doc_string());
  onnx::GraphProto rest;
  rest.mutable_quantization_annotation()->Swap(proto_.mutable_quantization_annotation());
  rest.mutable_metadata_props()->Swap(proto_.mutable_metadata_props());
  if (rest.ByteSizeLong() > 0) edit_.SetHeader("graph_rest", RawBytes{rest.SerializeAsString()});
  for (const auto* infos : {&proto_.value_info(), &proto_.output()}) {
    for (const onnx::ValueInfoProto& info : *infos) declared_[info.name()] = &info;
  }
}

void GraphImporter::KeepType(const onnx::ValueInfoProto& info) {
  if (info.has_type() && !IsPlainTensor(info.type()) && info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET) {
    edit_.SetHeader(Concat("type:", info.name()), RawBytes{info.type().SerializeAsString()});
  }
}

Shape GraphImporter::DeclaredShape(const onnx::TypeProto::Tensor& type) const {
  return nested_ ? WithoutSymbols(FromOnnxShape(type)) : FromOnnxShape(type);
}

void GraphImporter::Inputs() {
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

void GraphImporter::AddOuterValues(const std::vector<OuterValue>& outer) {
  for (const OuterValue& value : outer) {
    if (value.constant != nullptr) continue;
    const ValueId input = edit_.AddInput(value.name, value.type, value.shape);
    values_[value.name] = input;
    if (value.known == nullptr) continue;
    KnownTensor known = *value.known;
    for (KnownElement& element : known.elements) {
      if (element.symbol.starts_with('?')) element.symbol.clear();  // numbered in each graph by itself
    }
    known_.Set(input, std::move(known));
  }
  for (const OuterValue& value : outer) {
    if (value.constant == nullptr || !read_.contains(value.name)) continue;
    const ValueId copy = edit_.AddConstant("", *value.constant);
    edit_.SetExtra(graph_.producer(copy), std::string(kOuterMark), value.name);
    if (value.filled) edit_.SetExtra(graph_.producer(copy), std::string(kFillNodeMark), true);
    values_[value.name] = copy;
  }
}

void GraphImporter::Initializers() {
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

// A constant of an unsupported type (8-bit floats, 4-bit integers, sparse) becomes an opaque Constant node.
void GraphImporter::AddOpaqueConstant(const std::string& name, onnx::AttributeProto value) {
  Node node;
  node.spelling = "Constant";
  node.extra.Set(value.name(), RawBytes{value.SerializeAsString()});
  values_[name] = graph_.output(edit_.AddNode(std::move(node), {{DataType::kUnknown, Shape(), name}}));
}

// ---- Nodes.

// Inlines calls of functions, then collects which names are read.
absl::Status GraphImporter::ReadNames() {
  HALFTONE_RETURN_IF_ERROR(model_.functions.Inline(proto_, opset_, opsets_));
  ScanAppendedLists(proto_);
  captures_.resize(proto_.node_size());
  for (int i = 0; i < proto_.node_size(); ++i) {
    if (HasSubgraph(proto_.node(i))) captures_[i] = CapturedNames(proto_.node(i));
    read_.insert(captures_[i].begin(), captures_[i].end());
    for (const std::string& input : proto_.node(i).input()) {
      if (!input.empty()) read_.insert(input);
    }
  }
  for (const onnx::ValueInfoProto& output : proto_.output()) read_.insert(output.name());
  return absl::OkStatus();
}

absl::Status GraphImporter::Nodes() {
  std::set<std::string> known;
  for (const auto& [name, value] : values_) known.insert(name);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int> order, OrderNodes(proto_, captures_, known));
  for (const int i : order) {
    onnx::NodeProto& node = *proto_.mutable_node(i);
    const std::string label = LabelOf(node);
    HALFTONE_RETURN_IF_ERROR(Annotate(ImportNode(node, opsets_[i], captures_[i]), label));
    node.Clear();
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::ImportNode(onnx::NodeProto& proto, int opset, const std::vector<std::string>& captures) {
  const bool own_op = model_.functions.IsCall(proto);  // of a function of the model, whatever its name
  const bool onnx = IsOnnxDomain(proto.domain()) && !own_op;
  if (onnx && ImportConstantNode(proto)) return absl::OkStatus();
  if (onnx) {
    HALFTONE_ASSIGN_OR_RETURN(Sequences::Step step, sequences_.Import(proto, values_));
    if (step.done) return absl::OkStatus();
    if (step.node.has_value()) return AddOutputsOf(*std::move(step.node), proto);
  }
  for (const std::string& name : proto.input()) sequences_.Materialize(name, values_);
  for (const std::string& name : captures) sequences_.Materialize(name, values_);
  std::vector<ValueId> inputs;
  for (const std::string& name : proto.input()) inputs.push_back(name.empty() ? kNoValue : values_.at(name));
  if (onnx && model_.from_opset6) HALFTONE_RETURN_IF_ERROR(UpgradeFromOpset6(proto, inputs, edit_));
  const OpRow* row = own_op ? nullptr : FindRow(onnx ? "" : proto.domain(), proto.op_type());
  if (row == nullptr || row->since > opset) return ImportOpaque(proto, opset, std::move(inputs), captures);
  std::optional<Node> node;
  if (HasNestedGraphs(row->op)) {
    HALFTONE_ASSIGN_OR_RETURN(node, ImportControlFlow(proto, row->op, opset, inputs, captures));
  } else if (captures.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(node, CanonicalNode({proto, opset, graph_, inputs, read_}, *row, edit_));
  }
  if (node.has_value()) return AddOutputsOf(*std::move(node), proto);
  return ImportOpaque(proto, opset, std::move(inputs), captures);
}

absl::Status GraphImporter::ImportOpaque(onnx::NodeProto& proto, int opset, std::vector<ValueId> inputs,
                                         const std::vector<std::string>& captures) {
  VisitNodes(proto, [this](const onnx::NodeProto& inner) {
    if (model_.functions.IsCall(inner)) model_.functions.KeepCall();
  });
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
  if (opset != model_.opset) node.extra.Set(std::string(kOpsetMark), static_cast<int64_t>(opset));
  return AddOutputsOf(std::move(node), proto);
}

// False if the node is no constant, or has a type that the graph does not support.
bool GraphImporter::ImportConstantNode(onnx::NodeProto& proto) {
  std::optional<Tensor> tensor;
  std::string_view mark = kConstantNodeMark;
  if (proto.op_type() == "Constant") {
    tensor = TakeConstant(proto);
  } else if (proto.op_type() == "ConstantOfShape" && proto.input_size() == 1 && !proto.input(0).empty()) {
    const auto shape = values_.find(proto.input(0));
    if (shape == values_.end()) return false;  // a list
    const std::optional<std::vector<int64_t>> dims = known_.Ints(shape->second);
    if (dims.has_value()) tensor = FilledTensor(proto, *dims, model_.fill_budget);
    if (tensor.has_value()) model_.fill_budget -= static_cast<int64_t>(tensor->byte_size());
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
absl::Status GraphImporter::AddOutputsOf(Node node, onnx::NodeProto& proto) {
  if (!proto.doc_string().empty()) node.extra.Set(std::string(kDocMark), proto.doc_string());
  if (!proto.overload().empty()) node.extra.Set(std::string(kOverloadMark), proto.overload());
  const bool opaque = node.op == OpKind::kOpaque;
  std::vector<ValueSpec> specs;
  for (const std::string& name : proto.output()) {
    ValueSpec spec{DataType::kUnknown, Shape(), name};
    const auto it = declared_.find(name);
    if (opaque && it != declared_.end() && IsPlainTensor(it->second->type())) {
      spec.type = FromOnnxType(it->second->type().tensor_type().elem_type());
      spec.shape = DeclaredShape(it->second->type().tensor_type());
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

// The inferred types and shapes, completed by the declared ones. A declared shape that contradicts is ignored, as in
// runtimes. A subgraph may hold nodes that never run (a branch for other shapes): only their types must fit.
absl::Status GraphImporter::InferTypes(NodeId id) {
  absl::StatusOr<std::vector<ValueSpec>> inferred = InferNode(graph_, id);
  if (!inferred.ok() && !nested_) return inferred.status();
  if (!inferred.ok()) inferred = std::vector<ValueSpec>(graph_.node(id).outputs.size());
  for (size_t i = 0; i < inferred->size(); ++i) {
    const ValueId value = graph_.output(id, static_cast<int>(i));
    if (!value.valid()) continue;
    DataType type = (*inferred)[i].type;
    Shape shape = (*inferred)[i].shape;
    const auto it = declared_.find(graph_.value(value).name);
    if (it != declared_.end() && IsPlainTensor(it->second->type())) {
      const DataType declared_type = FromOnnxType(it->second->type().tensor_type().elem_type());
      const Shape declared = DeclaredShape(it->second->type().tensor_type());
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

absl::Status GraphImporter::Outputs() {
  if (proto_.output_size() == 0) return Invalid("the graph has no outputs");
  for (const onnx::ValueInfoProto& output : proto_.output()) {
    sequences_.Materialize(output.name(), values_);
    const auto it = values_.find(output.name());
    if (it == values_.end()) return Invalid("output '", output.name(), "' of the graph is made by no node");
    KeepType(output);
    edit_.AddGraphOutput(output.name(), it->second);
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
