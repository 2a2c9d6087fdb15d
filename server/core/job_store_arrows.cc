// SPDX-License-Identifier: Apache-2.0
// The part of JobStore that moves jobs from state to state.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "server/core/errors.h"
#include "server/core/job_store.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

int64_t NowMicros() { return absl::ToUnixMicros(absl::Now()); }

}  // namespace

absl::StatusOr<std::optional<v1::Job>> JobStore::Claim() {
  std::optional<v1::Job> claimed;
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(database_.Transaction([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    std::string name;
    {
      HALFTONE_ASSIGN_OR_RETURN(Statement next,
                                database_.Prepare("SELECT name FROM job WHERE state = ? ORDER BY id LIMIT 1"));
      HALFTONE_ASSIGN_OR_RETURN(const bool found, next.Bind(1, v1::JOB_STATE_QUEUED).Step());
      if (!found) return absl::OkStatus();
      name = next.Bytes(0);
    }
    HALFTONE_ASSIGN_OR_RETURN(
        Statement update,
        database_.Prepare("UPDATE job SET state = ?, attempt = attempt + 1, start_us = ? WHERE name = ?"));
    HALFTONE_RETURN_IF_ERROR(update.Bind(1, v1::JOB_STATE_RUNNING).Bind(2, NowMicros()).BindText(3, name).Run());
    HALFTONE_RETURN_IF_ERROR(AddStateEvent(name, v1::JOB_STATE_RUNNING));
    HALFTONE_ASSIGN_OR_RETURN(claimed, Find("name", name));
    return absl::OkStatus();
  }));
  if (claimed.has_value()) signals_.Notify(claimed->name());
  return claimed;
}

absl::StatusOr<bool> JobStore::Append(const std::string& name, int attempt, std::vector<v1::JobEvent> events) {
  bool runs = false;
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(database_.Transaction([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    HALFTONE_ASSIGN_OR_RETURN(Statement row,
                              database_.Prepare("SELECT 1 FROM job WHERE name = ? AND attempt = ? AND state = ?"));
    HALFTONE_ASSIGN_OR_RETURN(runs, row.BindText(1, name).Bind(2, attempt).Bind(3, v1::JOB_STATE_RUNNING).Step());
    if (!runs) return absl::OkStatus();
    for (v1::JobEvent& event : events) HALFTONE_RETURN_IF_ERROR(AddEvent(name, std::move(event)));
    return absl::OkStatus();
  }));
  if (runs) signals_.Notify(name);
  return runs;
}

absl::StatusOr<bool> JobStore::Finish(const std::string& name, int attempt, const JobOutcome& outcome) {
  return Leave(name, attempt, outcome.result.has_value() ? v1::JOB_STATE_SUCCEEDED : v1::JOB_STATE_FAILED, &outcome);
}

absl::StatusOr<bool> JobStore::Requeue(const std::string& name, int attempt) {
  return Leave(name, attempt, v1::JOB_STATE_QUEUED, /*outcome=*/nullptr);
}

absl::StatusOr<bool> JobStore::Leave(const std::string& name, int attempt, v1::JobState to, const JobOutcome* outcome) {
  bool changed = false;
  const absl::MutexLock lock(&mutex_);
  HALFTONE_RETURN_IF_ERROR(database_.Transaction([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    HALFTONE_ASSIGN_OR_RETURN(Statement update,
                              database_.Prepare("UPDATE job SET state = ?, end_us = ?, error = ?, result = ? "
                                                "WHERE name = ? AND attempt = ? AND state = ?"));
    update.Bind(1, to).BindText(5, name).Bind(6, attempt).Bind(7, v1::JOB_STATE_RUNNING);
    if (outcome != nullptr) {
      update.Bind(2, NowMicros());
      if (outcome->result.has_value()) {
        update.BindBlob(4, outcome->result->SerializeAsString());
      } else {
        update.BindBlob(3, outcome->error.SerializeAsString());
      }
    }
    HALFTONE_RETURN_IF_ERROR(update.Run());
    changed = database_.changes() > 0;
    return changed ? AddStateEvent(name, to) : absl::OkStatus();
  }));
  if (changed) signals_.Notify(name);
  return changed;
}

absl::StatusOr<v1::Job> JobStore::Cancel(const std::string& name, bool* cancelled) {
  std::optional<v1::Job> job;
  bool changed = false;
  {
    const absl::MutexLock lock(&mutex_);
    HALFTONE_RETURN_IF_ERROR(database_.Transaction([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
      HALFTONE_ASSIGN_OR_RETURN(
          Statement update,
          database_.Prepare("UPDATE job SET state = ?, end_us = ? WHERE name = ? AND state IN (?, ?)"));
      update.Bind(1, v1::JOB_STATE_CANCELLED)
          .Bind(2, NowMicros())
          .BindText(3, name)
          .Bind(4, v1::JOB_STATE_QUEUED)
          .Bind(5, v1::JOB_STATE_RUNNING);
      HALFTONE_RETURN_IF_ERROR(update.Run());
      changed = database_.changes() > 0;
      if (changed) HALFTONE_RETURN_IF_ERROR(AddStateEvent(name, v1::JOB_STATE_CANCELLED));
      HALFTONE_ASSIGN_OR_RETURN(job, Find("name", name));
      return absl::OkStatus();
    }));
  }
  if (!job.has_value()) {
    return MakeError(absl::StatusCode::kNotFound, "JOB_NOT_FOUND", absl::StrCat("there is no job '", name, "'"),
                     {{"job", name}});
  }
  if (changed) signals_.Notify(name);
  if (cancelled != nullptr) *cancelled = changed;
  return *std::move(job);
}

}  // namespace halftone::server
