// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/tensors.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"

namespace halftone::onnx_format {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

constexpr int kNestingLimit = 200;  // messages in messages; the validator allows 24 levels of subgraphs, three each
constexpr size_t kCopyUpTo = 4096;  // bytes; small tensors are copied into aligned memory, big ones are not

std::vector<int64_t> Dims(const onnx::TensorProto& proto) { return {proto.dims().begin(), proto.dims().end()}; }

// Copies a repeated field into a new tensor, element by element.
template <typename Element, typename Field>
Tensor FromField(DataType type, std::vector<int64_t> dims, const Field& field) {
  Tensor tensor(type, std::move(dims));
  Element* out = reinterpret_cast<Element*>(tensor.mutable_raw());
  for (const auto value : field) *out++ = static_cast<Element>(value);
  return tensor;
}

Tensor FromTypedFields(const onnx::TensorProto& proto, DataType type) {
  std::vector<int64_t> dims = Dims(proto);
  switch (type) {
    case DataType::kFloat32:
    case DataType::kComplex64:
      return FromField<float>(type, std::move(dims), proto.float_data());
    case DataType::kFloat64:
    case DataType::kComplex128:
      return FromField<double>(type, std::move(dims), proto.double_data());
    case DataType::kInt64:
      return FromField<int64_t>(type, std::move(dims), proto.int64_data());
    case DataType::kUInt64:
      return FromField<uint64_t>(type, std::move(dims), proto.uint64_data());
    case DataType::kUInt32:
      return FromField<uint32_t>(type, std::move(dims), proto.uint64_data());
    case DataType::kInt32:
      return FromField<int32_t>(type, std::move(dims), proto.int32_data());
    case DataType::kInt16:
    case DataType::kUInt16:
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return FromField<uint16_t>(type, std::move(dims), proto.int32_data());
    case DataType::kInt8:
    case DataType::kUInt8:
      return FromField<uint8_t>(type, std::move(dims), proto.int32_data());
    case DataType::kBool: {
      Tensor tensor(type, std::move(dims));
      std::byte* out = tensor.mutable_raw();
      for (const int32_t value : proto.int32_data()) *out++ = std::byte{value != 0};
      return tensor;
    }
    case DataType::kString:
    case DataType::kUnknown:
    case DataType::kResource:
    case DataType::kVariant:
      break;
  }
  CHECK(false) << "no typed field for " << DataTypeName(type);
  return Tensor();
}

}  // namespace

Tensor TakeTensor(onnx::TensorProto& proto) {
  const DataType type = FromOnnxType(proto.data_type());
  if (type == DataType::kString) {
    return Tensor::OfStrings(Dims(proto), {proto.string_data().begin(), proto.string_data().end()});
  }
  if (!proto.has_raw_data()) return FromTypedFields(proto, type);
  if (proto.raw_data().size() <= kCopyUpTo) {
    return Tensor(type, Dims(proto), Buffer::CopyOf(proto.raw_data().data(), proto.raw_data().size()));
  }
  const std::shared_ptr<const std::string> bytes(proto.release_raw_data());
  return Tensor(type, Dims(proto), Buffer::View(bytes->data(), bytes->size(), bytes));
}

onnx::TensorProto TensorHead(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  if (!name.empty()) proto.set_name(name);
  proto.set_data_type(ToOnnxType(tensor.type()));
  for (const int64_t dim : tensor.dims()) proto.add_dims(dim);
  for (const std::string& text : tensor.strings()) proto.add_string_data(text);
  return proto;
}

onnx::TensorProto ToProto(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto = TensorHead(tensor, name);
  if (tensor.type() != DataType::kString) proto.set_raw_data(tensor.raw(), tensor.byte_size());
  return proto;
}

onnx::AttributeProto::AttributeType KindOf(const onnx::AttributeProto& proto) {
  if (proto.type() != onnx::AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return onnx::AttributeProto::FLOAT;
  if (proto.has_i()) return onnx::AttributeProto::INT;
  if (proto.has_s()) return onnx::AttributeProto::STRING;
  if (proto.has_t()) return onnx::AttributeProto::TENSOR;
  if (proto.has_g()) return onnx::AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return onnx::AttributeProto::FLOATS;
  if (proto.strings_size() > 0) return onnx::AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return onnx::AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return onnx::AttributeProto::GRAPHS;
  return proto.ints_size() > 0 ? onnx::AttributeProto::INTS : onnx::AttributeProto::UNDEFINED;
}

AttributeValue TakeAttribute(onnx::AttributeProto& proto) {
  const auto known = [](const onnx::TensorProto& tensor) {
    return FromOnnxType(tensor.data_type()) != DataType::kUnknown;
  };
  if (proto.ref_attr_name().empty()) {
    switch (KindOf(proto)) {
      case onnx::AttributeProto::FLOAT:
        return proto.f();
      case onnx::AttributeProto::INT:
        return proto.i();
      case onnx::AttributeProto::STRING:
        return proto.s();
      case onnx::AttributeProto::FLOATS:
        return std::vector<float>(proto.floats().begin(), proto.floats().end());
      case onnx::AttributeProto::INTS:
        return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      case onnx::AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      case onnx::AttributeProto::TENSOR:
        if (known(proto.t())) return TakeTensor(*proto.mutable_t());
        break;
      case onnx::AttributeProto::TENSORS: {
        std::vector<Tensor> tensors;
        if (!std::all_of(proto.tensors().begin(), proto.tensors().end(), known)) break;
        for (onnx::TensorProto& tensor : *proto.mutable_tensors()) tensors.push_back(TakeTensor(tensor));
        return tensors;
      }
      default:
        break;  // graphs, sparse tensors, types
    }
  }
  return RawBytes{proto.SerializeAsString()};
}

absl::StatusOr<onnx::AttributeProto> ToProto(std::string_view name, const AttributeValue& value) {
  onnx::AttributeProto proto;
  proto.set_name(std::string(name));
  const bool has_form = std::visit(
      [&proto]<typename T>(const T& v) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>) {
          proto.set_type(onnx::AttributeProto::INT);
          proto.set_i(v);
        } else if constexpr (std::is_same_v<T, float>) {
          proto.set_type(onnx::AttributeProto::FLOAT);
          proto.set_f(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          proto.set_type(onnx::AttributeProto::STRING);
          proto.set_s(v);
        } else if constexpr (std::is_same_v<T, DataType>) {
          proto.set_type(onnx::AttributeProto::INT);
          proto.set_i(ToOnnxType(v));
        } else if constexpr (std::is_same_v<T, Tensor>) {
          proto.set_type(onnx::AttributeProto::TENSOR);
          *proto.mutable_t() = ToProto(v, "");
        } else if constexpr (std::is_same_v<T, RawBytes>) {
          return ParseMessage(v.bytes, proto);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          proto.set_type(onnx::AttributeProto::INTS);
          proto.mutable_ints()->Add(v.begin(), v.end());
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          proto.set_type(onnx::AttributeProto::FLOATS);
          proto.mutable_floats()->Add(v.begin(), v.end());
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          proto.set_type(onnx::AttributeProto::STRINGS);
          for (const std::string& text : v) proto.add_strings(text);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          proto.set_type(onnx::AttributeProto::TENSORS);
          for (const Tensor& tensor : v) *proto.add_tensors() = ToProto(tensor, "");
        } else {
          return false;  // shapes, nested graphs, lists of bools or types: no importer of ONNX makes them
        }
        return true;
      },
      value);
  if (!has_form) return absl::InvalidArgumentError(Concat("attribute '", name, "' cannot be expressed in ONNX"));
  return proto;
}

bool ParseMessage(std::string_view bytes, google::protobuf::Message& message) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return false;
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(kNestingLimit);
  return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace halftone::onnx_format
