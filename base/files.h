// SPDX-License-Identifier: Apache-2.0
// Small helpers over files and folders. Errors name the path.

#ifndef HALFTONE_BASE_FILES_H_
#define HALFTONE_BASE_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halftone {

// The whole file.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes `bytes` to a new file beside `path`, makes it durable and renames it to `path`: a reader sees the old file or
// the new one, also after a power failure.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

// Writes all of `bytes` at `offset`.
absl::Status WriteAt(int fd, int64_t offset, std::string_view bytes);

// Makes the entries of a folder durable (after a rename, a new file or a removal).
absl::Status SyncDirectory(const std::string& path);

// Makes a folder and its parents; OK when it is there already.
absl::Status MakeDirectories(const std::string& path);

// Removes a file or a whole folder; OK when it is not there.
absl::Status RemoveAll(const std::string& path);

// Size of a regular file in bytes; symbolic links are not followed and are an error.
absl::StatusOr<int64_t> RegularFileSize(const std::string& path);

// A private (0700) folder that is removed with everything in it when this object is destroyed. Not thread-safe.
class TempDir {
 public:
  // Below $TMPDIR or /tmp.
  static absl::StatusOr<TempDir> Create(std::string_view prefix = "halftone-");
  static absl::StatusOr<TempDir> CreateBelow(const std::string& parent, std::string_view prefix);

  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// A file mapped into memory, read-only. The file must not shrink while it is mapped. Thread-safe (const only).
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}

  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace halftone

#endif  // HALFTONE_BASE_FILES_H_
