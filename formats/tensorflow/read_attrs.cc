// SPDX-License-Identifier: Apache-2.0
// Attributes of a NodeDef, by form.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/node_reader.h"
#include "formats/tensorflow/tensor_proto.h"

namespace halftone::graphdef {
namespace {

// GraphDefs up to this version write a Placeholder of unknown shape as a scalar.
constexpr int64_t kLastVersionWithoutScalars = 21;

bool HasExplicitPads(const OpRow& row) {
  return std::any_of(row.attrs.begin(), row.attrs.end(),
                     [](const AttrRow& attr) { return attr.form == AttrForm::kExplicitPads; });
}

}  // namespace

absl::StatusOr<bool> NodeReader::ReadAttr(const AttrRow& row) {
  Attributes& attributes = result_.node.attributes;
  switch (row.form) {
    case AttrForm::kBool:
    case AttrForm::kFloat:
    case AttrForm::kInt:
    case AttrForm::kAnyInt:
      return ReadNumber(row);
    case AttrForm::kString:
      return ReadString(row);
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
    case AttrForm::kByRule:
      if (Find(row.name) == nullptr && (row.required || row.form == AttrForm::kKeep))
        return Bad("required attribute '", row.name, "' is missing");
      return true;
    case AttrForm::kMustBe:
      return ReadMustBe(row);
    case AttrForm::kImpliedBool:
      if (row.tf_default != row.canonical_default) attributes.Set(std::string(row.canonical), row.tf_default != 0);
      return true;
    case AttrForm::kImpliedInt:
      if (row.tf_default != row.canonical_default)
        attributes.Set(std::string(row.canonical), static_cast<int64_t>(row.tf_default));
      return true;
    case AttrForm::kImpliedFloat:
      if (row.tf_default != row.canonical_default)
        attributes.Set(std::string(row.canonical), static_cast<float>(row.tf_default));
      return true;
    case AttrForm::kImpliedString:
      attributes.Set(std::string(row.canonical), std::string(row.text));
      return true;
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
  if (row.form == AttrForm::kInt || row.form == AttrForm::kAnyInt)
    number = value == nullptr ? static_cast<int64_t>(row.tf_default) : value->i();
  if (row.form == AttrForm::kInt && std::get<int64_t>(number) < 1)
    return Bad("attribute '", row.name, "' must be at least 1");
  result_.node.attributes.Set(std::string(row.canonical), std::move(number));
  return true;
}

absl::StatusOr<bool> NodeReader::ReadString(const AttrRow& row) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::AttrValue* value, Expect(row.name, row.required, tf::AttrValue::kS, "string"));
  if (value != nullptr) result_.node.attributes.Set(std::string(row.canonical), value->s());
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
  } else if (!HasExplicitPads(*row_)) {
    return Bad("attribute 'padding' is EXPLICIT, which ", def_.op(), " has not; it must be SAME or VALID");
  } else if (row_->tf_op != "Conv2D" && row_->tf_op != "Conv2DBackpropInput") {
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
  const std::vector<int64_t> axes(value->list().i().begin(), value->list().i().end());
  result_.inputs.push_back(result_.AddConstant(Tensor::Ints(axes)));
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
  if (PlainTfType(dtype) != dtype) return ReadQuantizedTensor(row, proto);
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

// Of a quantized type: plain integers, and the whole proto for the file.
absl::StatusOr<bool> NodeReader::ReadQuantizedTensor(const AttrRow& row, const tf::TensorProto& proto) {
  tf::TensorProto plain = proto;
  plain.set_dtype(static_cast<tf::DataType>(PlainTfType(proto.dtype())));
  HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, DecodeTensor(plain, repeat_budget_));
  result_.node.extra.Set(std::string(kExtraTensor), RawBytes{proto.SerializeAsString()});
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
  if (value == nullptr && row.required) return Bad("required attribute '", row.name, "' is missing");
  if (value == nullptr) return true;
  if (value->has_i()) return value->i() == static_cast<int64_t>(row.tf_default);
  if (value->has_b()) return value->b() == (row.tf_default != 0);
  if (value->has_type()) return value->type() == static_cast<int>(row.tf_default);
  return Bad("attribute '", row.name, "' must be a number, a bool or a type");
}

}  // namespace halftone::graphdef
