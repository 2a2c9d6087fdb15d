// SPDX-License-Identifier: Apache-2.0
// JobStore: jobs and their events in SQLite. What a method says it did is durable when it returns.
//
//   Create   -> QUEUED                Claim     QUEUED -> RUNNING (attempt + 1)
//   Finish   RUNNING -> SUCCEEDED | FAILED      Cancel    QUEUED | RUNNING -> CANCELLED
//   Requeue  RUNNING -> QUEUED                  Recover   RUNNING -> QUEUED, or FAILED after three deaths of the server
//
// Every arrow and its event are one transaction. Append and Finish name the attempt they belong to: when the job has
// moved on they change nothing, so nothing of a cancelled job becomes visible.

#ifndef HALFTONE_SERVER_CORE_JOB_STORE_H_
#define HALFTONE_SERVER_CORE_JOB_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "halftone/v1/jobs.pb.h"
#include "server/core/job_signals.h"
#include "server/core/sqlite.h"

namespace halftone::server {

// How an attempt ended: a result, or else an error.
struct JobOutcome {
  std::optional<v1::JobResult> result;
  v1::JobError error;
};

// Thread-safe.
class JobStore {
 public:
  struct Page {
    std::vector<v1::Job> jobs;  // newest first, without spec and result
    std::string next_token;     // empty: no more
  };

  struct Events {
    std::vector<v1::JobEvent> events;
    bool complete = false;  // the job is in a final state and these are its last events
  };

  // Opens or makes the database and takes back jobs that ran when the last server died.
  static absl::StatusOr<std::unique_ptr<JobStore>> Open(const std::string& path);

  // The job of this request_id when there is one with the same spec (ALREADY_EXISTS: with another spec), else a new
  // job. An empty request_id always makes a new one. `created`, unless null, tells which.
  absl::StatusOr<v1::Job> Create(const v1::JobSpec& spec, const std::string& request_id, bool* created = nullptr);

  // The job of a request_id, if any; ALREADY_EXISTS as Create.
  absl::StatusOr<std::optional<v1::Job>> FindRequest(const v1::JobSpec& spec, const std::string& request_id);

  // NOT_FOUND: no such job.
  absl::StatusOr<v1::Job> Get(const std::string& name);

  // INVALID_ARGUMENT: the token was not made by this method for this `state`.
  absl::StatusOr<Page> List(int page_size, const std::string& token, v1::JobState state);

  // At most `limit` events with seq > after_seq. NOT_FOUND: no such job.
  absl::StatusOr<Events> ReadEvents(const std::string& name, int64_t after_seq, int limit);

  // The oldest queued job, now RUNNING; nullopt: none.
  absl::StatusOr<std::optional<v1::Job>> Claim();

  // Adds events (their seq is set here). False: the attempt does not run any more; nothing was added.
  absl::StatusOr<bool> Append(const std::string& name, int attempt, std::vector<v1::JobEvent> events);

  // False: the attempt does not run any more; nothing was changed.
  absl::StatusOr<bool> Finish(const std::string& name, int attempt, const JobOutcome& outcome);

  // False: the attempt does not run any more; nothing was changed.
  absl::StatusOr<bool> Requeue(const std::string& name, int attempt);

  // The job after it; a finished job stays as it is. `cancelled`, unless null, tells whether this call ended it.
  absl::StatusOr<v1::Job> Cancel(const std::string& name, bool* cancelled = nullptr);

  absl::StatusOr<std::map<v1::JobState, int64_t>> CountByState();

  // Raised after every change of a job.
  JobSignals& signals() { return signals_; }

 private:
  explicit JobStore(Database database) : database_(std::move(database)) {}

  absl::Status Migrate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Recover() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A job's row by a condition on it. Null: no row.
  absl::StatusOr<std::optional<v1::Job>> Find(const std::string& column, const std::string& value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::optional<v1::Job>> FindRequestLocked(const v1::JobSpec& spec, const std::string& request_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddEvent(const std::string& name, v1::JobEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddStateEvent(const std::string& name, v1::JobState state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // RUNNING -> `to`, when `attempt` still runs; with the event. False: it does not.
  absl::StatusOr<bool> Leave(const std::string& name, int attempt, v1::JobState to, const JobOutcome* outcome);

  absl::Mutex mutex_;
  Database database_ ABSL_GUARDED_BY(mutex_);
  JobSignals signals_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_JOB_STORE_H_
