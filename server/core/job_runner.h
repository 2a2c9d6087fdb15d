// SPDX-License-Identifier: Apache-2.0
// JobRunner: runs queued jobs one after the other, each in a halftone-worker of its own. One slot, because two jobs
// would disturb each other's measurements.

#ifndef HALFTONE_SERVER_CORE_JOB_RUNNER_H_
#define HALFTONE_SERVER_CORE_JOB_RUNNER_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/core/blob_store.h"
#include "server/core/job_store.h"
#include "server/core/observer.h"
#include "server/core/ranges_cache.h"
#include "server/core/sanitize.h"
#include "server/core/worker_process.h"
#include "server/worker/worker.pb.h"

namespace halftone::server {

// Thread-safe.
class JobRunner {
 public:
  struct Options {
    std::string worker;    // path of the program
    std::string work_dir;  // folders of running jobs are made here
    RangesCache::Options ranges;
    absl::Duration default_timeout = absl::Hours(1);
    absl::Duration grace = absl::Seconds(5);  // between SIGTERM and SIGKILL
    absl::Duration describe_timeout = absl::Seconds(30);
  };

  // The stores and the observer must outlive the runner.
  JobRunner(JobStore& jobs, BlobStore& blobs, JobObserver& observer, Options options);
  ~JobRunner();  // as Shutdown

  // Asks the worker for its description, then runs jobs until Shutdown.
  void Start();

  // A job may be waiting.
  void Wake();

  // Kills the child of this job when it is running. To be called after the store cancelled it; does not wait.
  void Cancel(const std::string& job);

  // Kills the running child, puts its job back into the queue and waits until both are done.
  void Shutdown();

  // What the worker said about itself; empty when it has not within `timeout`, or could not.
  worker::Description Describe(absl::Duration timeout);

 private:
  void Loop();
  void FetchDescription();
  void RunJob(const v1::Job& job, const StopSignal& stop);
  // nullopt: it was stopped.
  std::optional<JobOutcome> RunChild(const v1::Job& job, const worker::WorkerRequest& request, const StopSignal& stop,
                                     const PathNames& names);
  absl::StatusOr<worker::WorkerRequest> Prepare(const v1::Job& job, const std::string& work_dir, PathNames& names);
  void OfferRanges(const v1::Job& job, worker::WorkerRequest& request, PathNames& names);
  void KeepRanges(const v1::Job& job, const std::string& work_dir, const worker::RangesUse& use);
  void StoreErrorFiles(const std::string& work_dir, const worker::WorkerMessage& response, v1::JobError& error);
  JobOutcome ToOutcome(const v1::Job& job, const std::string& work_dir, WorkerEnd end, const PathNames& names);
  void Finish(const v1::Job& job, const JobOutcome& outcome);

  JobStore& jobs_;
  BlobStore& blobs_;
  JobObserver& observer_;
  const Options options_;
  RangesCache ranges_;  // of thread_
  std::thread thread_;

  absl::Mutex mutex_;
  bool shutdown_ ABSL_GUARDED_BY(mutex_) = false;
  bool work_waits_ ABSL_GUARDED_BY(mutex_) = true;
  bool described_ ABSL_GUARDED_BY(mutex_) = false;
  worker::Description description_ ABSL_GUARDED_BY(mutex_);
  std::string current_ ABSL_GUARDED_BY(mutex_);               // the job that runs; empty: none
  std::shared_ptr<StopSignal> stop_ ABSL_GUARDED_BY(mutex_);  // of the child that runs
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_JOB_RUNNER_H_
