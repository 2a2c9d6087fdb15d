// SPDX-License-Identifier: Apache-2.0
// BlobUpload: the unfinished file of one blob, shared by all who write it at the moment.

#ifndef HALFTONE_SERVER_CORE_BLOB_UPLOAD_H_
#define HALFTONE_SERVER_CORE_BLOB_UPLOAD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "halftone/v1/blobs.pb.h"

namespace halftone::server {

// Thread-safe, but for `writers`.
class BlobUpload {
 public:
  BlobUpload(std::string part_path, v1::Digest digest) : part_path_(std::move(part_path)), digest_(std::move(digest)) {}

  const std::string& part_path() const { return part_path_; }

  // Opens the file and hashes what is there from before, once. Returns how many bytes are durable.
  absl::StatusOr<int64_t> Prepare();

  int64_t committed_size() const;

  // Appends the part of `data` that is past the bytes written so far. `offset` is at most their number.
  absl::Status Write(int64_t offset, std::string_view data);

  // Checks the digest, makes the file durable and calls `publish` with its descriptor, once; later calls return
  // the status of the first one.
  absl::Status Finish(absl::FunctionRef<absl::Status(int fd)> publish);

  // Removes the file; later calls of all writers fail with `why`.
  void Discard(const absl::Status& why);

  // Makes everything written durable and returns how much that is.
  absl::StatusOr<int64_t> Sync();

  int writers = 0;  // guarded by the store's mutex

 private:
  absl::Status OpenAndHash() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DiscardLocked(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string part_path_;
  const v1::Digest digest_;

  mutable absl::Mutex mutex_;
  UniqueFd fd_ ABSL_GUARDED_BY(mutex_);
  Sha256 hash_ ABSL_GUARDED_BY(mutex_);
  int64_t length_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t committed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool published_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_BLOB_UPLOAD_H_
