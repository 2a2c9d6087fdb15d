// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/node_writer.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/constants.h"
#include "formats/onnx/derived_names.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/inside_attention.h"
#include "formats/onnx/integer_groups.h"
#include "formats/onnx/opset_changes.h"
#include "formats/onnx/tensors.h"

namespace halftone::onnx_format {
namespace {

onnx::AttributeProto& AddAttribute(onnx::NodeProto& node, std::string_view name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

// Data layouts that ONNX implies and that are not written.
bool IsOnnxLayout(std::string_view name, const AttributeValue& value) {
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  return (name == "layout" && *text == "NCHW") || (name == "weights_layout" && (*text == "OIHW" || *text == "IOHW"));
}

constexpr int kBf16FillSince = 20;  // ConstantOfShape makes bf16

bool IsReduction(OpKind op) { return Info(op).group == OpGroup::kReduce; }

}  // namespace

NodeWriter::NodeWriter(const Graph& graph, int opset, ValueNames names, bool name_nodes, NodeWriter* outer)
    : graph_(graph),
      opset_(opset),
      names_(std::move(names)),
      name_nodes_(name_nodes),
      outer_(outer),
      inside_attention_(NodesInsideAttention(graph)),
      read_(graph.num_values(), false),
      types_(outer == nullptr ? nullptr : &outer->types_),
      shared_(outer == nullptr ? std::make_shared<const SharedConstants>(graph) : outer->shared_) {
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      // What is not read may be of another type in old opsets (the mask of Dropout).
      const bool read = value.valid() && (!graph.uses(value).empty() || graph.IsOutput(value));
      if (read) types_.Set(names_.of(value), graph.type(value));
    }
  }
}

absl::Status NodeWriter::Write(NodeId id) {
  if (groups_ != nullptr && groups_->IsInside(id)) return absl::OkStatus();
  const size_t first = nodes_.size();
  const IntegerGroup* group = groups_ == nullptr ? nullptr : groups_->Find(id);
  absl::Status status = group == nullptr ? WriteNode(id) : WriteIntegerGroup(*this, *group);
  if (!status.ok()) return Annotate(std::move(status), Concat("node '", graph_.Label(id), "'"));
  WriteAliases(id);
  for (size_t i = first; i < nodes_.size(); ++i) nodes_[i].from = id;
  return absl::OkStatus();
}

absl::Status NodeWriter::WriteNode(NodeId id) {
  const OpKind op = graph_.op(id);
  absl::Status status;
  if (inside_attention_.contains(id)) {
    // The operator of its attention has written the value that others read.
  } else if (op == OpKind::kConstant && !IsInitializer(id) && !names_.IsOuter(graph_.output(id))) {
    status = WriteConstantNode(id);
  } else if (op == OpKind::kOpaque) {
    status = WriteOpaque(id);
  } else if (op != OpKind::kInput && op != OpKind::kConstant) {
    const OpRow* row = FindRow(op, graph_.node(id).spelling, graph_.node(id).domain);
    if (row == nullptr) {
      status = absl::UnimplementedError(Concat("ONNX has no operator for op ", OpName(op)));
    } else if (row->write != nullptr) {
      status = row->write(*this, id);
    } else {
      status = WriteByRow(id, *row).status();
    }
  }
  return status;
}

ValueId NodeWriter::InPlaceOf(ValueId value) const {
  const auto it = others_.find(value);
  return it == others_.end() ? value : it->second;
}

absl::Status NodeWriter::WriteAs(NodeId id, std::map<ValueId, ValueId> others) {
  others_ = std::move(others);
  absl::Status status = WriteNode(id);
  others_.clear();
  return status;
}

void NodeWriter::WriteAliases(NodeId id) {
  for (const ValueId output : graph_.node(id).outputs) {
    if (!output.valid()) continue;
    for (const std::string& alias : names_.aliases(output)) Add("Identity", {Read(output)}, {alias});
  }
}

std::string NodeWriter::Read(ValueId value) {
  if (!value.valid()) return "";
  value = InPlaceOf(value);
  read_[value.index] = true;
  return names_.of(value);
}

std::vector<std::string> NodeWriter::Made(NodeId id) const {
  std::vector<std::string> result;
  for (const ValueId made : graph_.node(id).outputs) {
    const ValueId output = InPlaceOf(made);
    const bool absent = !output.valid() || (graph_.value(output).name.empty() && graph_.uses(output).empty() &&
                                            !graph_.IsOutput(output) && graph_.node(id).outputs.size() > 1);
    result.push_back(absent ? "" : names_.of(output));
  }
  while (result.size() > 1 && result.back().empty()) result.pop_back();
  return result;
}

onnx::NodeProto& NodeWriter::Add(std::string_view op_type, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs) {
  onnx::NodeProto& node = nodes_.emplace_back().proto;
  node.set_op_type(std::string(op_type));
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  for (std::string& input : inputs) node.add_input(std::move(input));
  for (std::string& output : outputs) node.add_output(std::move(output));
  return node;
}

std::string NodeWriter::AddConstant(Tensor value, std::string_view base) {
  added_.push_back({names_.Fresh(base), std::move(value)});
  types_.Set(added_.back().name, added_.back().value.type());
  return added_.back().name;
}

void NodeWriter::AddFloat(onnx::NodeProto& node, std::string_view attribute, int since, float value, DataType type) {
  if (opset_ < since) return SetFloat(node, attribute, value);
  absl::StatusOr<Tensor> tensor =
      Tensor::Scalar(value).ConvertTo(type == DataType::kUnknown ? DataType::kFloat32 : type);
  node.add_input(AddConstant(tensor.ok() ? *std::move(tensor) : Tensor::Scalar(value), attribute));
}

void NodeWriter::AddInts(onnx::NodeProto& node, std::string_view attribute, int since, std::vector<int64_t> values) {
  if (opset_ < since) return SetInts(node, attribute, values);
  node.add_input(AddConstant(Tensor::Ints(values), attribute));
}

absl::StatusOr<onnx::NodeProto*> NodeWriter::WriteByRow(NodeId id, const OpRow& row) {
  const Node& node = graph_.node(id);
  onnx::NodeProto proto;
  std::vector<ValueId> inputs = node.inputs;
  for (const MovedRow& moved : row.moved) {
    if (opset_ >= moved.until) continue;
    const size_t index = moved.input == kLastInput ? inputs.size() - 1 : static_cast<size_t>(moved.input);
    if (index >= inputs.size() || !inputs[index].valid()) continue;
    HALFTONE_RETURN_IF_ERROR(WriteMoved(id, moved, inputs[index], proto));
    inputs[index] = kNoValue;
  }
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  if (inputs.size() > static_cast<size_t>(row.max_inputs)) {
    return absl::InternalError(Concat(OpName(row.op), " has ", inputs.size(), " inputs, ONNX has ", row.max_inputs,
                                      ": fused parts must be split before export"));
  }
  HALFTONE_RETURN_IF_ERROR(WriteAttributes(id, row, proto));
  HALFTONE_RETURN_IF_ERROR(WriteExtra(node, proto));
  std::vector<std::string> names;
  for (const ValueId input : inputs) names.push_back(Read(input));
  onnx::NodeProto& written = Add(row.onnx, std::move(names), Made(id));
  if (!node.name.empty()) written.set_name(node.name);
  if (!row.domain.empty()) written.set_domain(std::string(row.domain));
  written.mutable_attribute()->Swap(proto.mutable_attribute());
  written.set_doc_string(proto.doc_string());
  if (written.doc_string().empty()) written.clear_doc_string();
  return &written;
}

absl::StatusOr<onnx::NodeProto*> NodeWriter::WriteOperator(NodeId id, const OpRow& row, std::vector<std::string> inputs,
                                                           ValueId output) {
  const Node& node = graph_.node(id);
  onnx::NodeProto proto;
  HALFTONE_RETURN_IF_ERROR(WriteAttributes(id, row, proto));
  HALFTONE_RETURN_IF_ERROR(WriteExtra(node, proto));
  onnx::NodeProto& written = Add(row.onnx, std::move(inputs), {names_.of(output)});
  if (!node.name.empty()) written.set_name(node.name);
  if (!row.domain.empty()) written.set_domain(std::string(row.domain));
  written.mutable_attribute()->Swap(proto.mutable_attribute());
  return &written;
}

absl::Status NodeWriter::WriteMoved(NodeId id, const MovedRow& moved, ValueId input, onnx::NodeProto& proto) const {
  if (moved.form == MovedRow::Form::kOnes) return absl::OkStatus();  // MinOpset has seen that they are ones
  if (moved.form == MovedRow::Form::kFloat) {
    const std::optional<double> value = graph_.ConstantScalar(input);
    if (!value.has_value())
      return absl::UnimplementedError(Concat("input ", moved.onnx, " must be a constant of one element"));
    SetFloat(proto, moved.onnx, static_cast<float>(*value));
    return absl::OkStatus();
  }
  const std::optional<std::vector<int64_t>> values = graph_.ConstantInts(input);
  if (!values.has_value())
    return absl::UnimplementedError(Concat("input ", moved.onnx, " must be an integer constant"));
  if (moved.form == MovedRow::Form::kInts) {
    if (!values->empty() || !IsReduction(graph_.op(id))) SetInts(proto, moved.onnx, *values);  // no axes: all of them
    return absl::OkStatus();
  }
  if (values->size() != 1) return absl::UnimplementedError(Concat("input ", moved.onnx, " must be a scalar"));
  SetInt(proto, moved.onnx, values->front());
  return absl::OkStatus();
}

absl::Status NodeWriter::WriteAttributes(NodeId id, const OpRow& row, onnx::NodeProto& proto) const {
  for (const auto& [name, value] : graph_.node(id).attributes) {
    if (IsOnnxLayout(name, value)) continue;
    if (name == "layout" || name == "weights_layout") {
      return absl::UnimplementedError(Concat(name, " ", std::get<std::string>(value), " cannot be expressed in ONNX"));
    }
    const AttributeRow* found = nullptr;
    for (const AttributeRow& attribute : row.attributes) {
      if (attribute.canonical == name) found = &attribute;
    }
    if (found == nullptr && name.starts_with("activation")) {
      return absl::InternalError("a fused activation must be split before export");
    }
    if (found == nullptr) return absl::UnimplementedError(Concat("attribute '", name, "' cannot be expressed in ONNX"));
    if (opset_ < found->since) continue;  // MinOpset has seen that it is the default
    if (opset_ >= found->until)
      return absl::InternalError(Concat("attribute '", name, "' is none since opset ", found->until));
    HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto(found->onnx, value));
  }
  return absl::OkStatus();
}

absl::Status NodeWriter::WriteExtra(const Node& node, onnx::NodeProto& proto) const {
  for (const auto& [name, value] : node.extra) {
    if (name == kDocMark) proto.set_doc_string(node.extra.String(kDocMark, ""));
    if (name == kOverloadMark) proto.set_overload(node.extra.String(kOverloadMark, ""));
    if (name.starts_with("_")) continue;
    HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto(name, value));
  }
  return absl::OkStatus();
}

absl::Status NodeWriter::WriteOpaque(NodeId id) {
  const Node& node = graph_.node(id);
  if (node.spelling.empty()) return absl::InternalError("an opaque node without its operator's name");
  onnx::NodeProto proto;
  HALFTONE_RETURN_IF_ERROR(WriteExtra(node, proto));
  proto.set_op_type(node.spelling);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  if (const int from = static_cast<int>(node.extra.Int(kOpsetMark, opset_)); from != opset_) {
    if (const int change = FirstChange(proto, std::min(from, opset_), std::max(from, opset_)); change != 0) {
      return absl::UnimplementedError(
          Concat(node.spelling, " of a function with opset ", from,
                 " is passed through unchanged, and ONNX has another one or none since opset ", change,
                 "; the model has opset ", opset_));
    }
  }
  if (!node.name.empty()) proto.set_name(node.name);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string name = Read(node.inputs[i]);
    if (i < node.inputs.size() - node.captures.size()) proto.add_input(name);  // captured values are read by name
  }
  for (std::string& output : Made(id)) proto.add_output(std::move(output));
  nodes_.push_back({std::move(proto), kNoValue});
  return absl::OkStatus();
}

bool NodeWriter::IsFillNode(const Graph& graph, NodeId id) const {
  const Tensor* tensor = graph.ConstantTensor(graph.output(id));
  return graph.node(id).extra.has(kFillNodeMark) && tensor != nullptr && tensor->num_elements() > 0 &&
         ElementSize(tensor->type()) > 0 && IsUniform(*tensor) &&
         (tensor->type() != DataType::kBFloat16 || opset_ >= kBf16FillSince);
}

bool NodeWriter::IsInitializer(NodeId id) const {
  return !graph_.node(id).extra.has(kConstantNodeMark) && !IsFillNode(graph_, id);
}

onnx::NodeProto& NodeWriter::AddConstantNode(std::string_view op_type, std::vector<std::string> inputs,
                                             std::string output, const Tensor& content, ValueId value) {
  onnx::NodeProto& proto = Add(op_type, std::move(inputs), {std::move(output)});
  nodes_.back().constant = value;
  *AddAttribute(proto, "value", onnx::AttributeProto::TENSOR).mutable_t() = ToProto(content, "");
  return proto;
}

onnx::NodeProto& NodeWriter::WriteFill(const Tensor& tensor, const std::string& name, ValueId value) {
  const std::string shape = names_.Fresh(name + "_shape");
  AddConstantNode("Constant", {}, shape, Tensor::Ints(tensor.dims()), value);
  const Tensor element(tensor.type(), {1}, Buffer::CopyOf(tensor.raw(), ElementSize(tensor.type())));
  return AddConstantNode("ConstantOfShape", {shape}, name, element, value);
}

std::string NodeWriter::AddFill(const Tensor& tensor, std::string_view base) {
  const std::string name = names_.Fresh(base);
  WriteFill(tensor, name, kNoValue);
  types_.Set(name, tensor.type());
  return name;
}

absl::Status NodeWriter::WriteConstantNode(NodeId id) {
  const ValueId value = graph_.output(id);
  const Tensor* tensor = graph_.ConstantTensor(value);
  if (tensor == nullptr) return absl::InternalError("a constant without a value");
  const std::string name = names_.of(value);
  onnx::NodeProto& proto =
      IsFillNode(graph_, id) ? WriteFill(*tensor, name, value) : AddConstantNode("Constant", {}, name, *tensor, value);
  written_constants_.insert(value);
  if (!graph_.node(id).name.empty()) proto.set_name(graph_.node(id).name);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeWriter::Initializer>> NodeWriter::Finish(onnx::GraphProto& proto,
                                                                        const std::vector<std::string>& keep) {
  for (const GraphOutput& output : graph_.outputs()) Read(output.value);
  for (Written& node : nodes_) {
    if (node.constant.valid() && !read_[node.constant.index]) continue;
    if (graph_.op(node.from) != OpKind::kOpaque) {
      absl::Status status = CheckWrittenNode(node.proto, opset_, types_);
      if (!status.ok()) return Annotate(std::move(status), Concat("node '", graph_.Label(node.from), "'"));
    }
    if ((name_nodes_ || HasDerivedName(graph_, node.from)) && node.proto.name().empty()) {
      const auto made = std::find_if(node.proto.output().begin(), node.proto.output().end(),
                                     [](const std::string& name) { return !name.empty(); });
      if (made != node.proto.output().end()) node.proto.set_name(*made);
    }
    proto.add_node()->Swap(&node.proto);
  }
  std::vector<Initializer> result;
  for (const NodeId id : graph_.nodes()) {
    if (graph_.op(id) != OpKind::kConstant || !IsInitializer(id)) continue;
    const ValueId value = graph_.output(id);
    if (names_.IsOuter(value)) continue;
    const Tensor* tensor = graph_.ConstantTensor(value);
    const bool wanted = read_[value.index] || std::find(keep.begin(), keep.end(), names_.of(value)) != keep.end();
    if (wanted && tensor != nullptr) result.push_back({names_.of(value), *tensor});
  }
  std::move(added_.begin(), added_.end(), std::back_inserter(result));
  return result;
}

void SetInt(onnx::NodeProto& node, std::string_view name, int64_t value) {
  AddAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
void SetFloat(onnx::NodeProto& node, std::string_view name, float value) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}
void SetInts(onnx::NodeProto& node, std::string_view name, const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = AddAttribute(node, name, onnx::AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
}

}  // namespace halftone::onnx_format
