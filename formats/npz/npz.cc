// SPDX-License-Identifier: Apache-2.0
#include "formats/npz/npz.h"

#include <zip.h>

#include <algorithm>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr size_t kHeadBytes = size_t{64} << 10;
constexpr size_t kSkipBytes = size_t{1} << 20;
constexpr uint64_t kMaxInflation = 1040;  // deflate makes at most 1032 bytes of one

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

// An array that is being read forward.
struct Cursor {
  std::unique_ptr<zip_file_t, ZipCloser> file;
  int64_t at = 0;  // bytes of the array's data that were read
};

struct Entry {
  zip_uint64_t index = 0;
  uint64_t size = 0;  // of the .npy
  NpyHeader header;
  Cursor cursor;
  Tensor whole;  // an array in Fortran order or of the other byte order, once a row of it was read
};

class ZipNpzReader final : public NpzReader {
 public:
  ZipNpzReader(std::unique_ptr<zip_t, ZipCloser> archive, std::string label, uint64_t file_size)
      : archive_(std::move(archive)), label_(std::move(label)), file_size_(file_size) {}

  absl::Status ReadDirectory() {
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t stat;
      if (zip_stat_index(archive_.get(), i, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
          (stat.valid & ZIP_STAT_SIZE) == 0 || (stat.valid & ZIP_STAT_COMP_SIZE) == 0) {
        return Bad("", "the archive's directory is damaged");
      }
      std::string name = stat.name;
      if (!name.ends_with(".npy")) continue;
      name.resize(name.size() - 4);
      Entry entry;
      entry.index = static_cast<zip_uint64_t>(i);
      entry.size = stat.size;
      HALFTONE_ASSIGN_OR_RETURN(entry.header, ReadHead(entry, name));
      const uint64_t expected =
          static_cast<uint64_t>(*CheckedProduct(entry.header.dims)) * ElementSize(entry.header.type);
      if (entry.size < entry.header.data_offset || entry.size - entry.header.data_offset < expected) {
        return Bad(name, Concat("is shorter than its shape ", Shape::Of(entry.header.dims).ToString(), " needs"));
      }
      if (stat.comp_size > file_size_ || entry.size / kMaxInflation > stat.comp_size) {
        return Bad(name, Concat("claims ", entry.size, " bytes, more than the file can hold"));
      }
      if (Find(name) >= 0) return Bad(name, "is there twice");
      arrays_.push_back({std::move(name), entry.header.type, entry.header.dims});
      entries_.push_back(std::move(entry));
    }
    return absl::OkStatus();
  }

  const std::vector<NpzArray>& arrays() const override { return arrays_; }

  int Find(std::string_view name) const override {
    const auto it =
        std::find_if(arrays_.begin(), arrays_.end(), [&](const NpzArray& array) { return array.name == name; });
    return it == arrays_.end() ? -1 : static_cast<int>(it - arrays_.begin());
  }

  absl::StatusOr<Tensor> ReadAll(int array) override {
    Entry& entry = entries_[array];
    std::string bytes(entry.size, '\0');
    HALFTONE_ASSIGN_OR_RETURN(const auto file, Open(entry, arrays_[array].name));
    HALFTONE_RETURN_IF_ERROR(ReadExactly(file.get(), bytes.data(), bytes.size(), arrays_[array].name));
    return ParseNpy(bytes, Concat(label_, ":", arrays_[array].name));
  }

  absl::StatusOr<Tensor> ReadRows(int array, int64_t first, int64_t count) override {
    Entry& entry = entries_[array];
    const std::string& name = arrays_[array].name;
    std::vector<int64_t> dims = entry.header.dims;
    int64_t row_bytes = static_cast<int64_t>(ElementSize(entry.header.type));
    for (size_t i = 1; i < dims.size(); ++i) row_bytes *= dims[i];
    dims[0] = count;
    if (entry.header.fortran_order || entry.header.big_endian) {
      if (entry.whole.type() == DataType::kUnknown) {
        HALFTONE_ASSIGN_OR_RETURN(entry.whole, ReadAll(array));
      }
      return Tensor(entry.whole.type(), dims,
                    Buffer::CopyOf(entry.whole.raw() + first * row_bytes, static_cast<size_t>(count * row_bytes)));
    }
    HALFTONE_RETURN_IF_ERROR(MoveTo(entry, first * row_bytes, name));
    Tensor rows(entry.header.type, dims);
    HALFTONE_RETURN_IF_ERROR(
        ReadExactly(entry.cursor.file.get(), reinterpret_cast<char*>(rows.mutable_raw()), rows.byte_size(), name));
    entry.cursor.at += static_cast<int64_t>(rows.byte_size());
    CleanBools(rows);
    return rows;
  }

 private:
  absl::Status Bad(std::string_view array, std::string_view what) const {
    return absl::InvalidArgumentError(array.empty() ? Concat("'", label_, "': ", what)
                                                    : Concat("'", label_, "': array '", array, "' ", what));
  }

  absl::StatusOr<std::unique_ptr<zip_file_t, ZipCloser>> Open(const Entry& entry, std::string_view name) {
    std::unique_ptr<zip_file_t, ZipCloser> file(zip_fopen_index(archive_.get(), entry.index, 0));
    if (file == nullptr) return Bad(name, Concat("cannot be read: ", zip_strerror(archive_.get())));
    return file;
  }

  absl::Status ReadExactly(zip_file_t* file, char* to, size_t size, std::string_view name) {
    while (size > 0) {
      const zip_int64_t got = zip_fread(file, to, std::min(size, kSkipBytes));
      if (got <= 0) return Bad(name, "is cut off or damaged");
      to += got;
      size -= static_cast<size_t>(got);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<NpyHeader> ReadHead(const Entry& entry, std::string_view name) {
    HALFTONE_ASSIGN_OR_RETURN(const auto file, Open(entry, name));
    std::string head(std::min<uint64_t>(entry.size, kHeadBytes), '\0');
    HALFTONE_RETURN_IF_ERROR(ReadExactly(file.get(), head.data(), head.size(), name));
    return ParseNpyHeader(head, Concat(label_, ":", name));
  }

  // Brings the cursor to `offset` in the array's data.
  absl::Status MoveTo(Entry& entry, int64_t offset, std::string_view name) {
    int64_t skip = offset - entry.cursor.at;
    if (entry.cursor.file == nullptr || skip < 0) {
      HALFTONE_ASSIGN_OR_RETURN(entry.cursor.file, Open(entry, name));
      skip = static_cast<int64_t>(entry.header.data_offset) + offset;
    }
    std::string scratch(static_cast<size_t>(std::min<int64_t>(skip, kSkipBytes)), '\0');
    while (skip > 0) {
      const size_t piece = static_cast<size_t>(std::min<int64_t>(skip, static_cast<int64_t>(scratch.size())));
      HALFTONE_RETURN_IF_ERROR(ReadExactly(entry.cursor.file.get(), scratch.data(), piece, name));
      skip -= static_cast<int64_t>(piece);
    }
    entry.cursor.at = offset;
    return absl::OkStatus();
  }

  const std::unique_ptr<zip_t, ZipCloser> archive_;
  const std::string label_;
  const uint64_t file_size_;
  std::vector<NpzArray> arrays_;
  std::vector<Entry> entries_;  // as arrays_
};

}  // namespace

absl::StatusOr<std::unique_ptr<NpzReader>> NpzReader::Open(const std::string& path, const std::string& label) {
  int error = 0;
  std::unique_ptr<zip_t, ZipCloser> archive(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (archive == nullptr) {
    zip_error_t details;
    zip_error_init_with_code(&details, error);
    const std::string why = zip_error_strerror(&details);
    zip_error_fini(&details);
    return absl::InvalidArgumentError(Concat("'", label, "': not a .npz archive: ", why));
  }
  HALFTONE_ASSIGN_OR_RETURN(const int64_t file_size, RegularFileSize(path));
  auto reader = std::make_unique<ZipNpzReader>(std::move(archive), label, static_cast<uint64_t>(file_size));
  HALFTONE_RETURN_IF_ERROR(reader->ReadDirectory());
  return reader;
}

absl::Status WriteNpz(const std::string& path, const std::vector<NamedArray>& arrays, bool deflate) {
  std::vector<std::string> pieces;  // alive until zip_close
  for (const NamedArray& array : arrays) {
    HALFTONE_ASSIGN_OR_RETURN(std::string npy, WriteNpy(array.tensor));
    pieces.push_back(std::move(npy));
  }
  std::unique_ptr<zip_t, ZipCloser> archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr));
  if (archive == nullptr) return absl::InternalError(Concat("'", path, "' cannot be written"));
  for (size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* source = zip_source_buffer(archive.get(), pieces[i].data(), pieces[i].size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), Concat(arrays[i].name, ".npy").c_str(), source, 0);
    if (index < 0) {
      zip_source_free(source);
      return absl::InvalidArgumentError(
          Concat("'", path, "': array '", arrays[i].name, "' cannot be added: is it there twice?"));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             0);
  }
  if (zip_close(archive.get()) != 0)
    return absl::ResourceExhaustedError(Concat("'", path, "': ", zip_strerror(archive.get())));
  archive.release();  // closed
  return absl::OkStatus();
}

}  // namespace halftone
