// SPDX-License-Identifier: Apache-2.0
#include "server/core/jobs.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status.h"
#include "server/core/errors.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

constexpr int kEventsAtOnce = 256;
constexpr absl::Duration kCancelPoll = absl::Milliseconds(200);

absl::Status CheckJobName(const std::string& name) {
  if (IsJobName(name)) return absl::OkStatus();
  return InvalidField("name", "should be jobs/ and 32 lower-case hexadecimal digits");
}

absl::Status CheckRequest(const v1::CreateJobRequest& request) {
  std::vector<FieldViolation> violations = CheckSpec(request.spec());
  const std::string& id = request.request_id();
  if (id.size() > Jobs::kMaxRequestIdBytes) {
    violations.push_back({"request_id", absl::StrCat("is over ", Jobs::kMaxRequestIdBytes, " bytes")});
  } else if (!std::all_of(id.begin(), id.end(),
                          [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); })) {
    violations.push_back({"request_id", "may hold only printable ASCII characters without spaces"});
  }
  return violations.empty() ? absl::OkStatus() : InvalidFields(violations);
}

absl::Status CheckBlobs(const BlobStore& blobs, const v1::JobSpec& spec) {
  std::vector<v1::Digest> missing;
  std::set<std::string> seen;
  for (const v1::File& file : FilesOf(spec)) {
    if (seen.insert(BlobName(file.digest())).second && !blobs.Contains(file.digest())) missing.push_back(file.digest());
  }
  return missing.empty() ? absl::OkStatus() : BlobsMissing(missing);
}

}  // namespace

absl::StatusOr<v1::Job> Jobs::Create(const v1::CreateJobRequest& request) {
  if (shutdown_) return ShuttingDown();
  HALFTONE_RETURN_IF_ERROR(CheckRequest(request));
  // A repeated request (same request_id) returns its job even when its blobs are gone by now.
  HALFTONE_ASSIGN_OR_RETURN(std::optional<v1::Job> known, store_.FindRequest(request.spec(), request.request_id()));
  if (known.has_value()) return *std::move(known);
  HALFTONE_RETURN_IF_ERROR(CheckBlobs(blobs_, request.spec()));
  if (request.validate_only()) {
    v1::Job job;
    *job.mutable_spec() = request.spec();
    return job;
  }
  bool created = false;
  HALFTONE_ASSIGN_OR_RETURN(v1::Job job, store_.Create(request.spec(), request.request_id(), &created));
  if (created) {
    LogInfo("job created")
        .With("job", job.name())
        .With("kind", KindOf(job.spec()))
        .With("request_id", job.request_id());
    runner_.Wake();
  }
  return job;
}

absl::StatusOr<v1::Job> Jobs::Get(const std::string& name) {
  HALFTONE_RETURN_IF_ERROR(CheckJobName(name));
  return store_.Get(name);
}

absl::StatusOr<v1::ListJobsResponse> Jobs::List(const v1::ListJobsRequest& request) {
  std::vector<FieldViolation> violations;
  if (request.page_size() < 0) violations.push_back({"page_size", "is negative"});
  if (!v1::JobState_IsValid(request.state())) violations.push_back({"state", "is no known state"});
  if (!violations.empty()) return InvalidFields(violations);
  const int page_size = request.page_size() == 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
  HALFTONE_ASSIGN_OR_RETURN(JobStore::Page page, store_.List(page_size, request.page_token(), request.state()));
  v1::ListJobsResponse response;
  for (v1::Job& job : page.jobs) *response.add_jobs() = std::move(job);
  response.set_next_page_token(page.next_token);
  return response;
}

absl::StatusOr<v1::Job> Jobs::Cancel(const std::string& name) {
  HALFTONE_RETURN_IF_ERROR(CheckJobName(name));
  bool cancelled = false;
  HALFTONE_ASSIGN_OR_RETURN(v1::Job job, store_.Cancel(name, &cancelled));
  if (cancelled) {
    LogInfo("job cancelled").With("job", name);
    runner_.Cancel(name);
    observer_.OnJobFinished(KindOf(job.spec()), v1::JOB_STATE_CANCELLED);
  }
  return job;
}

absl::Status Jobs::Watch(const std::string& name, int64_t after_seq, absl::FunctionRef<bool(const v1::JobEvent&)> send,
                         absl::FunctionRef<bool()> is_cancelled) {
  HALFTONE_RETURN_IF_ERROR(CheckJobName(name));
  if (after_seq < 0) return InvalidField("after_seq", "is negative: 0 means from the first event");
  JobSignals::Subscription subscription = store_.signals().Subscribe(name);
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const JobStore::Events read, store_.ReadEvents(name, after_seq, kEventsAtOnce));
    for (const v1::JobEvent& event : read.events) {
      if (!send(event)) return absl::CancelledError("the client has gone");
      after_seq = event.seq();
    }
    if (read.complete) return absl::OkStatus();
    if (shutdown_) return ShuttingDown();
    if (is_cancelled()) return absl::CancelledError("the client has gone");
    if (read.events.empty()) subscription.Wait(kCancelPoll);
  }
}

void Jobs::Shutdown() {
  shutdown_ = true;
  store_.signals().NotifyAll();
}

}  // namespace halftone::server
