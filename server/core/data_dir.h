// SPDX-License-Identifier: Apache-2.0
// The folder that holds everything halftoned must not lose, and the lock that keeps a second server out of it.
//
//   DIR/lock     held with flock by the running server      DIR/jobs.sqlite   jobs and events
//   DIR/blobs/   content-addressed files                    DIR/uploads/      unfinished blobs
//   DIR/work/    private folders of running jobs, emptied at start
//   DIR/ranges/  which blobs are ranges that a later job may take (ranges_cache.h), where this server shares them with no
//                other; may be removed at any time

#ifndef HALFTONE_SERVER_CORE_DATA_DIR_H_
#define HALFTONE_SERVER_CORE_DATA_DIR_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/fd.h"

namespace halftone::server {

// Owns the lock. Thread-safe (const only).
class DataDir {
 public:
  // Makes the folder when it is not there. FAILED_PRECONDITION: another server uses it.
  static absl::StatusOr<DataDir> Open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/jobs.sqlite"; }
  std::string work() const { return path_ + "/work"; }
  std::string ranges() const { return path_ + "/ranges"; }

 private:
  DataDir(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;  // absolute
  UniqueFd lock_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_DATA_DIR_H_
