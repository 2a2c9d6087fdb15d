// Numbers of LevelDB's tables and of Snappy: seven bits a byte, the lowest first, as protobuf has them.
#ifndef HALFTONE_FORMATS_TENSORFLOW_VARINT_H_
#define HALFTONE_FORMATS_TENSORFLOW_VARINT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::graphdef {

// Takes one from the front of `bytes`; nullopt: there is none.
inline std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_VARINT_H_
