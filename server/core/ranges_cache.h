// RangesCache: which stored blobs are ranges of INT8 that a later job may take in the place of a calibration.
//
//   DIR/INPUTS/KEY    one line: SHA-256 and size of the blob
//
// INPUTS is a digest of the model and the samples as the job names them, KEY is the worker's (RangesKey of
// optimizer/ranges_cache.h). A worker is under its model's control: what it says can only ever reach jobs with the same
// model and samples. An entry is a name and keeps no blob alive: it ends with its blob, or when there are newer ones
// beyond the limit.

#ifndef HALFTONE_SERVER_CORE_RANGES_CACHE_H_
#define HALFTONE_SERVER_CORE_RANGES_CACHE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "halftone/v1/jobs.pb.h"
#include "server/core/blob_store.h"

namespace halftone::server {

// Not thread-safe.
class RangesCache {
 public:
  static constexpr size_t kMostEntries = 32;  // of one model and its samples

  struct Entry {
    std::string key;
    v1::Digest digest;
  };

  // The folder is made when the first entry is. `blobs` must outlive this.
  RangesCache(std::string dir, BlobStore& blobs) : dir_(std::move(dir)), blobs_(blobs) {}

  // The entries for a job's model and samples, newest first; their blobs are there and have their digests. Others are
  // removed, with a warning where a blob or an entry is broken.
  std::vector<Entry> Find(const v1::JobSpec& spec, std::vector<std::string>& warnings);

  // INVALID_ARGUMENT: the key is not 64 hexadecimal digits, or the job has no samples for ranges.
  absl::Status Keep(const v1::JobSpec& spec, const std::string& key, const v1::Digest& digest);

 private:
  std::string FolderOf(const v1::JobSpec& spec) const;  // empty: the job has no samples for ranges

  const std::string dir_;
  BlobStore& blobs_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_RANGES_CACHE_H_
