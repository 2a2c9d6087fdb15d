// SPDX-License-Identifier: Apache-2.0
// JobObserver: who wants to count what happens to jobs (server/rpc makes metrics of it). Core knows no metrics library.

#ifndef HALFTONE_SERVER_CORE_OBSERVER_H_
#define HALFTONE_SERVER_CORE_OBSERVER_H_

#include <string_view>

#include "halftone/v1/jobs.pb.h"

namespace halftone::server {

// Must be thread-safe, must not block.
class JobObserver {
 public:
  virtual ~JobObserver() = default;

  virtual void OnJobFinished(std::string_view kind, v1::JobState outcome) = 0;
  virtual void OnStage(std::string_view kind, std::string_view stage, double seconds) = 0;
  // Ranges of INT8 by samples: of an earlier job, or made.
  virtual void OnRanges(bool from_cache) = 0;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_OBSERVER_H_
