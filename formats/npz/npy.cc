// SPDX-License-Identifier: Apache-2.0
#include "formats/npz/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int kMaxRank = 32;

struct DtypeRow {
  std::string_view code;
  DataType type;
};
constexpr DtypeRow kDtypes[] = {
    {"f2", DataType::kFloat16}, {"f4", DataType::kFloat32}, {"f8", DataType::kFloat64}, {"i1", DataType::kInt8},
    {"i2", DataType::kInt16},   {"i4", DataType::kInt32},   {"i8", DataType::kInt64},   {"u1", DataType::kUInt8},
    {"u2", DataType::kUInt16},  {"u4", DataType::kUInt32},  {"u8", DataType::kUInt64},  {"b1", DataType::kBool},
};

absl::Status Bad(std::string_view label, std::string_view what) {
  return absl::InvalidArgumentError(Concat("'", label, "': ", what));
}

// The text after "'key':" in the header's Python dictionary, without leading blanks; empty if the key is not there.
std::string_view After(std::string_view dictionary, std::string_view key) {
  const size_t at = dictionary.find(Concat("'", key, "'"));
  if (at == std::string_view::npos) return {};
  size_t value = dictionary.find(':', at);
  if (value == std::string_view::npos) return {};
  value = dictionary.find_first_not_of(' ', value + 1);
  return value == std::string_view::npos ? std::string_view() : dictionary.substr(value);
}

absl::Status ParseDescr(std::string_view text, std::string_view label, NpyHeader& header) {
  const size_t end = text.size() < 2 || text[0] != '\'' ? std::string_view::npos : text.find('\'', 1);
  if (end == std::string_view::npos) return Bad(label, "not a plain array: 'descr' must be one dtype such as '<f4'");
  const std::string_view descr = text.substr(1, end - 1);
  const DtypeRow* row = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                     [&](const DtypeRow& r) { return descr.size() == 3 && r.code == descr.substr(1); });
  if (row == std::end(kDtypes)) {
    return Bad(label, Concat("dtype '", descr, "' is not supported; use float16/32/64, int8..64, uint8..64 or bool"));
  }
  header.type = row->type;
  header.big_endian = descr[0] == '>';
  return absl::OkStatus();
}

absl::Status ParseDims(std::string_view text, std::string_view label, NpyHeader& header) {
  const size_t end = text.empty() || text[0] != '(' ? std::string_view::npos : text.find(')');
  if (end == std::string_view::npos) return Bad(label, "'shape' must be a tuple");
  std::string_view list = text.substr(1, end - 1);
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string item(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    std::erase_if(item, [](char c) { return c == ' ' || c == 'L'; });
    if (item.empty()) continue;
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0) return Bad(label, Concat("bad dimension '", item, "'"));
    header.dims.push_back(dim);
  }
  if (header.dims.size() > kMaxRank) return Bad(label, "more than 32 dimensions");
  const std::optional<int64_t> elements = CheckedProduct(header.dims);
  if (!elements.has_value() || *elements > (int64_t{1} << 40)) return Bad(label, "more than 2^40 elements");
  return absl::OkStatus();
}

void SwapBytes(std::span<std::byte> data, size_t element) {
  for (size_t i = 0; i + element <= data.size(); i += element)
    std::reverse(data.begin() + i, data.begin() + i + element);
}

// Column-major elements to row-major ones.
Tensor FromFortran(const Tensor& columns) {
  Tensor rows(columns.type(), columns.dims());
  const size_t element = ElementSize(columns.type());
  const int rank = columns.rank();
  std::vector<int64_t> index(rank, 0);
  std::vector<int64_t> strides(rank, 1);
  for (int d = 1; d < rank; ++d) strides[d] = strides[d - 1] * columns.dims()[d - 1];
  for (int64_t i = 0; i < columns.num_elements(); ++i) {
    int64_t from = 0;
    for (int d = 0; d < rank; ++d) from += index[d] * strides[d];
    std::memcpy(rows.mutable_raw() + i * element, columns.raw() + from * element, element);
    for (int d = rank - 1; d >= 0 && ++index[d] == columns.dims()[d]; --d) index[d] = 0;
  }
  return rows;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view bytes, std::string_view label) {
  if (bytes.size() < 10 || bytes.substr(0, kMagic.size()) != kMagic) return Bad(label, "not a .npy array");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return Bad(label, Concat("a .npy of version ", version, "; 1 to 3 are known"));
  const size_t length_bytes = version == 1 ? 2 : 4;
  size_t length = 0;
  if (bytes.size() < 8 + length_bytes) return Bad(label, "the head is cut off");
  for (size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  NpyHeader header;
  header.data_offset = 8 + length_bytes + length;
  if (length > 65536 || bytes.size() < header.data_offset) return Bad(label, "the head is cut off");
  const std::string_view dictionary = bytes.substr(8 + length_bytes, length);
  HALFTONE_RETURN_IF_ERROR(ParseDescr(After(dictionary, "descr"), label, header));
  HALFTONE_RETURN_IF_ERROR(ParseDims(After(dictionary, "shape"), label, header));
  header.fortran_order = After(dictionary, "fortran_order").starts_with("True");
  return header;
}

void CleanBools(Tensor& tensor) {
  if (tensor.type() != DataType::kBool) return;
  std::byte* bytes = tensor.mutable_raw();
  std::transform(bytes, bytes + tensor.byte_size(), bytes, [](std::byte b) { return std::byte{b != std::byte{0}}; });
}

absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view label) {
  HALFTONE_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes, label));
  const size_t expected = static_cast<size_t>(*CheckedProduct(header.dims)) * ElementSize(header.type);
  if (bytes.size() - header.data_offset < expected) {
    return Bad(label, Concat("has ", bytes.size() - header.data_offset, " bytes of data where its shape ",
                             Shape::Of(header.dims).ToString(), " needs ", expected));
  }
  Tensor tensor(header.type, header.dims);
  if (expected > 0) std::memcpy(tensor.mutable_raw(), bytes.data() + header.data_offset, expected);
  if (header.big_endian) SwapBytes({tensor.mutable_raw(), expected}, ElementSize(header.type));
  CleanBools(tensor);
  return header.fortran_order && tensor.rank() > 1 ? FromFortran(tensor) : tensor;
}

absl::StatusOr<std::string> WriteNpy(const Tensor& tensor) {
  if (tensor.type() == DataType::kBFloat16) {
    HALFTONE_ASSIGN_OR_RETURN(const Tensor wide, tensor.ConvertTo(DataType::kFloat32));
    return WriteNpy(wide);
  }
  const DtypeRow* row =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const DtypeRow& r) { return r.type == tensor.type(); });
  if (row == std::end(kDtypes)) {
    return absl::InvalidArgumentError(Concat("a tensor of type ", DataTypeName(tensor.type()), " has no .npy form"));
  }
  const char order = ElementSize(tensor.type()) == 1 ? '|' : '<';
  std::string dims;
  for (const int64_t dim : tensor.dims()) dims += Concat(dim, ", ");
  std::string head =
      Concat("{'descr': '", std::string(1, order), row->code, "', 'fortran_order': False, 'shape': (", dims, "), }");
  constexpr size_t kPrefix = 10;
  head.append((64 - (kPrefix + head.size() + 1) % 64) % 64, ' ');
  head += '\n';
  std::string out = Concat(kMagic, std::string("\x01\x00", 2));
  out += static_cast<char>(head.size() & 0xff);
  out += static_cast<char>(head.size() >> 8);
  out += head;
  out.append(reinterpret_cast<const char*>(tensor.raw()), tensor.byte_size());
  return out;
}

}  // namespace halftone
