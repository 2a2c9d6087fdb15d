// SPDX-License-Identifier: Apache-2.0
#include "server/core/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/frames.h"
#include "base/status.h"

namespace halftone::server {
namespace {

constexpr absl::Duration kLongestWait = absl::Seconds(60);

bool IsResponse(const worker::WorkerMessage& message) {
  return message.has_result() || message.has_error() || message.has_description();
}

// The state of one run. Phases: running -> (responded | asked to end) -> killed; the loop ends when stdout does.
class Watcher {
 public:
  Watcher(const WorkerOptions& options, const worker::WorkerRequest& request, const StopSignal& stop,
          const WorkerCallbacks& callbacks, Child& child)
      : options_(options),
        stop_(stop),
        callbacks_(callbacks),
        child_(child),
        unsent_(EncodeFrame(request.SerializeAsString())),
        timeout_(absl::Now() + options.timeout) {
    fcntl(child.stdin_fd(), F_SETFL, O_NONBLOCK);
    fcntl(child.stdout_fd(), F_SETFL, O_NONBLOCK);
  }

  WorkerEnd Watch() {
    while (!ended_) {
      Wait();
      if (!ended_) CheckDeadlines();
    }
    WorkerEnd end;
    if (!killed_ && !child_.AwaitExit(options_.grace)) child_.Signal(SIGKILL);
    end.exit = child_.Wait();
    end.stderr_tail = child_.StderrTail();
    end.detail = detail_;
    end.kind = verdict_.value_or(response_.has_value() && (response_->has_error() || end.exit.ok())
                                     ? WorkerEnd::Kind::kResponded
                                     : WorkerEnd::Kind::kCrashed);
    if (response_.has_value()) end.response = *std::move(response_);
    return end;
  }

 private:
  void Wait() {
    absl::Duration wait = kLongestWait;
    if (callbacks_.on_tick) wait = std::min(wait, callbacks_.on_tick());
    wait = std::min(wait, NextDeadline() - absl::Now());
    const bool end_requested = end_requested_at_ != absl::InfiniteFuture();
    std::array<pollfd, 3> events = {
        {{.fd = child_.stdout_fd(), .events = POLLIN, .revents = 0},
         {.fd = end_requested ? -1 : stop_.fd(), .events = POLLIN, .revents = 0},
         {.fd = unsent_.empty() ? -1 : child_.stdin_fd(), .events = POLLOUT, .revents = 0}}};
    const auto milliseconds = static_cast<int>(std::max<int64_t>(0, absl::ToInt64Milliseconds(wait) + 1));
    if (poll(events.data(), events.size(), milliseconds) < 0) return;  // a signal: look again
    if (events[2].revents != 0) Send();
    if (events[0].revents != 0) Receive();
    if (callbacks_.on_tick) callbacks_.on_tick();
  }

  absl::Time NextDeadline() const {
    return std::min({timeout_, exit_deadline_, end_requested_at_ + options_.grace});  // infinite stays infinite
  }

  void CheckDeadlines() {
    const absl::Time now = absl::Now();
    const bool end_requested = end_requested_at_ != absl::InfiniteFuture();
    if (end_requested && now >= end_requested_at_ + options_.grace) {
      child_.Signal(SIGKILL);
      killed_ = true;
      ended_ = true;  // whoever still holds the pipe is not of the group
    } else if (!end_requested && stop_.stopped()) {
      End(WorkerEnd::Kind::kStopped);
    } else if (!end_requested && now >= timeout_) {
      End(WorkerEnd::Kind::kTimeout);
    } else if (!end_requested && now >= exit_deadline_) {
      ended_ = true;  // it responded, but does not close its stdout
    }
  }

  // Asks the child to end; its further messages are discarded.
  void End(WorkerEnd::Kind verdict) {
    if (!verdict_.has_value()) verdict_ = verdict;
    if (end_requested_at_ != absl::InfiniteFuture()) return;
    end_requested_at_ = absl::Now();
    timeout_ = absl::InfiniteFuture();
    exit_deadline_ = absl::InfiniteFuture();
    child_.CloseStdin();
    unsent_.clear();
    child_.Signal(SIGTERM);
  }

  void Send() {
    const absl::StatusOr<size_t> put = WriteSome(child_.stdin_fd(), unsent_);
    if (put.ok()) {
      unsent_.erase(0, *put);
    } else {
      unsent_.clear();  // it does not read its stdin: its exit status says why
    }
  }

  void Receive() {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = read(child_.stdout_fd(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      ended_ = true;
      if (!verdict_.has_value() && !parser_.AtBoundary()) detail_ = "its output ended within a message";
      return;
    }
    if (verdict_.has_value()) return;
    parser_.Append({buffer.data(), static_cast<size_t>(got)});
    while (!verdict_.has_value()) {
      absl::StatusOr<std::optional<std::string>> frame = parser_.Next();
      if (!frame.ok()) return Garbage(std::string(frame.status().message()));
      if (!frame->has_value()) return;
      worker::WorkerMessage message;
      if (!message.ParseFromString(**frame)) return Garbage("a message could not be parsed");
      Accept(std::move(message));
    }
  }

  void Accept(worker::WorkerMessage message) {
    if (response_.has_value()) return Garbage("a message came after the response");
    if (!IsResponse(message)) return callbacks_.on_message(std::move(message));
    response_ = std::move(message);
    exit_deadline_ = absl::Now() + options_.grace;
    timeout_ = absl::InfiniteFuture();
  }

  void Garbage(std::string detail) {
    detail_ = std::move(detail);
    End(WorkerEnd::Kind::kGarbage);
  }

  const WorkerOptions& options_;
  const StopSignal& stop_;
  const WorkerCallbacks& callbacks_;
  Child& child_;

  FrameParser parser_;
  std::string unsent_;
  std::optional<worker::WorkerMessage> response_;
  std::optional<WorkerEnd::Kind> verdict_;
  std::string detail_;
  absl::Time timeout_;
  absl::Time exit_deadline_ = absl::InfiniteFuture();
  absl::Time end_requested_at_ = absl::InfiniteFuture();
  bool killed_ = false;
  bool ended_ = false;
};

}  // namespace

StopSignal::StopSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK(event_.ok()); }

void StopSignal::Stop() {
  stopped_ = true;
  const uint64_t one = 1;
  CHECK_EQ(write(event_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

absl::StatusOr<WorkerEnd> RunWorker(const WorkerOptions& options, const worker::WorkerRequest& request,
                                    const StopSignal& stop, const WorkerCallbacks& callbacks) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Child> child,
                            Child::Spawn({.program = options.program, .working_dir = options.working_dir}));
  return Watcher(options, request, stop, callbacks, *child).Watch();
}

}  // namespace halftone::server
