// SPDX-License-Identifier: Apache-2.0
// RunWorker: one halftone-worker from its start to its end, watched by one thread.

#ifndef HALFTONE_SERVER_CORE_WORKER_PROCESS_H_
#define HALFTONE_SERVER_CORE_WORKER_PROCESS_H_

#include <atomic>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/child.h"
#include "base/fd.h"
#include "server/worker/worker.pb.h"

namespace halftone::server {

// Tells a running worker's watcher to end it. Thread-safe.
class StopSignal {
 public:
  StopSignal();

  void Stop();
  bool stopped() const { return stopped_; }
  int fd() const { return event_.get(); }  // readable once stopped

 private:
  std::atomic<bool> stopped_ = false;
  UniqueFd event_;
};

struct WorkerOptions {
  std::string program;
  std::string working_dir;  // empty: the parent's
  absl::Duration timeout = absl::InfiniteDuration();
  absl::Duration grace = absl::Seconds(5);  // between SIGTERM and SIGKILL, and between the last message and the exit
};

struct WorkerEnd {
  enum class Kind {
    kResponded,  // `response` holds result, error or description, and the child exited with 0
    kCrashed,    // it ended by a signal, with another code, or without a response
    kGarbage,    // what it wrote was not the protocol; it was killed
    kTimeout,    // it was killed
    kStopped,    // StopSignal; it was killed
  };

  Kind kind = Kind::kCrashed;
  worker::WorkerMessage response;
  ExitStatus exit;
  std::string stderr_tail;
  std::string detail;  // of kGarbage: what was wrong
};

// Called on the watching thread.
struct WorkerCallbacks {
  std::function<void(worker::WorkerMessage message)> on_message;  // progress, warning or log
  // When to call `on_message`'s owner again at the latest; it is called after each wait.
  std::function<absl::Duration()> on_tick;
};

// Starts the program, sends the request, reads to the end. Every process of the child's group is gone when it returns.
// The status is about starting it only. Blocks; the calling thread must not end before (see base/child.h).
absl::StatusOr<WorkerEnd> RunWorker(const WorkerOptions& options, const worker::WorkerRequest& request,
                                    const StopSignal& stop, const WorkerCallbacks& callbacks);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_WORKER_PROCESS_H_
