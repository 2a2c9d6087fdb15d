// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/node_import.h"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/meaning.h"
#include "formats/tensorflow/node_reader.h"
#include "formats/tensorflow/written_as.h"
#include "google/protobuf/unknown_field_set.h"

namespace halftone::graphdef {
namespace {

bool HasUnknownFields(const tf::AttrValue& value) {
  return !value.GetReflection()->GetUnknownFields(value).empty() ||
         !value.list().GetReflection()->GetUnknownFields(value.list()).empty();
}

bool IsBasic(DataType type) { return IsFloatingPoint(type) || IsInteger(type); }

}  // namespace

absl::StatusOr<ConvertedNode> NodeReader::Read() {
  HALFTONE_ASSIGN_OR_RETURN(attrs_, ReadAttrs(def_));
  bool canonical = false;
  for (const OpRow* row : RowsNamed(def_.op())) {
    if (!row->with.empty() && Find(row->with) == nullptr) continue;
    if (!row->without.empty() && Find(row->without) != nullptr) continue;
    row_ = row;
    HALFTONE_ASSIGN_OR_RETURN(canonical, ReadCanonical());
    if (canonical) break;
  }
  if (!canonical) HALFTONE_RETURN_IF_ERROR(ReadOpaque());
  result_.node.name = def_.name();
  if (result_.output_ports.empty()) {
    for (size_t i = 0; i < result_.outputs.size(); ++i) result_.output_ports.push_back(static_cast<int>(i));
  }
  return std::move(result_);
}

absl::StatusOr<const tf::AttrValue*> NodeReader::Expect(std::string_view name, bool required,
                                                        tf::AttrValue::ValueCase kind, std::string_view kind_name) {
  const tf::AttrValue* value = Find(name);
  if (value == nullptr) {
    if (required) return Bad("required attribute '", name, "' is missing");
    return value;
  }
  if (value->value_case() != kind) return Bad("attribute '", name, "' must be of type ", kind_name);
  used_.insert(name);
  return value;
}

absl::StatusOr<std::vector<PortType>> NodeReader::Expand(std::string_view signature) {
  const auto count = [this](std::string_view name) -> absl::StatusOr<int64_t> {
    if (Find(name) == nullptr && row_ != nullptr) {
      for (const AttrRow& attr : row_->attrs) {
        if (attr.name == name && !attr.required) return static_cast<int64_t>(attr.tf_default);
      }
    }
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(name, /*required=*/true, tf::AttrValue::kI, "int"));
    return value->i();
  };
  const auto list = [this](std::string_view name) -> absl::StatusOr<int64_t> {
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                              Expect(name, /*required=*/true, tf::AttrValue::kList, "list(type)"));
    return value->list().type_size();
  };
  return ExpandSignature(signature, count, list);
}

DataType NodeReader::TypeOf(const PortType& port) const {
  if (const std::optional<DataType> fixed = DataTypeFromName(port.word)) return *fixed;
  if (const tf::AttrValue* value = Find(port.word)) return FromTfType(PlainTfType(value->type()));
  if (row_ != nullptr) {
    for (const TypeRow& type : row_->types) {
      if (type.name == port.word) return type.otherwise;
    }
  }
  return DataTypeFromName(port.otherwise).value_or(DataType::kUnknown);
}

std::vector<DataType> NodeReader::TypesOf(const std::vector<PortType>& ports) const {
  std::vector<DataType> types;
  std::map<std::string_view, int> position;  // in lists of types
  for (const PortType& port : ports) {
    if (!port.word.ends_with("[]")) {
      types.push_back(TypeOf(port));
      continue;
    }
    const tf::AttrValue* list = Find(port.word.substr(0, port.word.size() - 2));
    types.push_back(FromTfType(list->list().type(position[port.word]++)));
  }
  return types;
}

absl::StatusOr<bool> NodeReader::ReadCanonical() {
  result_ = ConvertedNode();
  used_.clear();
  absent_.clear();
  quantized_.clear();
  HALFTONE_ASSIGN_OR_RETURN(bool canonical, ReadTypes());
  HALFTONE_ASSIGN_OR_RETURN(const bool fits, ReadPorts());
  canonical = canonical && fits;
  for (const AttrRow& row : row_->attrs) {
    HALFTONE_ASSIGN_OR_RETURN(const bool read, ReadAttr(row));
    canonical = canonical && read;
  }
  if (!canonical) return false;
  Node& node = result_.node;
  node.op = row_->kind;
  if (RowsOf(row_->kind).size() > 1 || row_->import != nullptr || row_->write != nullptr) node.spelling = row_->tf_op;
  if (row_->import != nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(const bool complete, row_->import({*row_, attrs_, context_}, result_));
    if (!complete) return false;
  }
  SayWhatIsMeant(context_, result_);
  for (const auto& [name, value] : attrs_) {
    if (used_.contains(name) && HasUnknownFields(*value)) return false;  // only an opaque node keeps them
  }
  if (!result_.is_composed) KeepExtra();
  return true;
}

void NodeReader::KeepExtra() {
  Attributes& extra = result_.node.extra;
  for (const auto& [name, value] : attrs_) {
    if (used_.contains(name)) continue;
    extra.Set(std::string(name), FromAttr(*value));
    if (name[0] != '_') extra.Set(std::string(kExtraOp), def_.op());
  }
  if (!absent_.empty()) extra.Set(std::string(kExtraAbsent), absent_);
  if (!quantized_.empty()) extra.Set(std::string(kExtraQuantized), quantized_);
}

// Types of attributes must be there, and of a kind that the canonical op is defined for.
absl::StatusOr<bool> NodeReader::ReadTypes() {
  const OpGroup group = Info(row_->kind).group;
  const bool moves =
      group == OpGroup::kSource || group == OpGroup::kMove || group == OpGroup::kShape || group == OpGroup::kStructural;
  const bool tells = group == OpGroup::kCompare;  // true from false, too
  bool canonical = true;
  for (const TypeRow& row : row_->types) {
    const bool required = row.otherwise == DataType::kUnknown;
    const std::string as_list = Concat(row.name, "[]");
    const bool is_list =
        row_->inputs.find(as_list) != std::string_view::npos || row_->outputs.find(as_list) != std::string_view::npos;
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                              Expect(row.name, required, is_list ? tf::AttrValue::kList : tf::AttrValue::kType,
                                     is_list ? "list(type)" : "type"));
    if (is_list) continue;
    if (value == nullptr) absent_.push_back(std::string(row.name));
    if (value != nullptr && value->type() == tf::DT_INVALID) return Bad("attribute '", row.name, "' is DT_INVALID");
    DataType type = row.otherwise;
    if (value != nullptr) {
      const int plain = PlainTfType(value->type());
      type = FromTfType(plain);
      if (plain != value->type()) {
        quantized_.push_back(std::string(row.name));
        canonical = canonical && (moves || group == OpGroup::kQuantize);
      }
    }
    canonical =
        canonical && type != DataType::kUnknown && (moves || IsBasic(type) || (tells && type == DataType::kBool));
  }
  return canonical;
}

absl::StatusOr<bool> NodeReader::ReadPorts() {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> inputs, Expand(row_->inputs));
  if (static_cast<int>(inputs.size()) != context_.num_inputs) {
    return Bad(context_.num_inputs, " data inputs; ", def_.op(), " needs ", inputs.size());
  }
  result_.input_types = TypesOf(inputs);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> outputs, Expand(row_->outputs));
  if (static_cast<int>(outputs.size()) < context_.num_read_outputs) {
    return Bad("output ", context_.num_read_outputs - 1, " is read; ", def_.op(), " has ", outputs.size());
  }
  const std::vector<DataType> types = TypesOf(outputs);
  result_.inputs = ReadOrder(row_->order, context_.num_inputs);
  result_.output_ports = ReadOrder(row_->output_order, static_cast<int>(outputs.size()));
  for (const int port : result_.output_ports) {
    result_.outputs.push_back({port < 0 ? DataType::kUnknown : types[port], Shape(), ""});
  }
  result_.is_parts = row_->is_parts;
  return !row_->is_parts || inputs.size() == outputs.size();
}

// All attributes as they are; outputs as the tables say, else as many as are read.
absl::Status NodeReader::ReadOpaque() {
  const std::optional<std::string_view> signature =
      row_ != nullptr ? std::optional(row_->outputs) : OpaqueOutputs(def_.op());
  std::vector<DataType> input_types = std::move(result_.input_types);
  input_types.resize(context_.num_inputs, DataType::kUnknown);
  result_ = ConvertedNode();
  result_.input_types = std::move(input_types);
  result_.node.op = OpKind::kOpaque;
  result_.node.spelling = def_.op();
  for (int i = 0; i < context_.num_inputs; ++i) result_.inputs.push_back(i);
  for (const auto& [name, value] : attrs_) result_.node.extra.Set(std::string(name), FromAttr(*value));
  if (!signature.has_value()) {
    result_.outputs.resize(std::max(1, context_.num_read_outputs));
    return absl::OkStatus();
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> ports, Expand(*signature));
  if (static_cast<int>(ports.size()) < context_.num_read_outputs) {
    return Bad("output ", context_.num_read_outputs - 1, " is read; this ", def_.op(), " has ", ports.size());
  }
  for (const DataType type : TypesOf(ports)) result_.outputs.push_back({type, Shape(), ""});
  return absl::OkStatus();
}

absl::StatusOr<ConvertedNode> ConvertNode(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget) {
  return NodeReader(def, context, repeat_budget).Read();
}

}  // namespace halftone::graphdef
