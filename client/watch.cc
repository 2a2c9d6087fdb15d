// SPDX-License-Identifier: Apache-2.0
// Client::WatchJob: the events of a job, each once, over any number of broken streams.

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/client.h"
#include "client/status.h"

namespace halftone::client {
namespace {

// A cut stream, or a server that restarts.
bool CanReattach(const absl::Status& status) {
  return status.ok() || absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnknown(status);
}

}  // namespace

absl::StatusOr<v1::Job> Client::WatchJob(const std::string& name, int64_t after_seq, const OnJobEvent& on_event) {
  Backoff backoff(options_.retry, options_.cancellation);
  v1::WatchJobRequest request;
  request.set_name(name);
  request.set_after_seq(after_seq);
  while (true) {
    absl::Status status;
    {
      grpc::ClientContext context;
      const Cancellation::Call call(options_.cancellation, &context);
      const auto reader = jobs_->WatchJob(&context, request);
      v1::JobEvent event;
      while (reader->Read(&event)) {
        if (event.seq() <= request.after_seq()) continue;  // seen before the cut
        request.set_after_seq(event.seq());
        backoff.Progress();
        if (on_event) on_event(event);
      }
      status = WithContext(FromGrpc(reader->Finish()));
    }
    if (cancelled()) return WithContext(absl::CancelledError());
    if (status.ok()) {  // the server ends the stream only after the final state
      HALFTONE_ASSIGN_OR_RETURN(v1::Job job, GetJob(name));
      if (IsFinal(job.state())) return job;
    }
    if (!CanReattach(status)) return status;
    if (backoff.Wait()) continue;
    if (status.ok()) status = absl::UnavailableError(absl::StrCat("the stream of ", name, " ends before the job does"));
    return WithContext(status);
  }
}

}  // namespace halftone::client
