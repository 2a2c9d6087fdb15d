// SPDX-License-Identifier: Apache-2.0
#include "server/core/job_runner.h"

#include <google/protobuf/util/time_util.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files.h"
#include "base/logging.h"
#include "base/status.h"
#include "google/rpc/code.pb.h"
#include "server/core/errors.h"
#include "server/core/event_buffer.h"
#include "server/core/job_outputs.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

constexpr absl::Duration kRetryStore = absl::Seconds(1);  // after the store failed
constexpr int kMaxStageNames = 64;                        // of one job's stage times
constexpr mode_t kPrivateFolder = 0700;

v1::JobError MakeJobError(int code, std::string reason, std::string message) {
  v1::JobError error;
  error.set_code(code);
  error.set_reason(std::move(reason));
  error.set_message(std::move(message));
  return error;
}

v1::JobError ToJobError(const absl::Status& status) {
  const absl::Status with_reason = WithReason(status);
  return MakeJobError(static_cast<int>(status.code()), ReasonOf(with_reason), std::string(status.message()));
}

absl::Duration TimeoutOf(const v1::JobSpec& spec, absl::Duration otherwise) {
  if (!spec.has_timeout()) return otherwise;
  return absl::Seconds(spec.timeout().seconds()) + absl::Nanoseconds(spec.timeout().nanos());
}

void HidePathsIn(worker::WorkerMessage& message, const PathNames& names) {
  if (message.message_case() == worker::WorkerMessage::kWarning)
    message.set_warning(HidePaths(message.warning(), names));
  if (message.message_case() == worker::WorkerMessage::kLog) message.set_log(HidePaths(message.log(), names));
}

}  // namespace

JobRunner::JobRunner(JobStore& jobs, BlobStore& blobs, JobObserver& observer, Options options)
    : jobs_(jobs), blobs_(blobs), observer_(observer), options_(std::move(options)), ranges_(options_.ranges, blobs) {}

JobRunner::~JobRunner() { Shutdown(); }

void JobRunner::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void JobRunner::Wake() {
  const absl::MutexLock lock(&mutex_);
  work_waits_ = true;
}

void JobRunner::Cancel(const std::string& job) {
  const absl::MutexLock lock(&mutex_);
  if (current_ == job && stop_ != nullptr) stop_->Stop();
}

void JobRunner::Shutdown() {
  {
    const absl::MutexLock lock(&mutex_);
    shutdown_ = true;
    if (stop_ != nullptr) stop_->Stop();
  }
  if (thread_.joinable()) thread_.join();
}

worker::Description JobRunner::Describe(absl::Duration timeout) {
  const absl::MutexLock lock(&mutex_);
  const auto known = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return described_ || shutdown_; };
  mutex_.AwaitWithTimeout(absl::Condition(&known), timeout);
  return description_;
}

void JobRunner::Loop() {
  FetchDescription();
  while (true) {
    std::optional<v1::Job> job;
    std::shared_ptr<StopSignal> stop;
    {
      const absl::MutexLock lock(&mutex_);
      const auto wanted = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return work_waits_ || shutdown_; };
      mutex_.Await(absl::Condition(&wanted));
      if (shutdown_) return;
      // Claimed and named under one lock, so that Cancel sees either a queued job or the one that runs.
      absl::StatusOr<std::optional<v1::Job>> claimed = jobs_.Claim();
      if (!claimed.ok()) {
        LogError("cannot claim a job").With("error", claimed.status().message());
        const auto ended = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return shutdown_; };
        mutex_.AwaitWithTimeout(absl::Condition(&ended), kRetryStore);
        continue;
      }
      job = *std::move(claimed);
      work_waits_ = job.has_value();
      if (!job.has_value()) continue;
      stop = std::make_shared<StopSignal>();
      current_ = job->name();
      stop_ = stop;
    }
    RunJob(*job, *stop);
    const absl::MutexLock lock(&mutex_);
    current_.clear();
    stop_ = nullptr;
  }
}

void JobRunner::FetchDescription() {
  const auto stop = std::make_shared<StopSignal>();
  {
    const absl::MutexLock lock(&mutex_);
    if (shutdown_) return;
    stop_ = stop;
  }
  worker::WorkerRequest request;
  request.set_describe(true);
  const WorkerOptions options = {
      .program = options_.worker, .timeout = options_.describe_timeout, .grace = options_.grace};
  absl::StatusOr<WorkerEnd> end =
      RunWorker(options, request, *stop, {.on_message = [](const worker::WorkerMessage&) {}});
  worker::Description description;
  if (!end.ok()) {
    LogError("the worker cannot be started").With("error", end.status().message());
  } else if (end->kind == WorkerEnd::Kind::kResponded && end->response.has_description()) {
    description = end->response.description();
  } else if (!stop->stopped()) {
    LogError("the worker does not describe itself").With("exit", end->exit.ToString()).With("stderr", end->stderr_tail);
  }
  const absl::MutexLock lock(&mutex_);
  description_ = std::move(description);
  described_ = true;
  stop_ = nullptr;
}

void JobRunner::RunJob(const v1::Job& job, const StopSignal& stop) {
  LogInfo("job started").With("job", job.name()).With("kind", KindOf(job.spec())).With("attempt", job.attempt());
  const std::string id = job.name().substr(job.name().rfind('/') + 1);
  const std::string work_dir = absl::StrCat(options_.work_dir, "/", id, "-", job.attempt());
  PathNames names;
  std::optional<JobOutcome> outcome = JobOutcome();
  if (absl::StatusOr<worker::WorkerRequest> request = Prepare(job, work_dir, names); request.ok()) {
    outcome = RunChild(job, *request, stop, names);
  } else {
    outcome->error = ToJobError(request.status());
  }
  RemoveAll(work_dir).IgnoreError();  // all of them are removed at the next start
  if (outcome.has_value()) return Finish(job, *outcome);
  // Stopped. When the job was cancelled this changes nothing; else the server shuts down, and the job runs again later.
  const absl::StatusOr<bool> requeued = jobs_.Requeue(job.name(), job.attempt());
  if (!requeued.ok())
    LogError("cannot put a job back").With("job", job.name()).With("error", requeued.status().message());
  LogInfo("job stopped").With("job", job.name()).With("attempt", job.attempt());
}

std::optional<JobOutcome> JobRunner::RunChild(const v1::Job& job, const worker::WorkerRequest& request,
                                              const StopSignal& stop, const PathNames& names) {
  EventBuffer buffer;
  const auto write = [&](bool flush) {
    std::vector<v1::JobEvent> events = buffer.Take(absl::Now(), flush);
    if (events.empty()) return;
    const absl::StatusOr<bool> written = jobs_.Append(job.name(), job.attempt(), std::move(events));
    if (!written.ok())
      LogError("cannot store events").With("job", job.name()).With("error", written.status().message());
  };
  WorkerCallbacks callbacks;
  callbacks.on_message = [&](worker::WorkerMessage message) {
    HidePathsIn(message, names);
    buffer.Add(message, absl::Now());
  };
  callbacks.on_tick = [&] {
    write(/*flush=*/false);
    return buffer.UntilDue(absl::Now());
  };
  const WorkerOptions options = {.program = options_.worker,
                                 .working_dir = request.work_dir(),
                                 .timeout = TimeoutOf(job.spec(), options_.default_timeout),
                                 .grace = options_.grace};
  absl::StatusOr<WorkerEnd> end = RunWorker(options, request, stop, callbacks);
  write(/*flush=*/true);
  if (!end.ok()) {
    LogError("the worker cannot be started").With("job", job.name()).With("error", end.status().message());
    JobOutcome outcome;
    outcome.error = MakeJobError(google::rpc::INTERNAL, "WORKER_MISSING", "the server cannot start its worker program");
    return outcome;
  }
  if (end->kind == WorkerEnd::Kind::kStopped) return std::nullopt;
  return ToOutcome(job, request.work_dir(), *std::move(end), names);
}

absl::StatusOr<worker::WorkerRequest> JobRunner::Prepare(const v1::Job& job, const std::string& work_dir,
                                                         PathNames& names) {
  if (mkdir(work_dir.c_str(), kPrivateFolder) != 0) return ErrnoToStatus(errno, "cannot make a work folder");
  names[work_dir] = "work";
  worker::WorkerRequest request;
  *request.mutable_spec() = job.spec();
  request.set_work_dir(work_dir);
  request.set_job_name(job.name());
  std::set<std::pair<std::string, std::string>> seen;
  for (const v1::File& file : FilesOf(job.spec())) {
    if (!seen.emplace(file.path(), file.digest().sha256()).second) continue;
    const std::string path = blobs_.PathOf(file.digest());
    if (!names.contains(path)) {
      absl::Status verified = blobs_.Verify(file.digest());
      if (absl::IsNotFound(verified)) verified = BlobsMissing({file.digest()});
      HALFTONE_RETURN_IF_ERROR(verified);
    }
    names[path] = file.path();
    worker::InputFile& input = *request.add_inputs();
    input.set_path(file.path());
    input.set_sha256(file.digest().sha256());
    input.set_local_path(path);
  }
  if (!job.spec().no_ranges_cache()) OfferRanges(job, request, names);
  return request;
}

void JobRunner::OfferRanges(const v1::Job& job, worker::WorkerRequest& request, PathNames& names) {
  std::vector<std::string> warnings;
  for (const RangesCache::Entry& entry : ranges_.Find(job.spec(), warnings)) {
    worker::KnownRanges& known = *request.add_known_ranges();
    known.set_key(entry.key);
    known.set_local_path(blobs_.PathOf(entry.digest));
    names.try_emplace(known.local_path(), "ranges of an earlier job");
  }
  std::vector<v1::JobEvent> events;
  for (const std::string& warning : warnings) events.emplace_back().set_warning(warning);
  if (events.empty()) return;
  const absl::StatusOr<bool> written = jobs_.Append(job.name(), job.attempt(), std::move(events));
  if (!written.ok()) LogError("cannot store events").With("job", job.name()).With("error", written.status().message());
}

// Ranges that cannot be kept are made again another time.
void JobRunner::KeepRanges(const v1::Job& job, const std::string& work_dir, const worker::RangesUse& use) {
  if (use.key().empty() || job.spec().no_ranges_cache()) return;
  observer_.OnRanges(use.from_cache());
  if (use.from_cache()) {
    LogInfo("ranges from the cache").With("job", job.name()).With("key", use.key());
    return;
  }
  worker::WorkerResult made;
  made.add_files()->set_path("ranges.json");
  made.mutable_files(0)->set_local_path(use.local_path());
  const absl::StatusOr<v1::JobResult> stored = StoreOutputs(blobs_, work_dir, std::move(made));
  const absl::Status kept =
      stored.ok() ? ranges_.Keep(job.spec(), use.key(), stored->files(0).digest()) : stored.status();
  if (!kept.ok()) LogError("cannot keep ranges").With("job", job.name()).With("error", kept.message());
}

// They are a help: without them the job has failed all the same.
void JobRunner::StoreErrorFiles(const std::string& work_dir, const worker::WorkerMessage& response,
                                v1::JobError& error) {
  error.clear_files();
  worker::WorkerResult files;
  *files.mutable_files() = response.error_files();
  absl::StatusOr<v1::JobResult> stored = StoreOutputs(blobs_, work_dir, std::move(files));
  if (stored.ok()) {
    *error.mutable_files() = std::move(*stored->mutable_files());
  } else {
    LogError("cannot store the files of a failed job").With("error", stored.status().message());
  }
}

JobOutcome JobRunner::ToOutcome(const v1::Job& job, const std::string& work_dir, WorkerEnd end,
                                const PathNames& names) {
  JobOutcome outcome;
  const std::string said = LastLines(end.stderr_tail, names);
  const std::string tail = said.empty() ? std::string() : absl::StrCat("; its last words:\n", said);
  switch (end.kind) {
    case WorkerEnd::Kind::kResponded:
      break;
    case WorkerEnd::Kind::kTimeout:
      outcome.error = MakeJobError(google::rpc::DEADLINE_EXCEEDED, "TIMEOUT",
                                   absl::StrCat("the job ran longer than its timeout of ",
                                                absl::FormatDuration(TimeoutOf(job.spec(), options_.default_timeout))));
      return outcome;
    case WorkerEnd::Kind::kGarbage:
      outcome.error = MakeJobError(google::rpc::INTERNAL, "WORKER_PROTOCOL",
                                   absl::StrCat("the worker broke the protocol: ", end.detail, tail));
      return outcome;
    case WorkerEnd::Kind::kCrashed:
    case WorkerEnd::Kind::kStopped:  // the caller has dealt with it
      outcome.error =
          MakeJobError(google::rpc::INTERNAL, "CHILD_CRASHED",
                       absl::StrCat("the worker ended with ", end.exit.ToString(), " before it sent a result", tail));
      return outcome;
  }
  if (end.response.has_error()) {
    outcome.error = end.response.error();
    StoreErrorFiles(work_dir, end.response, outcome.error);
    if (outcome.error.code() == google::rpc::OK) outcome.error.set_code(google::rpc::INTERNAL);
    if (outcome.error.reason().empty()) outcome.error.set_reason("INTERNAL");
    outcome.error.set_message(HidePaths(outcome.error.message(), names));
    return outcome;
  }
  int stages = 0;
  for (const auto& [stage, seconds] : end.response.stage_seconds()) {
    if (++stages <= kMaxStageNames) observer_.OnStage(KindOf(job.spec()), stage, seconds);
  }
  const worker::RangesUse ranges = end.response.result().ranges();
  absl::StatusOr<v1::JobResult> result = StoreOutputs(blobs_, work_dir, std::move(*end.response.mutable_result()));
  if (result.ok()) {
    KeepRanges(job, work_dir, ranges);
    outcome.result = *std::move(result);
  } else if (absl::IsResourceExhausted(result.status())) {
    outcome.error = ToJobError(result.status());
  } else {
    outcome.error = MakeJobError(google::rpc::INTERNAL, "WORKER_PROTOCOL", std::string(result.status().message()));
  }
  return outcome;
}

void JobRunner::Finish(const v1::Job& job, const JobOutcome& outcome) {
  const v1::JobState state = outcome.result.has_value() ? v1::JOB_STATE_SUCCEEDED : v1::JOB_STATE_FAILED;
  while (true) {
    const absl::StatusOr<bool> finished = jobs_.Finish(job.name(), job.attempt(), outcome);
    if (finished.ok()) {
      if (*finished) observer_.OnJobFinished(KindOf(job.spec()), state);
      LogInfo("job ended")
          .With("job", job.name())
          .With("state", StateName(*finished ? state : v1::JOB_STATE_CANCELLED))
          .With("reason", outcome.error.reason())
          .With("error", outcome.error.message());
      return;
    }
    LogError("cannot store how a job ended").With("job", job.name()).With("error", finished.status().message());
    const absl::MutexLock lock(&mutex_);
    const auto ended = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return shutdown_; };
    if (mutex_.AwaitWithTimeout(absl::Condition(&ended), kRetryStore)) return;  // it runs again at the next start
  }
}

}  // namespace halftone::server
