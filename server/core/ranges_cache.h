// SPDX-License-Identifier: Apache-2.0
// RangesCache: which stored blobs are ranges of INT8 that a later job may take in the place of a calibration.
//
//   DIR/INPUTS/KEY    one line: SHA-256 and size of the blob; in a shared folder, then the bytes of the blob
//
// INPUTS is a digest of the model and the samples as the job names them, KEY is the worker's (RangesKey of
// optimizer/ranges_cache.h). A worker is under its model's control: what it says can only ever reach jobs with the same
// model and samples. An entry is a name and keeps no blob alive: it ends with its blob, or when there are newer ones
// beyond the limit. In a shared folder it has the blob's bytes, for servers whose stores do not know it, and ends when
// newer ones take all the room.

#ifndef HALFTONE_SERVER_CORE_RANGES_CACHE_H_
#define HALFTONE_SERVER_CORE_RANGES_CACHE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "halftone/v1/jobs.pb.h"
#include "server/core/blob_store.h"

namespace halftone::server {

// Not thread-safe. Any number of processes may use a shared folder at once: files appear whole, by a rename, and may be
// removed at any time.
class RangesCache {
 public:
  static constexpr size_t kMostEntries = 32;                 // of one model and its samples
  static constexpr int64_t kMostBytes = int64_t{256} << 20;  // of a shared folder

  struct Options {
    std::string dir;      // made when the first entry is
    bool shared = false;  // with other servers, and outlives this one's store
    int64_t most_bytes = kMostBytes;
  };

  struct Entry {
    std::string key;
    v1::Digest digest;
  };

  // `blobs` must outlive this.
  RangesCache(Options options, BlobStore& blobs) : options_(std::move(options)), blobs_(blobs) {}

  // The entries for a job's model and samples, newest first; their blobs are there (by now) and have their digests.
  // Others are removed, with a warning where a blob or an entry is broken.
  std::vector<Entry> Find(const v1::JobSpec& spec, std::vector<std::string>& warnings);

  // INVALID_ARGUMENT: the key is not 64 hexadecimal digits, or the job has no samples for ranges. RESOURCE_EXHAUSTED:
  // the blob alone is larger than a shared folder may be.
  absl::Status Keep(const v1::JobSpec& spec, const std::string& key, const v1::Digest& digest);

 private:
  std::string FolderOf(const v1::JobSpec& spec) const;  // empty: the job has no samples for ranges

  // The blob of an entry with this text is in the store.
  absl::Status Restore(std::string_view text, const v1::Digest& digest);
  void RemoveOldest() const;  // until what is left fits

  const Options options_;
  BlobStore& blobs_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_RANGES_CACHE_H_
