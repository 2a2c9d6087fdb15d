// SPDX-License-Identifier: Apache-2.0
// PendingFile: a file that is not there until it is complete.
#ifndef HALFTONE_CLIENT_PENDING_FILE_H_
#define HALFTONE_CLIENT_PENDING_FILE_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/fd.h"

namespace halftone::client {

// Bytes go to a hidden file beside `path`; Commit renames it, and without Commit it is removed. Not thread-safe.
class PendingFile {
 public:
  // Makes the folders above `path`.
  static absl::StatusOr<PendingFile> Create(const std::string& path);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  const std::string& path() const { return path_; }

  absl::Status Append(absl::string_view bytes);

  // Makes the bytes durable, under the temporary name.
  absl::Status Sync();
  // Gives the file its name, in place of what was there.
  absl::Status Commit();

 private:
  PendingFile(std::string path, std::string temporary, UniqueFd fd);
  void Discard();

  std::string path_;
  std::string temporary_;  // empty: committed or moved from
  UniqueFd fd_;
};

// All or, as far as a file system can, none: everything is made durable before the first file gets its name.
absl::Status CommitAll(std::span<PendingFile> files);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_PENDING_FILE_H_
