#include "formats/tensorflow/node_import.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/tensor_proto.h"
#include "google/protobuf/unknown_field_set.h"

namespace halftone::graphdef {
namespace {

// GraphDefs up to this version write a Placeholder of unknown shape as a scalar.
constexpr int64_t kLastVersionWithoutScalars = 21;

template <typename... Args>
absl::Status Bad(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

bool HasUnknownFields(const tf::AttrValue& value) {
  return !value.GetReflection()->GetUnknownFields(value).empty() ||
         !value.list().GetReflection()->GetUnknownFields(value.list()).empty();
}

// Reads one NodeDef. Functions that give StatusOr<bool> say false where the node is legal but has no canonical form.
class NodeReader {
 public:
  NodeReader(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget)
      : def_(def), context_(context), repeat_budget_(repeat_budget), row_(FindRow(def.op())) {}

  absl::StatusOr<ConvertedNode> Read() {
    HALFTONE_ASSIGN_OR_RETURN(attrs_, ReadAttrs(def_));
    bool canonical = false;
    if (row_ != nullptr) {
      HALFTONE_ASSIGN_OR_RETURN(canonical, ReadCanonical());
    }
    if (!canonical) HALFTONE_RETURN_IF_ERROR(ReadOpaque());
    result_.node.name = def_.name();
    return std::move(result_);
  }

 private:
  const tf::AttrValue* Find(std::string_view name) const {
    const auto it = attrs_.find(name);
    return it == attrs_.end() ? nullptr : it->second;
  }

  // The attribute, which must be of this kind; nullptr if it is absent and need not be there.
  absl::StatusOr<const tf::AttrValue*> Expect(std::string_view name, bool required, tf::AttrValue::ValueCase kind,
                                              std::string_view kind_name) {
    const tf::AttrValue* value = Find(name);
    if (value == nullptr) {
      if (required) return Bad("required attribute '", name, "' is missing");
      return value;
    }
    if (value->value_case() != kind) return Bad("attribute '", name, "' must be of type ", kind_name);
    used_.insert(name);
    return value;
  }

  absl::StatusOr<int64_t> Count(std::string_view name) {
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(name, /*required=*/true, tf::AttrValue::kI, "int"));
    return value->i();
  }

  absl::StatusOr<int64_t> ListLength(std::string_view name) {
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                              Expect(name, /*required=*/true, tf::AttrValue::kList, "list(type)"));
    return value->list().type_size();
  }

  absl::StatusOr<std::vector<PortType>> Expand(std::string_view signature) {
    return ExpandSignature(
        signature, [this](std::string_view name) { return Count(name); },
        [this](std::string_view name) { return ListLength(name); });
  }

  // The type of a port of the row.
  DataType TypeOf(const PortType& port) const {
    if (const std::optional<DataType> fixed = DataTypeFromName(port.word)) return *fixed;
    if (const tf::AttrValue* value = Find(port.word)) return FromTfType(value->type());
    if (row_ != nullptr) {
      for (const TypeRow& type : row_->types) {
        if (type.name == port.word) return type.otherwise;
      }
    }
    return DataTypeFromName(port.otherwise).value_or(DataType::kUnknown);
  }

  absl::StatusOr<bool> ReadCanonical();
  absl::StatusOr<bool> ReadTypes();
  absl::StatusOr<bool> ReadAttr(const AttrRow& row);
  absl::StatusOr<bool> ReadNumber(const AttrRow& row);
  absl::StatusOr<bool> ReadLayout(const AttrRow& row);
  absl::StatusOr<bool> ReadSpatial(const AttrRow& row);
  absl::StatusOr<bool> ReadPadding(const AttrRow& row);
  absl::StatusOr<bool> ReadExplicitPads(const AttrRow& row);
  absl::StatusOr<bool> ReadMirrorMode(const AttrRow& row);
  absl::StatusOr<bool> ReadSqueezeDims(const AttrRow& row);
  absl::StatusOr<bool> ReadTensor(const AttrRow& row);
  absl::StatusOr<bool> ReadOutputShape(const AttrRow& row);
  absl::StatusOr<bool> ReadMustBe(const AttrRow& row);
  bool ArrangeInputs();
  void SetWeightsLayout();
  absl::Status ReadOpaque();

  const tf::NodeDef& def_;
  const NodeContext& context_;
  int64_t& repeat_budget_;
  const OpRow* row_;
  AttrMap attrs_;
  std::set<std::string_view> used_;  // attributes that do not go into extra
  std::vector<std::string> absent_;
  ConvertedNode result_;
};

absl::StatusOr<bool> NodeReader::ReadCanonical() {
  HALFTONE_ASSIGN_OR_RETURN(bool canonical, ReadTypes());
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> inputs, Expand(row_->inputs));
  if (static_cast<int>(inputs.size()) != context_.num_inputs) {
    return Bad(context_.num_inputs, " data inputs; ", def_.op(), " needs ", inputs.size());
  }
  for (const PortType& port : inputs) result_.input_types.push_back(TypeOf(port));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> outputs, Expand(row_->outputs));
  if (static_cast<int>(outputs.size()) < context_.num_read_outputs) {
    return Bad("output ", context_.num_read_outputs - 1, " is read; ", def_.op(), " has ", outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) result_.outputs.push_back({TypeOf(outputs[i]), Shape(), ""});
  for (const AttrRow& row : row_->attrs) {
    HALFTONE_ASSIGN_OR_RETURN(const bool fits, ReadAttr(row));
    canonical = canonical && fits;
  }
  if (!canonical || !ArrangeInputs()) return false;
  Node& node = result_.node;
  node.op = row_->kind;
  if (RowsOf(row_->kind).size() > 1) node.spelling = row_->tf_op;
  if (row_->kind == OpKind::kConv) SetWeightsLayout();
  if (row_->kind == OpKind::kBiasAdd && row_->attrs.empty()) node.attributes.Set("layout", std::string("NHWC"));
  for (const auto& [name, value] : attrs_) {
    if (used_.contains(name) && HasUnknownFields(*value)) return false;  // only an opaque node keeps them
    if (used_.contains(name)) continue;
    node.extra.Set(std::string(name), FromAttr(*value));
    if (name[0] != '_') node.extra.Set(std::string(kExtraOp), def_.op());
  }
  if (!absent_.empty()) node.extra.Set(std::string(kExtraAbsent), absent_);
  return true;
}

// Types of attributes must be there, and of a kind that the canonical op is defined for.
absl::StatusOr<bool> NodeReader::ReadTypes() {
  const OpGroup group = Info(row_->kind).group;
  const bool moves =
      group == OpGroup::kSource || group == OpGroup::kMove || group == OpGroup::kShape || group == OpGroup::kStructural;
  bool canonical = true;
  for (const TypeRow& row : row_->types) {
    const bool required = row.otherwise == DataType::kUnknown;
    HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, required, tf::AttrValue::kType, "type"));
    if (value == nullptr) absent_.push_back(std::string(row.name));
    if (value != nullptr && value->type() == tf::DT_INVALID) return Bad("attribute '", row.name, "' is DT_INVALID");
    const DataType type = value == nullptr ? row.otherwise : FromTfType(value->type());
    canonical = canonical && type != DataType::kUnknown && (moves || IsFloatingPoint(type) || IsInteger(type));
  }
  return canonical;
}

absl::StatusOr<bool> NodeReader::ReadAttr(const AttrRow& row) {
  switch (row.form) {
    case AttrForm::kBool:
    case AttrForm::kFloat:
    case AttrForm::kInt:
      return ReadNumber(row);
    case AttrForm::kLayout:
      return ReadLayout(row);
    case AttrForm::kSpatial:
      return ReadSpatial(row);
    case AttrForm::kPadding:
      return ReadPadding(row);
    case AttrForm::kExplicitPads:
      return ReadExplicitPads(row);
    case AttrForm::kMirrorMode:
      return ReadMirrorMode(row);
    case AttrForm::kSqueezeDims:
      return ReadSqueezeDims(row);
    case AttrForm::kTensor:
      return ReadTensor(row);
    case AttrForm::kOutputShape:
      return ReadOutputShape(row);
    case AttrForm::kCount:
      return true;  // read with the signature
    case AttrForm::kKeep:
      if (Find(row.name) == nullptr) return Bad("required attribute '", row.name, "' is missing");
      return true;
    case AttrForm::kMustBe:
      return ReadMustBe(row);
  }
  return false;
}

absl::StatusOr<bool> NodeReader::ReadNumber(const AttrRow& row) {
  const auto [kind, kind_name] = row.form == AttrForm::kBool    ? std::pair(tf::AttrValue::kB, "bool")
                                 : row.form == AttrForm::kFloat ? std::pair(tf::AttrValue::kF, "float")
                                                                : std::pair(tf::AttrValue::kI, "int");
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, kind, kind_name));
  if (value == nullptr && row.tf_default == row.canonical_default) return true;
  if (value == nullptr) absent_.push_back(std::string(row.name));
  AttributeValue number;
  if (row.form == AttrForm::kBool) number = value == nullptr ? row.tf_default != 0 : value->b();
  if (row.form == AttrForm::kFloat) number = value == nullptr ? static_cast<float>(row.tf_default) : value->f();
  if (row.form == AttrForm::kInt) number = value == nullptr ? static_cast<int64_t>(row.tf_default) : value->i();
  if (row.form == AttrForm::kInt && std::get<int64_t>(number) < 1)
    return Bad("attribute '", row.name, "' must be at least 1");
  result_.node.attributes.Set(std::string(row.canonical), std::move(number));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadLayout(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, tf::AttrValue::kS, "string"));
  if (value == nullptr) absent_.push_back(std::string(row.name));
  const std::string format = value != nullptr ? value->s() : row_->spatial == 3 ? "NDHWC" : "NHWC";
  const bool is_standard =
      row_->spatial == 3 ? format == "NDHWC" || format == "NCDHW" : format == "NHWC" || format == "NCHW";
  if (format == "NCHW_VECT_C" || format == "NHWC_VECT_W") return false;
  if (format != "NHWC" && format != "NDHWC" && format != "NCHW" && format != "NCDHW") {
    return Bad("attribute '", row.name, "' is '", format,
               "'; it must be NHWC or NCHW (NDHWC or NCDHW with three dimensions)");
  }
  if (!is_standard) used_.erase(row.name);  // also in extra, with TensorFlow's word
  result_.node.attributes.Set(std::string(row.canonical), std::string(format.back() == 'C' ? "NHWC" : "NCHW"));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadSpatial(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                            Expect(row.name, row.required, tf::AttrValue::kList, "list(int)"));
  if (value == nullptr) return true;
  const auto& list = value->list().i();
  const int rank = row_->spatial + 2;
  if (list.size() != rank) return Bad("attribute '", row.name, "' must have ", rank, " numbers, it has ", list.size());
  if (std::any_of(list.begin(), list.end(), [](int64_t size) { return size < 1 || size > INT32_MAX; })) {
    return Bad("attribute '", row.name, "' is [", absl::StrJoin(list, ","), "]; each number must be at least 1");
  }
  const bool channel_last = result_.node.attributes.String("layout", "") == "NHWC";
  const int channel = channel_last ? rank - 1 : 1;
  if (list[0] != 1 || list[channel] != 1) return false;
  const int first = channel_last ? 1 : 2;
  result_.node.attributes.Set(std::string(row.canonical),
                              std::vector<int64_t>(list.begin() + first, list.begin() + first + row_->spatial));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadPadding(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, tf::AttrValue::kS, "string"));
  const std::string& padding = value->s();
  if (padding == "SAME") {
    result_.node.attributes.Set("auto_pad", std::string("SAME_UPPER"));
  } else if (padding == "VALID") {
    result_.node.attributes.Set("auto_pad", std::string("VALID"));
  } else if (padding != "EXPLICIT") {
    return Bad("attribute 'padding' is '", padding, "'; it must be SAME, VALID or EXPLICIT");
  } else if (row_->tf_op != "Conv2D") {
    result_.node.extra.Set(std::string(kExtraExplicit), true);
  }
  return true;
}

absl::StatusOr<bool> NodeReader::ReadExplicitPads(const AttrRow& row) {
  const bool is_explicit = !result_.node.attributes.has("auto_pad");
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                            Expect(row.name, is_explicit, tf::AttrValue::kList, "list(int)"));
  if (value == nullptr) return true;
  const auto& list = value->list().i();
  if (!is_explicit) {
    if (!list.empty()) return Bad("attribute '", row.name, "' must be empty unless padding is EXPLICIT");
    used_.erase(row.name);  // stays in extra
    return true;
  }
  const int rank = row_->spatial + 2;
  if (list.size() != 2 * rank)
    return Bad("attribute '", row.name, "' must have ", 2 * rank, " numbers, it has ", list.size());
  const bool channel_last = result_.node.attributes.String("layout", "") == "NHWC";
  const int channel = channel_last ? rank - 1 : 1;
  std::vector<int64_t> begins, ends;
  for (int i = 0; i < rank; ++i) {
    const int64_t begin = list[2 * i], end = list[2 * i + 1];
    if (begin < 0 || end < 0 || begin > INT32_MAX || end > INT32_MAX) {
      return Bad("attribute '", row.name, "' is [", absl::StrJoin(list, ","), "]; no number may be negative");
    }
    const bool is_spatial = i != 0 && i != channel;
    if (!is_spatial && (begin != 0 || end != 0)) return Bad("attribute '", row.name, "' pads the batch or the channel");
    if (is_spatial) begins.push_back(begin);
    if (is_spatial) ends.push_back(end);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  result_.node.attributes.Set(std::string(row.canonical), std::move(begins));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadMirrorMode(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, tf::AttrValue::kS, "string"));
  if (value->s() != "REFLECT" && value->s() != "SYMMETRIC") {
    return Bad("attribute 'mode' is '", value->s(), "'; it must be REFLECT or SYMMETRIC");
  }
  result_.node.attributes.Set(std::string(row.canonical),
                              std::string(value->s() == "REFLECT" ? "reflect" : "symmetric"));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadSqueezeDims(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                            Expect(row.name, row.required, tf::AttrValue::kList, "list(int)"));
  if (value == nullptr) return true;
  if (value->list().i().empty()) {
    used_.erase(row.name);  // all dimensions of 1; stays in extra
    return true;
  }
  result_.squeeze_dims.emplace(value->list().i().begin(), value->list().i().end());
  return true;
}

absl::StatusOr<bool> NodeReader::ReadTensor(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value,
                            Expect(row.name, row.required, tf::AttrValue::kTensor, "tensor"));
  const tf::TensorProto& proto = value->tensor();
  const int dtype = Find("dtype")->type();
  if (proto.dtype() != dtype) {
    return Bad("attribute 'dtype' is ", TfTypeName(dtype), ", its tensor is ", TfTypeName(proto.dtype()));
  }
  if (!IsRepresentable(proto)) return false;
  HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, DecodeTensor(proto, repeat_budget_));
  Attributes& extra = result_.node.extra;
  if (IsPlain(proto, tensor)) {
    const std::string encoding = EncodingOf(proto);
    if (!encoding.empty()) extra.Set(std::string(kExtraEncoding), encoding);
  } else {
    extra.Set(std::string(kExtraTensor), RawBytes{proto.SerializeAsString()});
  }
  result_.outputs[0].shape = tensor.shape();
  result_.node.attributes.Set(std::string(row.canonical), std::move(tensor));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadOutputShape(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, tf::AttrValue::kShape, "shape"));
  if (value == nullptr) {
    absent_.push_back(std::string(row.name));
    return true;
  }
  HALFTONE_ASSIGN_OR_RETURN(Shape shape, DecodeShape(value->shape()));
  if (context_.graph_version <= kLastVersionWithoutScalars && shape == Shape::Scalar()) shape = Shape();
  if (EncodeShape(shape).SerializeAsString() != value->shape().SerializeAsString()) {
    result_.node.extra.Set(std::string(kExtraShape), RawBytes{value->shape().SerializeAsString()});
  }
  result_.outputs[0].shape = std::move(shape);
  return true;
}

absl::StatusOr<bool> NodeReader::ReadMustBe(const AttrRow& row) {
  const tf::AttrValue* value = Find(row.name);
  if (value == nullptr) return true;
  if (value->has_i()) return value->i() == static_cast<int64_t>(row.tf_default);
  if (value->has_b()) return value->b() == (row.tf_default != 0);
  return Bad("attribute '", row.name, "' must be a number or a bool");
}

// False where only some values of the inputs would be canonical, and these are others.
bool NodeReader::ArrangeInputs() {
  std::vector<int>& inputs = result_.inputs;
  for (int i = 0; i < context_.num_inputs; ++i) inputs.push_back(i);
  switch (row_->order) {
    case InputOrder::kSame:
      break;
    case InputOrder::kAxisFirst:
      std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
      break;
    case InputOrder::kStridedSlice:
      inputs = {0, 1, 2, -1, 3};
      break;
    case InputOrder::kSizeIsEnd: {
      const auto begin = context_.constant_ints(1);
      const auto size = context_.constant_ints(2);
      const auto all = [](const auto& list, auto holds) {
        return list.has_value() && std::all_of(list->begin(), list->end(), holds);
      };
      if (!all(begin, [](int64_t b) { return b == 0; }) || !all(size, [](int64_t s) { return s >= 0; })) return false;
      break;
    }
  }
  return true;
}

void NodeReader::SetWeightsLayout() {
  const bool depthwise = row_->tf_op == "DepthwiseConv2dNative";
  result_.node.attributes.Set("weights_layout", std::string(depthwise ? "HWCM" : "HWIO"));
  const Shape weights = context_.input_shape(1);
  if (depthwise && weights.has_rank() && weights.rank() == 4 && weights.dim(2).value > 0) {
    result_.node.attributes.Set("group", weights.dim(2).value);
  }
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
  int in_list = 0;
  for (const PortType& port : ports) {
    DataType type;
    if (port.word.ends_with("[]")) {
      type = FromTfType(Find(port.word.substr(0, port.word.size() - 2))->list().type(in_list++));
    } else {
      type = TypeOf(port);
    }
    result_.outputs.push_back({type, Shape(), ""});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConvertedNode> ConvertNode(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget) {
  return NodeReader(def, context, repeat_budget).Read();
}

}  // namespace halftone::graphdef
