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

constexpr absl::Duration kSecondThoughts = absl::Seconds(2);  // for a second Ctrl-C
constexpr double kNanosInSecond = 1e9;

absl::Status Interrupted(const std::string& what) {
  return client::WithReason(absl::CancelledError(what), kReasonInterrupted);
}

// After the first Ctrl-C, with a job at somebody's server.
absl::Status LeaveJob(Session& session, const std::string& name, const std::string& resume_flags) {
  Say(
      absl::StrCat("\nInterrupted. The job keeps running; Ctrl-C once more cancels it. To go on watching it:\n  "
                   "halftone jobs watch ",
                   name, " --server ", session.address(), resume_flags));
  if (!session.interrupts().WaitForCount(2, kSecondThoughts)) return Interrupted(absl::StrCat("left ", name));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, session.ReconnectIgnoringInterrupts());
  HALFTONE_RETURN_IF_ERROR(client->CancelJob(name).status());
  return Interrupted(absl::StrCat("cancelled ", name));
}

// What a failed job left. That it cannot be written is said, and changes nothing about the failure.
void SaveErrorFiles(Session& session, const v1::Job& job, const std::string& out) {
  for (const v1::File& file : job.error().files()) {
    if (out.empty()) Say(absl::StrCat(job.name(), " left ", file.path(), " to see the failure again: give --out DIR"));
  }
  if (job.error().files().empty() || out.empty()) return;
  v1::Job left;
  left.set_name(job.name());
  *left.mutable_result()->mutable_files() = job.error().files();
  const absl::StatusOr<std::vector<std::string>> paths = WriteFiles(session.client(), left, out, /*quiet=*/true);
  if (!paths.ok()) return Say(absl::StrCat("what the failure left cannot be written: ", paths.status().message()));
  for (const std::string& path : *paths) Say(absl::StrCat("to see it again: graph_opt --reproduce ", ShellQuote(path)));
}

}  // namespace

google::protobuf::Duration ToDuration(double seconds) {
  google::protobuf::Duration duration;
  const double whole = std::floor(seconds);
  duration.set_seconds(static_cast<int64_t>(whole));
  duration.set_nanos(static_cast<int32_t>((seconds - whole) * kNanosInSecond));
  return duration;
}

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

absl::StatusOr<FinishedJob> FollowJob(Session& session, const std::string& name, bool quiet,
                                      const std::string& resume_flags, const std::string& out) {
  FinishedJob finished;
  ProgressDisplay progress(quiet);
  absl::StatusOr<v1::Job> job = session.client().WatchJob(name, 0, [&](const v1::JobEvent& event) {
    if (event.event_case() == v1::JobEvent::kWarning) finished.warnings.push_back(event.warning());
    progress.Update(event);
  });
  progress.Finish();
  if (!job.ok()) {
    if (!session.interrupts().cancellation().cancelled()) return job.status();
    if (session.is_private()) return Interrupted("interrupted");
    return LeaveJob(session, name, resume_flags);
  }
  const absl::Status status = StatusOfJob(*job);
  if (!status.ok()) {
    PrintWarnings(finished.warnings);
    SaveErrorFiles(session, *job, out);
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
  return FollowJob(session, job->name(), quiet, resume_flags, out);
}

}  // namespace halftone::cli
