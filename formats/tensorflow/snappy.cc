// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/snappy.h"

#include <cstdint>
#include <optional>

#include "base/strings.h"
#include "formats/tensorflow/varint.h"

namespace halftone::graphdef {
namespace {

absl::Status Damaged() { return absl::InvalidArgumentError("damaged: no bytes that Snappy packed"); }

// Takes `count` little-endian bytes.
std::optional<uint64_t> TakeNumber(std::string_view& bytes, size_t count) {
  if (bytes.size() < count) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  bytes.remove_prefix(count);
  return value;
}

}  // namespace

absl::StatusOr<std::string> UnpackSnappy(std::string_view packed, size_t most_bytes) {
  const std::optional<uint64_t> size = TakeVarint(packed);
  if (!size.has_value()) return Damaged();
  if (*size > most_bytes) {
    return absl::InvalidArgumentError(Concat("unpacks to ", *size, " bytes; at most ", most_bytes, " are possible"));
  }
  std::string out;
  out.reserve(*size);
  while (!packed.empty()) {
    const auto tag = static_cast<uint8_t>(packed.front());
    packed.remove_prefix(1);
    std::optional<uint64_t> length, back;
    switch (tag & 3) {
      case 0: {  // literal bytes; the length of 61 and more follows the tag
        const unsigned code = tag >> 2;
        length = code < 60 ? std::optional<uint64_t>(code) : TakeNumber(packed, code - 59);
        if (!length.has_value() || *length >= packed.size() || out.size() + *length + 1 > *size) return Damaged();
        out.append(packed.substr(0, *length + 1));
        packed.remove_prefix(*length + 1);
        continue;
      }
      case 1:  // 4 to 11 bytes, up to 2047 back
        length = ((tag >> 2) & 7) + 4;
        back = TakeNumber(packed, 1);
        if (back.has_value()) *back |= static_cast<uint64_t>(tag >> 5) << 8;
        break;
      default:  // 1 to 64 bytes, how far back in two or four bytes
        length = (tag >> 2) + 1;
        back = TakeNumber(packed, (tag & 3) == 2 ? 2 : 4);
        break;
    }
    if (!back.has_value() || *back == 0 || *back > out.size() || out.size() + *length > *size) return Damaged();
    for (uint64_t i = 0; i < *length; ++i) out.push_back(out[out.size() - *back]);  // may read what it has just written
  }
  if (out.size() != *size) return Damaged();
  return out;
}

}  // namespace halftone::graphdef
