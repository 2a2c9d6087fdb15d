// SPDX-License-Identifier: Apache-2.0
// Numbers of LevelDB's tables and of Snappy: seven bits a byte, the lowest first, as protobuf has them.
#ifndef HALFTONE_FORMATS_TENSORFLOW_VARINT_H_
#define HALFTONE_FORMATS_TENSORFLOW_VARINT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "google/protobuf/io/coded_stream.h"

namespace halftone::graphdef {

// Takes one from the front of `bytes`; nullopt: there is none.
inline std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  constexpr size_t kMostBytes = 10;
  const size_t size = std::min(bytes.size(), kMostBytes);
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(size));
  uint64_t value = 0;
  if (!stream.ReadVarint64(&value)) return std::nullopt;
  bytes.remove_prefix(static_cast<size_t>(stream.CurrentPosition()));
  return value;
}

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_VARINT_H_
