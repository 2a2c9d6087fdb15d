// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/variables.h"

#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "absl/crc/crc32c.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/snappy.h"
#include "formats/tensorflow/varint.h"

namespace halftone::graphdef {
namespace {

constexpr size_t kFooterBytes = 48, kTrailerBytes = 5;  // of a block: how it is packed, its checksum
constexpr size_t kMostBlockBytes = size_t{256} << 20;
constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;

absl::Status Damaged(std::string_view what) {
  return absl::InvalidArgumentError(Concat("the index of the variables is damaged: ", what));
}

template <typename Number>
Number NumberAt(std::string_view bytes, size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// LevelDB's and TensorFlow's masked CRC-32C.
uint32_t MaskedCrc(std::string_view bytes) {
  const auto crc = static_cast<uint32_t>(absl::ComputeCrc32c({bytes.data(), bytes.size()}));
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// Position of a block.
struct Handle {
  uint64_t offset = 0, size = 0;
};

std::optional<Handle> TakeHandle(std::string_view& bytes) {
  const std::optional<uint64_t> offset = TakeVarint(bytes);
  const std::optional<uint64_t> size = offset.has_value() ? TakeVarint(bytes) : std::nullopt;
  if (!size.has_value()) return std::nullopt;
  return Handle{*offset, *size};
}

absl::StatusOr<std::string> ReadBlock(std::string_view index, const Handle& handle) {
  if (handle.size > index.size() || handle.offset > index.size() - handle.size ||
      index.size() - handle.size - handle.offset < kTrailerBytes) {
    return Damaged("a block lies outside of the file");
  }
  const std::string_view packed = index.substr(handle.offset, handle.size);
  const std::string_view checked = index.substr(handle.offset, handle.size + 1);  // the kind of packing, too
  if (MaskedCrc(checked) != NumberAt<uint32_t>(index, handle.offset + handle.size + 1)) {
    return Damaged("the checksum of a block does not fit");
  }
  switch (checked.back()) {
    case 0:
      return std::string(packed);
    case 1:
      return UnpackSnappy(packed, kMostBlockBytes);
    default:
      return Damaged(Concat("a block is packed in way ", static_cast<int>(checked.back()), "; 0 and 1 are known"));
  }
}

// Calls `body` with each key and value of a block: keys share their beginning with the one before.
absl::Status ForEachEntry(std::string_view block,
                          const std::function<absl::Status(const std::string&, std::string_view)>& body) {
  if (block.size() < sizeof(uint32_t)) return Damaged("a block is too short");
  const auto restarts = NumberAt<uint32_t>(block, block.size() - sizeof(uint32_t));
  if (restarts > block.size() / sizeof(uint32_t) - 1) return Damaged("a block is shorter than its table of restarts");
  block.remove_suffix((size_t{restarts} + 1) * sizeof(uint32_t));
  std::string key;
  while (!block.empty()) {
    const std::optional<uint64_t> shared = TakeVarint(block), own = TakeVarint(block), size = TakeVarint(block);
    if (!size.has_value() || *shared > key.size() || *own > block.size() || *size > block.size() - *own) {
      return Damaged("an entry lies outside of its block");
    }
    key.resize(*shared);
    key += block.substr(0, *own);
    HALFTONE_RETURN_IF_ERROR(body(key, block.substr(*own, *size)));
    block.remove_prefix(*own + *size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Variables::AddEntry(const std::string& key, std::string_view value) {
  if (key.empty()) {
    tf::BundleHeaderProto header;
    if (!header.ParseFromArray(value.data(), static_cast<int>(value.size()))) return Damaged("its header is no header");
    if (header.endianness() != 0) {
      return absl::UnimplementedError("the variables have the byte order of another CPU; little endian is wanted");
    }
    if (header.num_shards() != static_cast<int>(shards_.size())) {
      return absl::InvalidArgumentError(Concat("the variables are in ", header.num_shards(), " files; ", shards_.size(),
                                               " are there (variables/variables.data-00000-of-...)"));
    }
    return absl::OkStatus();
  }
  tf::BundleEntryProto entry;
  if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size())))
    return Damaged(Concat("entry '", key, "' is no entry"));
  entries_[key] = std::move(entry);
  return absl::OkStatus();
}

absl::Status Variables::ReadTable(std::string_view index) {
  if (index.size() < kFooterBytes) return Damaged("it is too short");
  std::string_view footer = index.substr(index.size() - kFooterBytes);
  if (NumberAt<uint64_t>(footer, kFooterBytes - sizeof(kTableMagic)) != kTableMagic)
    return Damaged("it does not end as such a table does");
  const std::optional<Handle> meta = TakeHandle(footer), blocks = TakeHandle(footer);
  if (!meta.has_value() || !blocks.has_value()) return Damaged("its last bytes are no handles");
  HALFTONE_ASSIGN_OR_RETURN(const std::string list, ReadBlock(index, *blocks));
  return ForEachEntry(list, [&](const std::string&, std::string_view value) -> absl::Status {
    const std::optional<Handle> handle = TakeHandle(value);
    if (!handle.has_value()) return Damaged("its list of blocks has no handles");
    HALFTONE_ASSIGN_OR_RETURN(const std::string block, ReadBlock(index, *handle));
    return ForEachEntry(block, [&](const std::string& key, std::string_view entry) { return AddEntry(key, entry); });
  });
}

absl::StatusOr<Variables> Variables::Read(std::string_view index, std::vector<std::string_view> shards) {
  Variables variables;
  variables.shards_ = std::move(shards);
  HALFTONE_RETURN_IF_ERROR(variables.ReadTable(index));
  return variables;
}

absl::Status Variables::Get(const std::string& key, tf::TensorProto& tensor) const {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return absl::NotFoundError(Concat("the variables have no '", key, "'"));
  const tf::BundleEntryProto& entry = it->second;
  const auto bad = [&](const auto&... what) { return absl::InvalidArgumentError(Concat("variable '", key, "' ", what...)); };
  if (entry.slices_size() > 0) return absl::UnimplementedError(Concat("variable '", key, "' is stored in parts"));
  if (FromTfType(entry.dtype()) == DataType::kUnknown) {
    return absl::UnimplementedError(Concat("variable '", key, "' is of type ", TfTypeName(entry.dtype())));
  }
  if (entry.shard_id() < 0 || entry.shard_id() >= static_cast<int>(shards_.size()))
    return bad("lies in file ", entry.shard_id(), " of ", shards_.size());
  const std::string_view shard = shards_[entry.shard_id()];
  if (entry.size() < 0 || entry.offset() < 0 || static_cast<uint64_t>(entry.size()) > shard.size() ||
      static_cast<uint64_t>(entry.offset()) > shard.size() - static_cast<uint64_t>(entry.size())) {
    return bad("lies outside of its file of ", shard.size(), " bytes");
  }
  const std::string_view bytes = shard.substr(entry.offset(), entry.size());
  if (MaskedCrc(bytes) != entry.crc32c()) return bad("is damaged: its checksum does not fit");
  tensor.set_dtype(entry.dtype());
  *tensor.mutable_tensor_shape() = entry.shape();
  tensor.set_tensor_content(bytes.data(), bytes.size());
  return absl::OkStatus();
}

}  // namespace halftone::graphdef
