// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM and SIGHUP as events of a thread of their own, so that work can end in an orderly way.
#ifndef HALFTONE_CLIENT_CLI_INTERRUPTS_H_
#define HALFTONE_CLIENT_CLI_INTERRUPTS_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cancellation.h"

namespace halftone::cli {

// Make one at the start of main, before any other thread: it blocks SIGINT, SIGTERM and SIGHUP in all threads. The
// first signal cancels cancellation(); the fourth ends the program at once. Only Ctrl-C (SIGINT) is counted as a wish of
// the user: `timeout` and service managers send SIGTERM, often twice. Thread-safe.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  client::Cancellation& cancellation() { return cancellation_; }

  // How often Ctrl-C was pressed.
  int ctrl_c_count() const;
  // Waits until it was pressed `count` times, at most so long. Whether it was.
  bool WaitForCtrlC(int count, absl::Duration timeout) const;

 private:
  void Listen();

  client::Cancellation cancellation_;
  mutable absl::Mutex mutex_;
  int signals_ ABSL_GUARDED_BY(mutex_) = 0;
  int ctrl_c_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_INTERRUPTS_H_
