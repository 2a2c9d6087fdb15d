// SPDX-License-Identifier: Apache-2.0
#include "server/core/blob_upload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "server/core/errors.h"

namespace halftone::server {
namespace {

constexpr mode_t kPrivateFile = 0600;
constexpr size_t kHashPieceBytes = 1 << 20;
constexpr int64_t kSyncEveryBytes = 32 << 20;  // how much a client may have to send again after a power failure

}  // namespace

absl::StatusOr<int64_t> BlobUpload::Prepare() {
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(failure_);
  if (!fd_.ok() && !published_) {
    if (absl::Status opened = OpenAndHash(); !opened.ok()) {
      failure_ = opened;
      return opened;
    }
  }
  return committed_;
}

absl::Status BlobUpload::OpenAndHash() {
  fd_.reset(open(part_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kPrivateFile));
  if (!fd_.ok()) return ErrnoToStatus(errno, "cannot open an upload");
  std::vector<char> piece(kHashPieceBytes);
  while (true) {
    const ssize_t got = pread(fd_.get(), piece.data(), piece.size(), length_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, "cannot read an upload");
    if (got == 0) break;
    hash_.Update({piece.data(), static_cast<size_t>(got)});
    length_ += got;
  }
  return SyncLocked();
}

int64_t BlobUpload::committed_size() const {
  const absl::MutexLock lock(&mutex_);
  return committed_;
}

absl::Status BlobUpload::Write(int64_t offset, std::string_view data) {
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(failure_);
  const int64_t end = offset + static_cast<int64_t>(data.size());
  if (published_ || end <= length_) return absl::OkStatus();  // another writer was faster
  data.remove_prefix(static_cast<size_t>(length_ - offset));
  if (absl::Status written = WriteAt(fd_.get(), length_, data); !written.ok()) {
    if (ftruncate(fd_.get(), length_) != 0) DiscardLocked(written);  // a part of it may be there
    return written;
  }
  hash_.Update(data);
  length_ = end;
  if (length_ - committed_ >= kSyncEveryBytes) return SyncLocked();
  return absl::OkStatus();
}

absl::Status BlobUpload::Finish(absl::FunctionRef<absl::Status(int fd)> publish) {
  const absl::MutexLock lock(&mutex_);
  if (published_) return absl::OkStatus();
  HALFTONE_RETURN_IF_ERROR(failure_);
  const std::string found = hash_.Hex();
  if (length_ != digest_.size_bytes() || found != digest_.sha256()) {
    const absl::Status why = MakeError(absl::StatusCode::kInvalidArgument, "DIGEST_MISMATCH",
                                       absl::StrCat("the ", length_, " bytes that came have the digest ", found,
                                                    ", not that of ", BlobName(digest_), ": the upload is discarded"),
                                       {{"blob", BlobName(digest_)}, {"found", found}});
    DiscardLocked(why);
    return why;
  }
  HALFTONE_RETURN_IF_ERROR(SyncLocked());
  if (absl::Status done = publish(fd_.get()); !done.ok()) {
    DiscardLocked(done);
    return done;
  }
  published_ = true;
  return absl::OkStatus();
}

void BlobUpload::Discard(const absl::Status& why) {
  const absl::MutexLock lock(&mutex_);
  if (!published_) DiscardLocked(why);
}

absl::StatusOr<int64_t> BlobUpload::Sync() {
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(failure_);
  if (!published_ && fd_.ok()) HALFTONE_RETURN_IF_ERROR(SyncLocked());
  return committed_;
}

absl::Status BlobUpload::SyncLocked() {
  if (fsync(fd_.get()) != 0) {  // what is on the disk is unknown now: asking again could lie
    const absl::Status why = ErrnoToStatus(errno, "cannot make an upload durable");
    DiscardLocked(why);
    return why;
  }
  committed_ = length_;
  return absl::OkStatus();
}

void BlobUpload::DiscardLocked(const absl::Status& why) {
  if (failure_.ok()) failure_ = why;
  if (fd_.ok()) unlink(part_path_.c_str());
  fd_.reset();
}

}  // namespace halftone::server
