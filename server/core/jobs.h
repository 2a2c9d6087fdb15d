// SPDX-License-Identifier: Apache-2.0
// Jobs: the behaviour of the job RPCs, without gRPC. Handlers translate messages and call this.

#ifndef HALFTONE_SERVER_CORE_JOBS_H_
#define HALFTONE_SERVER_CORE_JOBS_H_

#include <atomic>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "halftone/v1/model_optimizer.pb.h"
#include "server/core/blob_store.h"
#include "server/core/job_runner.h"
#include "server/core/job_store.h"
#include "server/core/observer.h"

namespace halftone::server {

// Thread-safe.
class Jobs {
 public:
  static constexpr int kDefaultPageSize = 50;
  static constexpr int kMaxPageSize = 1000;
  static constexpr size_t kMaxRequestIdBytes = 64;

  // All must outlive this object.
  Jobs(JobStore& store, BlobStore& blobs, JobRunner& runner, JobObserver& observer)
      : store_(store), blobs_(blobs), runner_(runner), observer_(observer) {}

  // Each as the comments of halftone/v1/model_optimizer.proto say, errors included.
  absl::StatusOr<v1::Job> Create(const v1::CreateJobRequest& request);
  absl::StatusOr<v1::Job> Get(const std::string& name);
  absl::StatusOr<v1::ListJobsResponse> List(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::Job> Cancel(const std::string& name);

  // Calls `send` with each event after `after_seq` until the final state's event was sent. Returns CANCELLED when
  // `send` fails or `is_cancelled`, which is asked several times a second; UNAVAILABLE at Shutdown.
  absl::Status Watch(const std::string& name, int64_t after_seq, absl::FunctionRef<bool(const v1::JobEvent&)> send,
                     absl::FunctionRef<bool()> is_cancelled);

  // From now on Create and Watch return UNAVAILABLE; watchers that wait are woken.
  void Shutdown();

 private:
  JobStore& store_;
  BlobStore& blobs_;
  JobRunner& runner_;
  JobObserver& observer_;
  std::atomic<bool> shutdown_ = false;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_JOBS_H_
