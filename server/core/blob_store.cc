// SPDX-License-Identifier: Apache-2.0
#include "server/core/blob_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/logging.h"
#include "base/status.h"
#include "server/core/blob_upload.h"
#include "server/core/errors.h"

namespace halftone::server {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;
constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kReadOnlyFile = 0400;

std::string FileName(const v1::Digest& digest) { return absl::StrCat(digest.sha256(), "-", digest.size_bytes()); }

absl::Status NotStored(const v1::Digest& digest) {
  return MakeError(absl::StatusCode::kNotFound, "BLOB_NOT_FOUND", BlobName(digest) + " is not stored",
                   {{"blob", BlobName(digest)}});
}

absl::Status Corrupt(const v1::Digest& digest) {
  return MakeError(absl::StatusCode::kDataLoss, "BLOB_CORRUPT",
                   "the stored bytes of " + BlobName(digest) + " do not have its digest any more: upload it again",
                   {{"blob", BlobName(digest)}});
}

absl::Status WrongOffset(int64_t offset, int64_t wanted) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, "WRONG_OFFSET",
      absl::StrCat("write_offset is ", offset, ", it should be ", wanted, ": ask QueryWrite where to go on"),
      {{"field", "write_offset"}, {"wanted", absl::StrCat(wanted)}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(const std::string& dir, Options options) {
  std::unique_ptr<BlobStore> store(new BlobStore(dir, options));
  for (const char* folder : {"/blobs", "/uploads", "/corrupt"}) HALFTONE_RETURN_IF_ERROR(MakeDirectories(dir + folder));
  v1::Digest empty;
  empty.set_sha256(Sha256Hex(""));
  if (!store->Contains(empty)) {
    HALFTONE_ASSIGN_OR_RETURN(BlobWriter writer, store->BeginWrite(empty, 0));
    HALFTONE_RETURN_IF_ERROR(writer.Finish());
  }
  return store;
}

bool BlobStore::Contains(const v1::Digest& digest) const {
  struct stat info;
  return lstat(PathOf(digest).c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == digest.size_bytes();
}

absl::StatusOr<BlobStore::WriteState> BlobStore::QueryWrite(const v1::Digest& digest) {
  if (Contains(digest)) return WriteState{digest.size_bytes(), /*complete=*/true};
  {
    const absl::MutexLock lock(&mutex_);
    const auto active = uploads_.find(PartPath(digest));
    if (active != uploads_.end()) return WriteState{active->second->committed_size(), /*complete=*/false};
  }
  const UniqueFd fd(open(PartPath(digest).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.ok() && errno == ENOENT) {
    // It may have become complete since the first look.
    return Contains(digest) ? WriteState{digest.size_bytes(), /*complete=*/true} : WriteState{};
  }
  struct stat info;
  if (!fd.ok() || fsync(fd.get()) != 0 || fstat(fd.get(), &info) != 0)
    return ErrnoToStatus(errno, "cannot open an upload");
  return WriteState{std::min<int64_t>(info.st_size, digest.size_bytes()), /*complete=*/false};
}

absl::StatusOr<BlobWriter> BlobStore::BeginWrite(const v1::Digest& digest, int64_t offset) {
  if (digest.size_bytes() > options_.max_blob_bytes) {
    return MakeError(
        absl::StatusCode::kResourceExhausted, "BLOB_TOO_LARGE",
        absl::StrCat("a blob of ", digest.size_bytes(), " bytes is over the limit of ", options_.max_blob_bytes),
        {{"limit", absl::StrCat(options_.max_blob_bytes)}});
  }
  if (Contains(digest)) return BlobWriter(*this, digest, nullptr, 0);
  std::shared_ptr<BlobUpload> upload;
  bool shared = false;
  {
    const absl::MutexLock lock(&mutex_);
    std::shared_ptr<BlobUpload>& slot = uploads_[PartPath(digest)];
    if (slot == nullptr) slot = std::make_shared<BlobUpload>(PartPath(digest), digest);
    upload = slot;
    shared = upload->writers++ > 0;
  }
  BlobWriter writer(*this, digest, upload, offset);  // from here on it ends the write
  HALFTONE_ASSIGN_OR_RETURN(const int64_t committed, upload->Prepare());
  if (offset != committed && !(shared && offset >= 0 && offset < committed)) {
    if (Contains(digest)) return BlobWriter(*this, digest, nullptr, 0);
    return WrongOffset(offset, committed);
  }
  return writer;
}

absl::StatusOr<BlobReader> BlobStore::OpenReader(const v1::Digest& digest, int64_t offset, int64_t limit) {
  if (limit < 0) return InvalidField("read_limit", "is negative: 0 means to the end");
  UniqueFd fd(open(PathOf(digest).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.ok() && errno == ENOENT) return NotStored(digest);
  if (!fd.ok()) return ErrnoToStatus(errno, "cannot open a blob");
  const int64_t size = digest.size_bytes();
  if (offset < 0 || offset > size) {
    return MakeError(absl::StatusCode::kOutOfRange, "READ_PAST_END",
                     absl::StrCat("read_offset is ", offset, ", the blob has ", size, " bytes"),
                     {{"field", "read_offset"}, {"size", absl::StrCat(size)}});
  }
  const int64_t end = limit == 0 ? size : offset + std::min(limit, size - offset);
  return BlobReader(*this, digest, std::move(fd), offset, end);
}

absl::StatusOr<v1::Digest> BlobStore::Import(int fd) {
  static std::atomic<uint64_t> counter = 0;
  const std::string part = absl::StrCat(dir_, "/uploads/import-", counter.fetch_add(1), ".tmp");
  const UniqueFd copy(open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kPrivateFile));
  if (!copy.ok()) return ErrnoToStatus(errno, "cannot store a file");
  const auto store = [&]() -> absl::StatusOr<v1::Digest> {
    Sha256 hash;
    int64_t size = 0;
    std::string piece(kPieceBytes, '\0');
    while (true) {
      const ssize_t got = pread(fd, piece.data(), piece.size(), size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoToStatus(errno, "cannot read a file");
      if (got == 0) break;
      const std::string_view bytes(piece.data(), static_cast<size_t>(got));
      if (size + got > options_.max_blob_bytes)
        return absl::ResourceExhaustedError("a file is over the size limit of blobs");
      HALFTONE_RETURN_IF_ERROR(WriteAt(copy.get(), size, bytes));
      hash.Update(bytes);
      size += got;
    }
    v1::Digest digest;
    digest.set_sha256(hash.Hex());
    digest.set_size_bytes(size);
    if (fsync(copy.get()) != 0) return ErrnoToStatus(errno, "cannot make a file durable");
    HALFTONE_RETURN_IF_ERROR(Publish(part, copy.get(), digest));
    return digest;
  };
  absl::StatusOr<v1::Digest> digest = store();
  if (!digest.ok()) unlink(part.c_str());
  return digest;
}

absl::Status BlobStore::Verify(const v1::Digest& digest) {
  HALFTONE_ASSIGN_OR_RETURN(BlobReader reader, OpenReader(digest, 0, 0));
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const std::optional<std::string> piece, reader.Next(kPieceBytes));
    if (!piece.has_value()) return absl::OkStatus();
  }
}

std::string BlobStore::PathOf(const v1::Digest& digest) const {
  return absl::StrCat(dir_, "/blobs/", digest.sha256().substr(0, 2), "/", FileName(digest));
}

std::string BlobStore::PartPath(const v1::Digest& digest) const {
  return absl::StrCat(dir_, "/uploads/", FileName(digest), ".part");
}

absl::Status BlobStore::Publish(const std::string& part_path, int fd, const v1::Digest& digest) {
  const std::string folder = absl::StrCat(dir_, "/blobs/", digest.sha256().substr(0, 2));
  if (access(folder.c_str(), F_OK) != 0) {
    HALFTONE_RETURN_IF_ERROR(MakeDirectories(folder));
    HALFTONE_RETURN_IF_ERROR(SyncDirectory(dir_ + "/blobs"));
  }
  if (fchmod(fd, kReadOnlyFile) != 0) return ErrnoToStatus(errno, "cannot protect a blob");
  if (rename(part_path.c_str(), PathOf(digest).c_str()) != 0) return ErrnoToStatus(errno, "cannot store a blob");
  return SyncDirectory(folder);
}

absl::Status BlobStore::SetAside(const v1::Digest& digest) {
  LogError("a stored blob is corrupt and was set aside").With("blob", BlobName(digest));
  if (rename(PathOf(digest).c_str(), absl::StrCat(dir_, "/corrupt/", FileName(digest)).c_str()) != 0 &&
      errno != ENOENT) {
    return ErrnoToStatus(errno, "cannot set a corrupt blob aside");
  }
  return absl::OkStatus();
}

void BlobStore::EndWrite(const std::shared_ptr<BlobUpload>& upload) {
  upload->Sync().status().IgnoreError();  // before it leaves the map: QueryWrite must not see less than it saw
  const absl::MutexLock lock(&mutex_);
  if (--upload->writers == 0) uploads_.erase(upload->part_path());
}

BlobWriter::BlobWriter(BlobStore& store, v1::Digest digest, std::shared_ptr<BlobUpload> upload, int64_t offset)
    : store_(&store),
      digest_(std::move(digest)),
      upload_(std::move(upload)),
      offset_(offset),
      complete_(upload_ == nullptr) {}

BlobWriter::~BlobWriter() {
  if (upload_ != nullptr) store_->EndWrite(upload_);
}

absl::Status BlobWriter::Write(int64_t offset, std::string_view data) {
  if (complete_) return absl::OkStatus();
  if (offset != offset_) return WrongOffset(offset, offset_);
  const int64_t room = digest_.size_bytes() - offset_;
  if (static_cast<int64_t>(data.size()) > room) {
    const absl::Status why =
        MakeError(absl::StatusCode::kInvalidArgument, "DATA_PAST_SIZE",
                  absl::StrCat("data of ", data.size(), " bytes at offset ", offset, " goes past the size ",
                               digest_.size_bytes(), ": the upload is discarded"),
                  {{"blob", BlobName(digest_)}});
    upload_->Discard(why);
    return why;
  }
  HALFTONE_RETURN_IF_ERROR(upload_->Write(offset, data));
  offset_ += static_cast<int64_t>(data.size());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BlobWriter::Commit() {
  if (complete_) return digest_.size_bytes();
  return upload_->Sync();
}

absl::Status BlobWriter::Finish() {
  if (complete_) return absl::OkStatus();
  if (offset_ != digest_.size_bytes()) {
    const absl::Status why = MakeError(absl::StatusCode::kInvalidArgument, "TOO_FEW_BYTES",
                                       absl::StrCat("finish_write came after ", offset_, " of ", digest_.size_bytes(),
                                                    " bytes: the upload is discarded"),
                                       {{"blob", BlobName(digest_)}});
    upload_->Discard(why);
    return why;
  }
  HALFTONE_RETURN_IF_ERROR(
      upload_->Finish([this](int fd) { return store_->Publish(upload_->part_path(), fd, digest_); }));
  complete_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> BlobReader::Next(int64_t max_bytes) {
  if (begin_ >= end_ || position_ >= end_) return std::optional<std::string>();
  HALFTONE_RETURN_IF_ERROR(SkipTo(begin_));
  HALFTONE_ASSIGN_OR_RETURN(std::string piece, ReadPiece(std::min(max_bytes, end_ - position_)));
  if (position_ < end_) return std::optional<std::string>(std::move(piece));
  HALFTONE_RETURN_IF_ERROR(SkipTo(digest_.size_bytes()));
  char beyond;
  const bool longer = pread(fd_.get(), &beyond, 1, position_) > 0;
  if (longer || hash_.Hex() != digest_.sha256()) {
    HALFTONE_RETURN_IF_ERROR(store_->SetAside(digest_));
    return Corrupt(digest_);
  }
  return std::optional<std::string>(std::move(piece));
}

absl::StatusOr<std::string> BlobReader::ReadPiece(int64_t bytes) {
  std::string piece(static_cast<size_t>(bytes), '\0');
  size_t done = 0;
  while (done < piece.size()) {
    const ssize_t got =
        pread(fd_.get(), piece.data() + done, piece.size() - done, position_ + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, "cannot read a blob");
    if (got == 0) {
      HALFTONE_RETURN_IF_ERROR(store_->SetAside(digest_));
      return Corrupt(digest_);
    }
    done += static_cast<size_t>(got);
  }
  hash_.Update(piece);
  position_ += bytes;
  return piece;
}

absl::Status BlobReader::SkipTo(int64_t position) {
  while (position_ < position) {
    HALFTONE_RETURN_IF_ERROR(ReadPiece(std::min(kPieceBytes, position - position_)).status());
  }
  return absl::OkStatus();
}

}  // namespace halftone::server
