// SPDX-License-Identifier: Apache-2.0
// BlobStore: blobs by SHA-256 and size in a local folder.
//
//   DIR/blobs/ab/abcd..-SIZE        stored: complete, durable, digest checked, never written again
//   DIR/uploads/abcd..-SIZE.part    being uploaded; what is durable of it survives a restart
//   DIR/corrupt/abcd..-SIZE         bytes that lost their digest: set aside, so that the blob can be uploaded again
//
// A write becomes visible by one rename after the digest was checked and the file was synced. Thread-safe.

#ifndef HALFTONE_SERVER_CORE_BLOB_STORE_H_
#define HALFTONE_SERVER_CORE_BLOB_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "halftone/v1/blobs.pb.h"

namespace halftone::server {

class BlobReader;
class BlobUpload;
class BlobWriter;

class BlobStore {
 public:
  struct Options {
    int64_t max_blob_bytes = int64_t{16} << 30;
  };

  struct WriteState {
    int64_t committed_size = 0;  // bytes that are durable
    bool complete = false;
  };

  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const std::string& dir, Options options);

  int64_t max_blob_bytes() const { return options_.max_blob_bytes; }

  // Digests that are passed to these must be well-formed (DigestProblem in spec.h).
  bool Contains(const v1::Digest& digest) const;
  absl::StatusOr<WriteState> QueryWrite(const v1::Digest& digest);

  // Begins to write at `offset`: the committed size, or less while another client writes the same blob.
  // INVALID_ARGUMENT: another offset. RESOURCE_EXHAUSTED: over the size limit. The writer must not outlive the store.
  absl::StatusOr<BlobWriter> BeginWrite(const v1::Digest& digest, int64_t offset);

  // Reads from `offset`, at most `limit` bytes (0: all). NOT_FOUND, OUT_OF_RANGE, INVALID_ARGUMENT (negative limit).
  absl::StatusOr<BlobReader> OpenReader(const v1::Digest& digest, int64_t offset, int64_t limit);

  // Stores what an open file holds and returns its digest.
  absl::StatusOr<v1::Digest> Import(int fd);

  // Reads the whole blob. NOT_FOUND, or DATA_LOSS when the bytes do not have the digest any more.
  absl::Status Verify(const v1::Digest& digest);

  // Where the stored blob lies.
  std::string PathOf(const v1::Digest& digest) const;

 private:
  friend class BlobReader;
  friend class BlobWriter;

  BlobStore(std::string dir, Options options) : dir_(std::move(dir)), options_(options) {}

  std::string PartPath(const v1::Digest& digest) const;
  absl::Status Publish(const std::string& part_path, int fd, const v1::Digest& digest);
  absl::Status SetAside(const v1::Digest& digest);
  void EndWrite(const std::shared_ptr<BlobUpload>& upload);

  const std::string dir_;
  const Options options_;

  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<BlobUpload>> uploads_ ABSL_GUARDED_BY(mutex_);  // by part path, with writers
};

// One client's way of writing one blob. Bytes that another client has already written are skipped. Not thread-safe.
class BlobWriter {
 public:
  BlobWriter(BlobWriter&& other) noexcept = default;
  BlobWriter& operator=(BlobWriter&&) = delete;
  ~BlobWriter();  // what was written stays, durable, and can be resumed

  // Whether the blob is stored already, so that nothing need be sent.
  bool complete() const { return complete_; }

  // INVALID_ARGUMENT: not the offset where this writer is, or data past the size (the upload is then discarded).
  absl::Status Write(int64_t offset, std::string_view data);

  // Makes what came so far durable and returns how much of the blob that is.
  absl::StatusOr<int64_t> Commit();

  // Checks the digest and stores the blob. INVALID_ARGUMENT: bytes are missing or are not those of the digest; the
  // upload is then discarded.
  absl::Status Finish();

 private:
  friend class BlobStore;

  BlobWriter(BlobStore& store, v1::Digest digest, std::shared_ptr<BlobUpload> upload, int64_t offset);

  BlobStore* store_;
  v1::Digest digest_;
  std::shared_ptr<BlobUpload> upload_;  // null when complete
  int64_t offset_;
  bool complete_;
};

// Reads a stored blob in pieces. All bytes pass through the hash, those outside the wanted range too, and the last
// piece is given out only after the digest was checked. Not thread-safe.
class BlobReader {
 public:
  // At most `max_bytes` more bytes, nullopt at the end. DATA_LOSS: the bytes do not have the digest.
  absl::StatusOr<std::optional<std::string>> Next(int64_t max_bytes);

 private:
  friend class BlobStore;

  BlobReader(BlobStore& store, v1::Digest digest, UniqueFd fd, int64_t begin, int64_t end)
      : store_(&store), digest_(std::move(digest)), fd_(std::move(fd)), begin_(begin), end_(end) {}

  absl::StatusOr<std::string> ReadPiece(int64_t bytes);
  absl::Status SkipTo(int64_t position);

  BlobStore* store_;
  v1::Digest digest_;
  UniqueFd fd_;
  Sha256 hash_;
  int64_t position_ = 0;
  int64_t begin_;
  int64_t end_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_BLOB_STORE_H_
