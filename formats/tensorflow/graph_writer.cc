// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/graph_writer.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/row_attrs.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

constexpr std::string_view kColocation = "loc:@";

template <typename Set>
tf::AttrValue Make(Set set) {
  tf::AttrValue value;
  set(value);
  return value;
}

void AppendAttrs(AttrValues attrs, tf::NodeDef& def) {
  for (auto& [name, value] : attrs) {
    tf::AttrEntry* entry = def.add_attr();
    entry->set_key(name);
    *entry->mutable_value() = std::move(value);
  }
}

// The constant's integers stand for numbers: DT_QINT8 in the place of DT_INT8.
void SayQuantized(tf::NodeDef& def) {
  for (tf::AttrEntry& entry : *def.mutable_attr()) {
    tf::AttrValue& value = *entry.mutable_value();
    if (entry.key() == "dtype") value.set_type(static_cast<tf::DataType>(QuantizedTfType(value.type())));
    if (entry.key() != "value") continue;
    tf::TensorProto& tensor = *value.mutable_tensor();
    tensor.set_dtype(static_cast<tf::DataType>(QuantizedTfType(tensor.dtype())));
  }
}

}  // namespace

tf::AttrValue BoolAttr(bool value) {
  return Make([&](auto& attr) { attr.set_b(value); });
}
tf::AttrValue IntAttr(int64_t value) {
  return Make([&](auto& attr) { attr.set_i(value); });
}
tf::AttrValue FloatAttr(float value) {
  return Make([&](auto& attr) { attr.set_f(value); });
}
tf::AttrValue StringAttr(std::string_view value) {
  return Make([&](auto& attr) { attr.set_s(std::string(value)); });
}
tf::AttrValue TypeAttr(DataType value) {
  return Make([&](auto& attr) { attr.set_type(ToTfType(value)); });
}
tf::AttrValue IntsAttr(const std::vector<int64_t>& values) {
  return Make([&](auto& attr) {
    attr.mutable_list();
    for (const int64_t value : values) attr.mutable_list()->add_i(value);
  });
}

tf::AttrValue StringsAttr(const std::vector<std::string>& values) {
  return Make([&](auto& attr) {
    attr.mutable_list();
    for (const std::string& value : values) attr.mutable_list()->add_s(value);
  });
}

Source GraphWriter::Input(NodeId id, int i) {
  const Node& node = graph_.node(id);
  const Port* port = InputPort(node.op, i, static_cast<int>(node.inputs.size()));
  return Value(node.inputs[i], Concat(NameOf(id), "/", port == nullptr ? "input" : port->name));
}

Source GraphWriter::Value(ValueId value, std::string_view wish) {
  const auto [producer, port] = written().Of(value);
  if (NameOf(producer).empty()) {  // an unnamed constant
    const Tensor* tensor = graph_.ConstantTensor(value);
    const Source source = AddConst(wish, tensor == nullptr ? Tensor() : *tensor);
    if (IsQuantizedConstant(graph_, producer)) SayQuantized(*result_.mutable_node(result_.node_size() - 1));
    names_.Set(producer, source.name);
    return source;
  }
  return {port == 0 ? NameOf(producer) : Concat(NameOf(producer), ":", port), graph_.type(value)};
}

Source GraphWriter::AddConst(std::string_view wish, const Tensor& value, const std::string& device) {
  return AddConstAs(names_.Unique(wish), value, device);
}

Source GraphWriter::AddConstAs(std::string name, const Tensor& value, const std::string& device) {
  tf::NodeDef& def = *result_.add_node();
  def.set_name(std::move(name));
  def.set_op("Const");
  def.set_device(device);
  AttrValues attrs;
  attrs["dtype"] = TypeAttr(value.type());
  *attrs["value"].mutable_tensor() = EncodeTensor(value);
  AppendAttrs(std::move(attrs), def);
  return {def.name(), value.type()};
}

Source GraphWriter::ConstNamed(std::string_view name, const Tensor& value, const std::string& device) {
  const NodeId node = NodeNamed(name);
  if (node.valid() && graph_.op(node) == OpKind::kConstant) {
    const Tensor* tensor = graph_.ConstantTensor(graph_.output(node));
    const bool same = tensor != nullptr && tensor->type() == value.type() && tensor->dims() == value.dims();
    if (same && tensor->SameBytes(value)) return {NameOf(node), value.type()};
  }
  return AddConst(name, value, device);
}

Source GraphWriter::Add(std::string_view tf_op, std::string name, NodeId owner, const std::vector<Source>& inputs,
                        AttrValues attrs, DataType type) {
  tf::NodeDef& def = *result_.add_node();
  def.set_name(std::move(name));
  def.set_op(std::string(tf_op));
  for (const Source& input : inputs) def.add_input(input.name);
  if (owner.valid()) {
    def.set_device(graph_.node(owner).device);
    AddControlInputs(owner, def);
  }
  AppendAttrs(std::move(attrs), def);
  return {def.name(), type};
}

void GraphWriter::AddControlInputs(NodeId id, tf::NodeDef& def) const {
  for (const NodeId control : graph_.node(id).control_inputs) {
    if (!NameOf(control).empty()) def.add_input("^" + NameOf(control));  // nothing waits for an unnamed constant
  }
}

absl::StatusOr<tf::NodeDef> GraphWriter::Begin(NodeId id, std::string_view tf_op) {
  const Node& node = graph_.node(id);
  tf::NodeDef def;
  if (const AttributeValue* rest = node.extra.find(kExtraRest)) {
    const auto* raw = std::get_if<RawBytes>(rest);
    if (raw == nullptr || !def.ParseFromString(raw->bytes))
      return absl::InternalError(Concat("extra '", kExtraRest, "' is damaged"));
  }
  def.set_name(NameOf(id));
  def.set_op(std::string(tf_op));
  def.set_device(node.device);
  return def;
}

void GraphWriter::Finish(NodeId id, tf::NodeDef def, const std::vector<Source>& inputs, AttrValues attrs) {
  const Node& node = graph_.node(id);
  for (const Source& input : inputs) def.add_input(input.name);
  if (const AttributeValue* marked = node.extra.find(kExtraPortZero)) {
    const auto* indices = std::get_if<std::vector<int64_t>>(marked);
    for (const int64_t i : indices == nullptr ? std::vector<int64_t>() : *indices) {
      if (i >= def.input_size() || i < 0 || def.input(i).find(':') != std::string::npos) continue;
      def.mutable_input(i)->append(":0");
    }
  }
  AddControlInputs(id, def);
  AppendAttrs(std::move(attrs), def);
  *result_.add_node() = std::move(def);
}

absl::StatusOr<AttrValues> GraphWriter::Extra(NodeId id, std::string_view tf_op) {
  const Attributes& extra = graph_.node(id).extra;
  const bool is_other_op = extra.has(kExtraOp) && extra.String(kExtraOp, "") != tf_op;
  AttrValues attrs;
  for (const auto& [name, value] : extra) {
    if (name.starts_with("tf.")) continue;
    if (is_other_op && !name.starts_with('_')) continue;  // another op's attributes
    if (name == "_class") {
      if (const auto* names = std::get_if<std::vector<std::string>>(&value)) {
        MendColocation(*names, attrs);
        continue;
      }
    }
    absl::StatusOr<tf::AttrValue> attr = ToAttr(value);
    if (!attr.ok()) return Annotate(attr.status(), Concat("attribute '", name, "'"));
    attrs[name] = *std::move(attr);
  }
  return attrs;
}

NodeId GraphWriter::NodeNamed(std::string_view name) {
  if (old_names_.empty()) {
    for (const NodeId id : graph_.nodes()) {
      if (!graph_.node(id).name.empty()) old_names_.emplace(graph_.node(id).name, id);
    }
  }
  const auto it = old_names_.find(name);
  return it == old_names_.end() ? kNoNode : it->second;
}

// TensorFlow refuses a graph whose nodes shall stand beside nodes that are not there: names follow, and what went goes.
void GraphWriter::MendColocation(const std::vector<std::string>& names, AttrValues& attrs) {
  tf::AttrValue value;
  for (const std::string& name : names) {
    if (!name.starts_with(kColocation)) {
      value.mutable_list()->add_s(name);
      continue;
    }
    const NodeId node = NodeNamed(std::string_view(name).substr(kColocation.size()));
    if (node.valid()) value.mutable_list()->add_s(Concat(kColocation, NameOf(node)));
  }
  if (value.has_list()) attrs["_class"] = std::move(value);
}

absl::Status GraphWriter::AddRow(NodeId id, const OpRow& row, const std::vector<Source>& inputs,
                                 const Attributes* attributes, const AttrValues& by_rule) {
  HALFTONE_ASSIGN_OR_RETURN(tf::NodeDef def, Begin(id, row.tf_op));
  HALFTONE_ASSIGN_OR_RETURN(AttrValues attrs, Extra(id, row.tf_op));
  if (attributes == nullptr) attributes = &graph_.node(id).attributes;
  HALFTONE_RETURN_IF_ERROR(SetRowAttrs(graph_, id, row, inputs, *attributes, attrs));
  for (const auto& [name, value] : by_rule) {
    if (value.value_case() == tf::AttrValue::VALUE_NOT_SET) {
      attrs.erase(name);
    } else {
      attrs[name] = value;
    }
  }
  Finish(id, std::move(def), inputs, std::move(attrs));
  return absl::OkStatus();
}

absl::Status GraphWriter::AddOpaque(NodeId id) {
  const Node& node = graph_.node(id);
  HALFTONE_ASSIGN_OR_RETURN(tf::NodeDef def, Begin(id, node.spelling));
  HALFTONE_ASSIGN_OR_RETURN(AttrValues attrs, Extra(id, node.spelling));
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid())
      return absl::UnimplementedError("an opaque op with an absent input, which a GraphDef cannot say");
    inputs.push_back(Input(id, static_cast<int>(i)));
  }
  Finish(id, std::move(def), inputs, std::move(attrs));
  return absl::OkStatus();
}

absl::Status GraphWriter::AddConstant(NodeId id) {
  const Node& node = graph_.node(id);
  const Tensor* tensor = graph_.ConstantTensor(node.outputs[0]);
  if (tensor == nullptr) return absl::InternalError("a constant without its tensor");
  HALFTONE_ASSIGN_OR_RETURN(tf::NodeDef def, Begin(id, "Const"));
  HALFTONE_ASSIGN_OR_RETURN(AttrValues attrs, Extra(id, "Const"));
  attrs["dtype"] = TypeAttr(tensor->type());
  tf::TensorProto& proto = *attrs["value"].mutable_tensor();
  bool is_kept = false;
  const bool is_quantized = node.extra.has(kExtraQuantized) || IsQuantizedConstant(graph_, id);
  if (const AttributeValue* kept = node.extra.find(kExtraTensor)) {
    const auto* raw = std::get_if<RawBytes>(kept);
    int64_t budget = kRepeatBudget;
    if (raw != nullptr && proto.ParseFromString(raw->bytes)) {
      tf::TensorProto plain = proto;
      if (is_quantized) plain.set_dtype(static_cast<tf::DataType>(PlainTfType(proto.dtype())));
      if (IsRepresentable(plain)) {
        const absl::StatusOr<Tensor> read = DecodeTensor(plain, budget);
        is_kept = read.ok() && read->SameBytes(*tensor);
      }
    }
  }
  if (!is_kept) proto = EncodeTensor(*tensor, node.extra.String(kExtraEncoding, ""));
  if (is_quantized) {
    proto.set_dtype(QuantizedTfType(ToTfType(tensor->type())));
    attrs["dtype"].set_type(proto.dtype());
  }
  Finish(id, std::move(def), {}, std::move(attrs));
  return absl::OkStatus();
}

absl::Status GraphWriter::AddParts(const std::vector<NodeId>& parts) {
  const NodeId first = parts[0];
  const OpRow& row = *FindRow(graph_.node(first).spelling);
  HALFTONE_ASSIGN_OR_RETURN(tf::NodeDef def, Begin(first, row.tf_op));
  HALFTONE_ASSIGN_OR_RETURN(AttrValues attrs, Extra(first, row.tf_op));
  std::vector<Source> inputs;
  tf::AttrValue types;
  for (const NodeId part : parts) {
    inputs.push_back(Value(graph_.input(part, 0), Concat(NameOf(first), "/input")));
    types.mutable_list()->add_type(ToTfType(inputs.back().type));
  }
  if (row.inputs.ends_with("[]")) {
    attrs["T"] = std::move(types);
    Finish(first, std::move(def), inputs, std::move(attrs));
    return absl::OkStatus();
  }
  attrs["N"] = IntAttr(static_cast<int64_t>(parts.size()));
  attrs["T"] = TypeAttr(inputs[0].type);
  const DataType type = graph_.type(graph_.output(first));
  const AttributeValue* absent = graph_.node(first).extra.find(kExtraAbsent);
  const auto* names = absent == nullptr ? nullptr : std::get_if<std::vector<std::string>>(absent);
  const bool was_absent = names != nullptr && std::find(names->begin(), names->end(), "out_type") != names->end();
  if (!was_absent || type != DataType::kInt32) attrs["out_type"] = TypeAttr(type);
  Finish(first, std::move(def), inputs, std::move(attrs));
  return absl::OkStatus();
}

absl::Status GraphWriter::AddAliases() {
  for (const OutputAlias& alias : names_.aliases()) {
    std::vector<Source> inputs;
    for (const ValueId value : alias.values) inputs.push_back(Value(value, alias.name + "/value"));
    for (const Source& input : inputs) {
      if (input.type == DataType::kUnknown)
        return absl::InternalError(Concat("output '", alias.name, "' has no known type"));
    }
    AttrValues attrs;
    if (inputs.size() == 1) {
      attrs["T"] = TypeAttr(inputs[0].type);
      Add("Identity", alias.name, kNoNode, inputs, std::move(attrs), inputs[0].type);
      continue;
    }
    for (const Source& input : inputs) attrs["T"].mutable_list()->add_type(ToTfType(input.type));
    Add("IdentityN", alias.name, kNoNode, inputs, std::move(attrs), inputs[0].type);
  }
  return absl::OkStatus();
}

}  // namespace halftone::graphdef
