// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"

namespace halftone::graphdef {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

// Calls visit(field, T{}) with the list that holds values of `type`, T being the type of one element in memory. Complex
// types have two values an element. False: no such list.
template <typename Proto, typename Visitor>
bool VisitValues(Proto& proto, DataType type, Visitor visit) {
  constexpr bool kMutable = !std::is_const_v<Proto>;
#define HALFTONE_VALUES(field, T)         \
  if constexpr (kMutable) {               \
    visit(*proto.mutable_##field(), T{}); \
  } else {                                \
    visit(proto.field(), T{});            \
  }                                       \
  return true
  switch (type) {
    case DataType::kFloat32:
      HALFTONE_VALUES(float_val, float);
    case DataType::kFloat64:
      HALFTONE_VALUES(double_val, double);
    case DataType::kBFloat16:
    case DataType::kFloat16:
      HALFTONE_VALUES(half_val, uint16_t);
    case DataType::kInt8:
      HALFTONE_VALUES(int_val, int8_t);
    case DataType::kUInt8:
      HALFTONE_VALUES(int_val, uint8_t);
    case DataType::kInt16:
      HALFTONE_VALUES(int_val, int16_t);
    case DataType::kUInt16:
      HALFTONE_VALUES(int_val, uint16_t);
    case DataType::kInt32:
      HALFTONE_VALUES(int_val, int32_t);
    case DataType::kUInt32:
      HALFTONE_VALUES(uint32_val, uint32_t);
    case DataType::kInt64:
      HALFTONE_VALUES(int64_val, int64_t);
    case DataType::kUInt64:
      HALFTONE_VALUES(uint64_val, uint64_t);
    case DataType::kBool:
      HALFTONE_VALUES(bool_val, uint8_t);
    case DataType::kComplex64:
      HALFTONE_VALUES(scomplex_val, float);
    case DataType::kComplex128:
      HALFTONE_VALUES(dcomplex_val, double);
    case DataType::kUnknown:
    case DataType::kString:
    case DataType::kResource:
    case DataType::kVariant:
      return false;
  }
#undef HALFTONE_VALUES
  return false;
}

int ValuesPerElement(DataType type) { return type == DataType::kComplex64 || type == DataType::kComplex128 ? 2 : 1; }

// Elements that the *_val list of the type holds.
int64_t NumValues(const tf::TensorProto& proto) {
  const DataType type = FromTfType(proto.dtype());
  if (type == DataType::kString) return proto.string_val_size();
  int64_t count = 0;
  VisitValues(proto, type, [&](const auto& list, auto) { count = list.size() / ValuesPerElement(type); });
  return count;
}

// Every dimension known and their product small enough.
absl::StatusOr<std::vector<int64_t>> KnownDims(const tf::TensorProto& proto) {
  HALFTONE_ASSIGN_OR_RETURN(const Shape shape, DecodeShape(proto.tensor_shape()));
  if (!shape.fully_known()) {
    return absl::InvalidArgumentError(
        Concat("a tensor of shape ", shape.ToString(), "; every dimension must be known"));
  }
  std::vector<int64_t> dims = shape.values();
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count.has_value() || *count > kMaxElements) {
    return absl::InvalidArgumentError(Concat("a tensor of shape ", shape.ToString(), " has too many elements"));
  }
  return dims;
}

// Whether the first `num` elements, the last of them repeated, are the whole tensor; none stands for zeros.
bool CanCutTo(const Tensor& tensor, int64_t num) {
  const int64_t count = tensor.num_elements();
  if (num < 0 || num > count) return false;
  if (num == count) return true;
  if (tensor.type() == DataType::kString) {
    const auto rest = tensor.strings().begin() + num;
    const std::string last = num == 0 ? "" : *(rest - 1);
    return std::all_of(rest, tensor.strings().end(), [&](const std::string& s) { return s == last; });
  }
  const size_t size = ElementSize(tensor.type());
  const char* bytes = reinterpret_cast<const char*>(tensor.raw());
  const std::string last = num == 0 ? std::string(size, '\0') : std::string(bytes + (num - 1) * size, size);
  for (int64_t i = num; i < count; ++i) {
    if (std::memcmp(bytes + i * size, last.data(), size) != 0) return false;
  }
  return true;
}

void SetValues(const Tensor& tensor, int64_t num, tf::TensorProto& proto) {
  if (tensor.type() == DataType::kString) {
    for (int64_t i = 0; i < num; ++i) proto.add_string_val(tensor.strings()[i]);
    return;
  }
  VisitValues(proto, tensor.type(), [&](auto& list, auto element) {
    using T = decltype(element);
    const T* values = reinterpret_cast<const T*>(tensor.raw());
    for (int64_t i = 0; i < num * ValuesPerElement(tensor.type()); ++i) list.Add(values[i]);
  });
}

}  // namespace

absl::StatusOr<Shape> DecodeShape(const tf::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (proto.dim_size() > 0) return absl::InvalidArgumentError("a shape of unknown rank that has dimensions");
    return Shape();
  }
  if (proto.dim_size() > kMaxRank) {
    return absl::InvalidArgumentError(
        Concat("a shape of ", proto.dim_size(), " dimensions; at most ", kMaxRank, " are possible"));
  }
  std::vector<int64_t> dims;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < -1) {
      return absl::InvalidArgumentError(Concat("a dimension of size ", dim.size(), "; -1 (unknown) is the smallest"));
    }
    dims.push_back(dim.size());
  }
  return Shape::Of(dims);
}

tf::TensorShapeProto EncodeShape(const Shape& shape) {
  tf::TensorShapeProto proto;
  if (!shape.has_rank()) {
    proto.set_unknown_rank(true);
    return proto;
  }
  for (const int64_t size : shape.values()) proto.add_dim()->set_size(size);
  return proto;
}

bool IsRepresentable(const tf::TensorProto& proto) {
  const DataType type = FromTfType(proto.dtype());
  if (type == DataType::kString) return proto.tensor_content().empty();
  return ElementSize(type) > 0;
}

absl::Status CheckTensor(const tf::TensorProto& proto) {
  if (proto.dtype() == tf::DT_INVALID || IsRefType(proto.dtype())) {
    return absl::InvalidArgumentError(Concat("a tensor of type ", TfTypeName(proto.dtype())));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, KnownDims(proto));
  if (!IsRepresentable(proto)) return absl::OkStatus();
  const DataType type = FromTfType(proto.dtype());
  const int64_t count = *CheckedProduct(dims);
  if (!proto.tensor_content().empty()) {
    const size_t wanted = static_cast<size_t>(count) * ElementSize(type);  // at most 2^44
    if (proto.tensor_content().size() != wanted) {
      return absl::InvalidArgumentError(Concat("tensor_content has ", proto.tensor_content().size(), " bytes; ",
                                               DataTypeName(type), Shape::Of(dims).ToString(), " needs ", wanted));
    }
    const auto is_bool = [](char c) { return c == 0 || c == 1; };
    if (type == DataType::kBool &&
        !std::all_of(proto.tensor_content().begin(), proto.tensor_content().end(), is_bool)) {
      return absl::InvalidArgumentError("tensor_content of a bool tensor has bytes other than 0 and 1");
    }
  }
  if (const int64_t num = NumValues(proto); num > count) {
    return absl::InvalidArgumentError(Concat(num, " values for ", DataTypeName(type), Shape::Of(dims).ToString(),
                                             ", which has ", count, " elements"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> DecodeTensor(const tf::TensorProto& proto, int64_t& repeat_budget) {
  HALFTONE_RETURN_IF_ERROR(CheckTensor(proto));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, KnownDims(proto));
  const DataType type = FromTfType(proto.dtype());
  const int64_t count = *CheckedProduct(dims);
  const size_t element_size = type == DataType::kString ? sizeof(std::string) : ElementSize(type);
  if (!proto.tensor_content().empty()) {
    return Tensor(type, std::move(dims), Buffer::CopyOf(proto.tensor_content().data(), proto.tensor_content().size()));
  }
  const int64_t num = NumValues(proto);
  const int64_t repeated_bytes = (count - num) * static_cast<int64_t>(element_size);
  if (repeated_bytes > repeat_budget) {
    return absl::InvalidArgumentError(Concat("a tensor of ", count, " elements is given by ", num,
                                             " values; the file asks for too much memory (limit: ", kRepeatBudget,
                                             " bytes)"));
  }
  repeat_budget -= repeated_bytes;
  if (type == DataType::kString) {
    std::vector<std::string> strings(proto.string_val().begin(), proto.string_val().end());
    strings.resize(count, num == 0 ? "" : std::string(strings.back()));
    return Tensor::OfStrings(std::move(dims), std::move(strings));
  }
  Tensor tensor(type, std::move(dims));
  const int per_element = ValuesPerElement(type);
  VisitValues(proto, type, [&](const auto& list, auto element) {
    using T = decltype(element);
    if (num == 0) return;  // zeros
    T* values = reinterpret_cast<T*>(tensor.mutable_raw());
    for (int64_t i = 0; i < num * per_element; ++i) values[i] = static_cast<T>(list.Get(i));
    for (int64_t i = num * per_element; i < count * per_element; ++i) values[i] = values[i - per_element];
  });
  return tensor;
}

std::string EncodingOf(const tf::TensorProto& proto) {
  const std::optional<int64_t> count = [&]() -> std::optional<int64_t> {
    const absl::StatusOr<std::vector<int64_t>> dims = KnownDims(proto);
    return dims.ok() ? CheckedProduct(*dims) : std::nullopt;
  }();
  const bool has_content = !proto.tensor_content().empty();
  if (has_content) return count.value_or(0) > 1 ? "" : "content";
  const int64_t num = NumValues(proto);
  const bool in_full = num == count;
  if (in_full && (num <= 1 || proto.dtype() == tf::DT_STRING)) return "";
  return Concat("values ", num);
}

bool IsPlain(const tf::TensorProto& proto, const Tensor& decoded) {
  if (proto.tensor_content().empty()) {
    return EncodeTensor(decoded, EncodingOf(proto)).SerializeAsString() == proto.SerializeAsString();
  }
  // The same without copying the weights: only type, plain shape and content are there.
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  proto.GetReflection()->ListFields(proto, &fields);
  return fields.size() == 3 && proto.has_tensor_shape() && proto.GetReflection()->GetUnknownFields(proto).empty() &&
         proto.tensor_shape().SerializeAsString() == EncodeShape(decoded.shape()).SerializeAsString();
}

tf::TensorProto EncodeTensor(const Tensor& tensor, std::string_view encoding) {
  tf::TensorProto proto;
  proto.set_dtype(ToTfType(tensor.type()));
  for (const int64_t dim : tensor.dims()) proto.mutable_tensor_shape()->add_dim()->set_size(dim);
  proto.mutable_tensor_shape();  // present for scalars too
  const int64_t count = tensor.num_elements();
  const bool is_string = tensor.type() == DataType::kString;
  constexpr std::string_view kValues = "values ";
  int64_t num = count;
  bool as_content = !is_string && (count > 1 || encoding == "content");
  if (encoding.starts_with(kValues)) {
    int64_t wanted = -1;
    if (absl::SimpleAtoi(AbslView(encoding.substr(kValues.size())), &wanted) && CanCutTo(tensor, wanted)) {
      num = wanted;
      as_content = false;
    }
  }
  if (as_content) {
    proto.set_tensor_content(reinterpret_cast<const char*>(tensor.raw()), tensor.byte_size());
  } else {
    SetValues(tensor, num, proto);
  }
  return proto;
}

}  // namespace halftone::graphdef
