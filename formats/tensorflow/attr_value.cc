// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/attr_value.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/tensor_proto.h"

namespace halftone::graphdef {
namespace {

constexpr size_t kMaxStringBytes = 16 << 20;

absl::Status CheckType(int type) {
  if (!IsRefType(type)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Concat("the type ", TfTypeName(type), ", a reference, which no attribute may hold"));
}

// A tensor whose native form costs no more than the bytes it came as.
std::optional<Tensor> SmallTensor(const tf::TensorProto& proto) {
  if (!IsRepresentable(proto)) return std::nullopt;
  int64_t no_repetition = 0;
  absl::StatusOr<Tensor> tensor = DecodeTensor(proto, no_repetition);
  if (!tensor.ok() || !EncodingOf(proto).empty() || !IsPlain(proto, *tensor)) return std::nullopt;
  return *std::move(tensor);
}

AttributeValue FromList(const tf::AttrValue::ListValue& list) {
  if (list.s_size() > 0) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (list.f_size() > 0) return std::vector<float>(list.f().begin(), list.f().end());
  if (list.b_size() > 0) return std::vector<bool>(list.b().begin(), list.b().end());
  if (list.type_size() > 0) {
    std::vector<DataType> types;
    for (const int type : list.type()) types.push_back(FromTfType(type));
    return types;
  }
  if (list.shape_size() > 0) {
    std::vector<Shape> shapes;
    for (const auto& proto : list.shape()) {
      const absl::StatusOr<Shape> shape = DecodeShape(proto);
      if (!shape.ok()) return RawBytes{};  // does not compare equal: kept as bytes
      shapes.push_back(*shape);
    }
    return shapes;
  }
  if (list.tensor_size() > 0) {
    std::vector<Tensor> tensors;
    for (const auto& proto : list.tensor()) {
      std::optional<Tensor> tensor = SmallTensor(proto);
      if (!tensor.has_value()) return RawBytes{};
      tensors.push_back(*std::move(tensor));
    }
    return tensors;
  }
  return std::vector<int64_t>(list.i().begin(), list.i().end());
}

AttributeValue FromAttrUnchecked(const tf::AttrValue& value) {
  switch (value.value_case()) {
    case tf::AttrValue::kList:
      return FromList(value.list());
    case tf::AttrValue::kS:
      return value.s();
    case tf::AttrValue::kI:
      return value.i();
    case tf::AttrValue::kF:
      return value.f();
    case tf::AttrValue::kB:
      return value.b();
    case tf::AttrValue::kType:
      return FromTfType(value.type());
    case tf::AttrValue::kShape: {
      const absl::StatusOr<Shape> shape = DecodeShape(value.shape());
      if (shape.ok()) return *shape;
      break;
    }
    case tf::AttrValue::kTensor: {
      std::optional<Tensor> tensor = SmallTensor(value.tensor());
      if (tensor.has_value()) return *std::move(tensor);
      break;
    }
    case tf::AttrValue::kPlaceholder:
    case tf::AttrValue::kFunc:
    case tf::AttrValue::VALUE_NOT_SET:
      break;
  }
  return RawBytes{};
}

struct AttrEncoder {
  absl::StatusOr<tf::AttrValue> operator()(bool v) const {
    return Make([&](auto& a) { a.set_b(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(int64_t v) const {
    return Make([&](auto& a) { a.set_i(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(float v) const {
    return Make([&](auto& a) { a.set_f(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(const std::string& v) const {
    return Make([&](auto& a) { a.set_s(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(DataType v) const {
    return Make([&](auto& a) { a.set_type(ToTfType(v)); });
  }
  absl::StatusOr<tf::AttrValue> operator()(const Shape& v) const {
    return Make([&](auto& a) { *a.mutable_shape() = EncodeShape(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(const Tensor& v) const {
    return Make([&](auto& a) { *a.mutable_tensor() = EncodeTensor(v); });
  }
  absl::StatusOr<tf::AttrValue> operator()(const RawBytes& v) const {
    tf::AttrValue value;
    if (!value.ParseFromString(v.bytes)) return absl::InternalError("raw bytes that are no AttrValue");
    return value;
  }
  absl::StatusOr<tf::AttrValue> operator()(const std::shared_ptr<const Graph>&) const { return NoGraphs(); }
  absl::StatusOr<tf::AttrValue> operator()(const std::vector<std::shared_ptr<const Graph>>&) const {
    return NoGraphs();
  }
  template <typename T>
  absl::StatusOr<tf::AttrValue> operator()(const std::vector<T>& v) const {
    return Make([&](auto& a) {
      tf::AttrValue::ListValue& list = *a.mutable_list();
      for (const auto& element : v) {
        if constexpr (std::is_same_v<T, std::string>) {
          list.add_s(element);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          list.add_i(element);
        } else if constexpr (std::is_same_v<T, float>) {
          list.add_f(element);
        } else if constexpr (std::is_same_v<T, bool>) {
          list.add_b(element);
        } else if constexpr (std::is_same_v<T, DataType>) {
          list.add_type(ToTfType(element));
        } else if constexpr (std::is_same_v<T, Shape>) {
          *list.add_shape() = EncodeShape(element);
        } else {
          *list.add_tensor() = EncodeTensor(element);
        }
      }
    });
  }

  template <typename Set>
  static tf::AttrValue Make(Set set) {
    tf::AttrValue value;
    set(value);
    return value;
  }
  static absl::Status NoGraphs() {
    return absl::InternalError("a nested graph, which a GraphDef's attributes cannot hold");
  }
};

}  // namespace

absl::StatusOr<AttrMap> ReadAttrs(const tf::NodeDef& node) {
  AttrMap attrs;
  for (const tf::AttrEntry& entry : node.attr()) {
    const std::string& name = entry.key();
    if (name.empty()) return absl::InvalidArgumentError("an attribute has no name");
    if (name.starts_with("tf."))
      return absl::InvalidArgumentError(Concat("attribute '", name, "': names must not begin with 'tf.'"));
    if (!attrs.emplace(name, &entry.value()).second) {
      return absl::InvalidArgumentError(Concat("attribute '", name, "' is given twice"));
    }
    HALFTONE_RETURN_IF_ERROR(Annotate(CheckAttr(entry.value()), Concat("attribute '", name, "'")));
  }
  return attrs;
}

absl::Status CheckAttr(const tf::AttrValue& value) {
  if (value.s().size() > kMaxStringBytes) {
    return absl::InvalidArgumentError(
        Concat("a string of ", value.s().size(), " bytes; at most ", kMaxStringBytes, " are possible"));
  }
  if (value.has_type()) return CheckType(value.type());
  if (value.has_shape()) return DecodeShape(value.shape()).status();
  if (value.has_tensor()) return CheckTensor(value.tensor());
  for (const int type : value.list().type()) HALFTONE_RETURN_IF_ERROR(CheckType(type));
  for (const auto& shape : value.list().shape()) HALFTONE_RETURN_IF_ERROR(DecodeShape(shape).status());
  for (const auto& tensor : value.list().tensor()) HALFTONE_RETURN_IF_ERROR(CheckTensor(tensor));
  return absl::OkStatus();
}

AttributeValue FromAttr(const tf::AttrValue& value) {
  AttributeValue native = FromAttrUnchecked(value);
  const std::string bytes = value.SerializeAsString();
  const absl::StatusOr<tf::AttrValue> back = ToAttr(native);
  if (back.ok() && back->SerializeAsString() == bytes) return native;
  return RawBytes{bytes};
}

absl::StatusOr<tf::AttrValue> ToAttr(const AttributeValue& value) { return std::visit(AttrEncoder{}, value); }

}  // namespace halftone::graphdef
