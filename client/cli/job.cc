// SPDX-License-Identifier: Apache-2.0
#include "client/cli/job.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/progress.h"
#include "client/cli/results.h"
#include "client/status.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr absl::Duration kSecondCtrlC = absl::Seconds(2);
constexpr double kNanosInSecond = 1e9;

absl::Status Interrupted(const std::string& what) {
  return client::WithReason(absl::CancelledError(what), kReasonInterrupted);
}

// After an interruption, with a job at a server that is not ours. Only its creator may cancel it, by Ctrl-C alone.
absl::Status LeaveJob(Session& session, const std::string& name, const FollowOptions& options) {
  const std::string server = absl::StrCat(" --server ", session.address());
  const bool may_cancel = options.created_here && session.interrupts().ctrl_c_count() > 0;
  Say(absl::StrCat("\nInterrupted. The job keeps running", may_cancel ? "; Ctrl-C once more cancels it" : "",
                   ". To watch it, or to cancel it:\n  halftone jobs watch ", name, server, options.resume_flags,
                   "\n  halftone jobs cancel ", name, server));
  if (!may_cancel || !session.interrupts().WaitForCtrlC(2, kSecondCtrlC))
    return Interrupted(absl::StrCat("left ", name));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, session.ReconnectIgnoringInterrupts());
  HALFTONE_RETURN_IF_ERROR(client->CancelJob(name).status());
  return Interrupted(absl::StrCat("cancelled ", name));
}

// Writes the files of a failed job, which reproduce the failure. An error of that is only printed.
void SaveErrorFiles(Session& session, const v1::Job& job, const std::string& out) {
  for (const v1::File& file : job.error().files()) {
    if (out.empty())
      Say(absl::StrCat(job.name(), " left ", file.path(), ", which reproduces the failure: give --out DIR"));
  }
  if (job.error().files().empty() || out.empty()) return;
  v1::Job left;
  left.set_name(job.name());
  *left.mutable_result()->mutable_files() = job.error().files();
  const absl::StatusOr<std::vector<std::string>> paths = WriteFiles(session.client(), left, out, /*quiet=*/true);
  if (!paths.ok()) return Say(absl::StrCat("the files of the failure cannot be written: ", paths.status().message()));
  for (const std::string& path : *paths) Say(absl::StrCat("to reproduce it: graph_opt --reproduce ", ShellQuote(path)));
}

// OK for SUCCEEDED, else why not.
absl::Status StatusOfJob(const v1::Job& job) {
  if (job.state() == v1::JOB_STATE_SUCCEEDED) return absl::OkStatus();
  if (job.state() == v1::JOB_STATE_CANCELLED) {
    return client::WithReason(absl::CancelledError(absl::StrCat(job.name(), " was cancelled")), kReasonJobCancelled);
  }
  if (job.state() != v1::JOB_STATE_FAILED) {
    return absl::InternalError(absl::StrCat(job.name(), " is ", report::JobStateName(job.state()), ", not finished"));
  }
  absl::Status status = client::FromJobError(job.error());
  const std::string reason = client::Reason(status);
  return Annotate(std::move(status), absl::StrCat("the job failed", reason.empty() ? "" : " with ", reason));
}

}  // namespace

google::protobuf::Duration ToDuration(double seconds) {
  google::protobuf::Duration duration;
  const double whole = std::floor(seconds);
  duration.set_seconds(static_cast<int64_t>(whole));
  duration.set_nanos(static_cast<int32_t>((seconds - whole) * kNanosInSecond));
  return duration;
}

absl::StatusOr<FinishedJob> FollowJob(Session& session, const std::string& name, const FollowOptions& options) {
  FinishedJob finished;
  ProgressDisplay progress(options.quiet);
  absl::StatusOr<v1::Job> job = session.client().WatchJob(name, 0, [&](const v1::JobEvent& event) {
    if (event.event_case() == v1::JobEvent::kWarning) finished.warnings.push_back(event.warning());
    progress.Update(event);
  });
  progress.Finish();
  if (!job.ok()) {
    if (!session.interrupts().cancellation().cancelled()) return job.status();
    if (session.is_private()) return Interrupted("interrupted");
    return LeaveJob(session, name, options);
  }
  const absl::Status status = StatusOfJob(*job);
  if (!status.ok()) {
    PrintWarnings(finished.warnings);
    SaveErrorFiles(session, *job, options.out);
    if (ExitCodeFor(status) == kBug && session.is_private()) Say(session.ServerLog());
    return status;
  }
  finished.job = *std::move(job);
  return finished;
}

absl::StatusOr<FinishedJob> RunJob(Session& session, const v1::JobSpec& spec, const Blobs& blobs, bool quiet,
                                   const std::string& resume_flags, const std::string& out) {
  {
    ProgressDisplay progress(quiet);
    const absl::Status uploaded =
        session.client().Upload(blobs, [&](int64_t done, int64_t total) { progress.Update("upload", done, total); });
    progress.Finish();
    if (absl::IsCancelled(uploaded)) return Interrupted("interrupted");
    HALFTONE_RETURN_IF_ERROR(uploaded);
  }
  absl::StatusOr<v1::Job> job = session.client().CreateJob(spec, client::NewRequestId());
  if (absl::IsCancelled(job.status())) return Interrupted("interrupted");
  if (!job.ok()) return job.status();
  if (!quiet && !session.is_private()) Say(job->name());
  return FollowJob(session, job->name(),
                   {.quiet = quiet, .created_here = true, .resume_flags = resume_flags, .out = out});
}

}  // namespace halftone::cli
