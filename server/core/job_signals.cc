// SPDX-License-Identifier: Apache-2.0
#include "server/core/job_signals.h"

#include <utility>

#include "absl/time/clock.h"

namespace halftone::server {

JobSignals::Subscription::Subscription(std::shared_ptr<Signal> signal) : signal_(std::move(signal)) {
  const absl::MutexLock lock(&signal_->mutex);
  seen_ = signal_->version;
}

void JobSignals::Subscription::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  const absl::MutexLock lock(&signal_->mutex);
  while (signal_->version == seen_) {
    if (signal_->changed.WaitWithDeadline(&signal_->mutex, deadline)) break;
  }
  seen_ = signal_->version;
}

JobSignals::Subscription JobSignals::Subscribe(const std::string& job) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(signals_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<Signal> signal = signals_[job].lock();
  if (signal == nullptr) {
    signal = std::make_shared<Signal>();
    signals_[job] = signal;
  }
  return Subscription(std::move(signal));
}

void JobSignals::Notify(const std::string& job) {
  std::shared_ptr<Signal> signal;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = signals_.find(job);
    if (found != signals_.end()) signal = found->second.lock();
  }
  if (signal != nullptr) Raise(*signal);
}

void JobSignals::NotifyAll() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [job, weak] : signals_) {
    if (const std::shared_ptr<Signal> signal = weak.lock()) Raise(*signal);
  }
}

void JobSignals::Raise(Signal& signal) {
  const absl::MutexLock lock(&signal.mutex);
  ++signal.version;
  signal.changed.SignalAll();
}

}  // namespace halftone::server
