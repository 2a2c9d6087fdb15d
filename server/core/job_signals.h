// SPDX-License-Identifier: Apache-2.0
// JobSignals: wakes those who watch a job when something happened to it. Carries no data: the store has the truth.

#ifndef HALFTONE_SERVER_CORE_JOB_SIGNALS_H_
#define HALFTONE_SERVER_CORE_JOB_SIGNALS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace halftone::server {

// Thread-safe.
class JobSignals {
 private:
  struct Signal {
    absl::Mutex mutex;
    absl::CondVar changed ABSL_GUARDED_BY(mutex);
    int64_t version ABSL_GUARDED_BY(mutex) = 0;
  };

 public:
  // One watcher. Used by one thread.
  class Subscription {
   public:
    // Returns at once when Notify was called since the subscription or the last Wait, else when it is called or
    // after `timeout`.
    void Wait(absl::Duration timeout);

   private:
    friend class JobSignals;
    explicit Subscription(std::shared_ptr<Signal> signal);

    std::shared_ptr<Signal> signal_;
    int64_t seen_;
  };

  // Subscribe first, read the store then: nothing is missed.
  Subscription Subscribe(const std::string& job);

  void Notify(const std::string& job);
  void NotifyAll();

 private:
  static void Raise(Signal& signal);

  absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<Signal>> signals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_JOB_SIGNALS_H_
