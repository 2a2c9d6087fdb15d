// Ctrl-C and SIGTERM as events of a thread of their own, so that work can end in an orderly way.
#ifndef HALFTONE_CLIENT_CLI_INTERRUPTS_H_
#define HALFTONE_CLIENT_CLI_INTERRUPTS_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cancellation.h"

namespace halftone::cli {

// Make one at the start of main, before any other thread: it blocks SIGINT, SIGTERM and SIGHUP in all threads. The
// first signal cancels cancellation(); the fourth ends the program at once. Thread-safe.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  client::Cancellation& cancellation() { return cancellation_; }

  int count() const;
  // Waits until there were `count` signals, at most so long. Whether there were.
  bool WaitForCount(int count, absl::Duration timeout) const;

 private:
  void Listen();

  client::Cancellation cancellation_;
  mutable absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_INTERRUPTS_H_
