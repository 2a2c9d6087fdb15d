// SPDX-License-Identifier: Apache-2.0
// Names and tensors of the validator.

#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/validator.h"
#include "ir/shape.h"

namespace halftone::onnx_format {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

// For messages: control characters escaped, long names cut.
std::string Printable(std::string_view name) {
  constexpr size_t kShown = 80;
  const std::string shown = absl::CHexEscape(AbslView(name.substr(0, kShown)));
  return name.size() > kShown ? shown + "..." : shown;
}

// Length of the UTF-8 sequence that `text` starts with, 0 if there is none (overlong forms and surrogates are none).
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

// Where a type keeps its elements if not in raw_data, and how many entries an element takes there.
struct Storage {
  int entries = 0;  // found in the right field
  int per_element = 1;
};

Storage TypedStorage(const onnx::TensorProto& tensor) {
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return {tensor.float_data_size()};
    case onnx::TensorProto::COMPLEX64:
      return {tensor.float_data_size(), 2};
    case onnx::TensorProto::DOUBLE:
      return {tensor.double_data_size()};
    case onnx::TensorProto::COMPLEX128:
      return {tensor.double_data_size(), 2};
    case onnx::TensorProto::INT64:
      return {tensor.int64_data_size()};
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::UINT64:
      return {tensor.uint64_data_size()};
    case onnx::TensorProto::STRING:
      return {tensor.string_data_size()};
    default:
      return {tensor.int32_data_size()};  // the small types
  }
}

int AllTypedEntries(const onnx::TensorProto& tensor) {
  return tensor.float_data_size() + tensor.double_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
         tensor.uint64_data_size() + tensor.string_data_size();
}

bool IsFourBits(int type) { return type == onnx::TensorProto::INT4 || type == onnx::TensorProto::UINT4; }

// Bytes of raw_data that `elements` take.
int64_t RawSize(int type, int64_t elements) {
  if (IsFourBits(type)) return (elements + 1) / 2;
  const size_t size = ElementSize(FromOnnxType(type));
  return elements *
         static_cast<int64_t>(size == 0 ? 1 : size);  // unknown ones are the 8-bit floats; kMaxElements: no overflow
}

}  // namespace

absl::Status ValidateName(std::string_view name, std::string_view what) {
  if (name.size() > kMaxNameBytes) {
    return Invalid(what, " '", Printable(name), "' has ", name.size(), " bytes, at most ", kMaxNameBytes,
                   " are allowed");
  }
  for (size_t i = 0; i < name.size();) {
    const size_t length = Utf8Length(name.substr(i));
    const unsigned char c = static_cast<unsigned char>(name[i]);
    if (length == 0) return Invalid(what, " '", Printable(name), "' is not valid UTF-8");
    const bool c1_control = length == 2 && c == 0xc2 && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || c1_control) return Invalid(what, " '", Printable(name), "' holds a control character");
    i += length;
  }
  return absl::OkStatus();
}

absl::Status ValidateTensor(const onnx::TensorProto& tensor, std::string_view where) {
  if (absl::Status status = ValidateName(tensor.name(), "a tensor's name"); !status.ok()) return status;
  const std::string label = tensor.name().empty() ? std::string(where) : Concat("tensor '", tensor.name(), "'");
  if (tensor.external_data_size() > 0 || tensor.data_location() != onnx::TensorProto::DEFAULT) {
    return Invalid(
        label,
        " keeps its data in another file; send one file that holds all weights (external data is not supported)");
  }
  if (tensor.has_segment()) return Invalid(label, " is a segment of a tensor; segments are not supported");
  const int type = tensor.data_type();
  if (type <= onnx::TensorProto::UNDEFINED || !onnx::TensorProto::DataType_IsValid(type)) {
    return Invalid(label, " has element type ", type, ", which ONNX does not know");
  }
  if (tensor.dims_size() > kMaxRank)
    return Invalid(label, " has rank ", tensor.dims_size(), ", at most ", kMaxRank, " is supported");
  const std::optional<int64_t> elements =
      CheckedProduct({tensor.dims().data(), static_cast<size_t>(tensor.dims_size())});
  const auto dims = [&] {
    return Shape::Of({tensor.dims().data(), static_cast<size_t>(tensor.dims_size())}).ToString();
  };
  if (!elements.has_value() || *elements > kMaxElements) {
    return Invalid(label, " has dimensions that are negative or whose product is more than 2^40");
  }
  const Storage typed = TypedStorage(tensor);
  if (typed.entries != AllTypedEntries(tensor)) return Invalid(label, " keeps its data in the field of another type");
  if (tensor.has_raw_data()) {
    const int64_t needed = RawSize(type, *elements);
    if (type == onnx::TensorProto::STRING) return Invalid(label, ": strings cannot be raw data");
    if (typed.entries > 0) return Invalid(label, " has its data twice, raw and typed");
    if (static_cast<int64_t>(tensor.raw_data().size()) != needed) {
      return Invalid(label, " holds ", tensor.raw_data().size(), " bytes, but ", onnx::TensorProto::DataType_Name(type),
                     dims(), " needs ", needed);
    }
    if (type == onnx::TensorProto::BOOL &&
        tensor.raw_data().find_first_not_of(std::string("\0\1", 2)) != std::string::npos) {
      return Invalid(label, " holds bools other than 0 and 1");
    }
    return absl::OkStatus();
  }
  const int64_t needed = IsFourBits(type) ? (*elements + 1) / 2 : *elements * typed.per_element;
  if (typed.entries != needed) {
    return Invalid(label, " holds ", typed.entries, " numbers, but ", onnx::TensorProto::DataType_Name(type), dims(),
                   " needs ", needed);
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
