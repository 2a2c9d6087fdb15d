// SPDX-License-Identifier: Apache-2.0
#include "client/cli/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "client/cli/exit_codes.h"

namespace halftone::cli {
namespace {

constexpr int kImpatient = 4;  // signals of any kind that end the program at once

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR2);  // wakes the thread to end it
  return signals;
}

}  // namespace

Interrupts::Interrupts() {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { Listen(); });
}

Interrupts::~Interrupts() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

void Interrupts::Listen() {
  const sigset_t signals = Signals();
  while (true) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    {
      absl::MutexLock lock(&mutex_);
      if (stop_) return;
      if (number == SIGUSR2) continue;
      if (number == SIGINT) ++ctrl_c_count_;
      if (++signals_ >= kImpatient) _exit(kInterrupted);
    }
    cancellation_.Cancel();
  }
}

int Interrupts::ctrl_c_count() const {
  absl::MutexLock lock(&mutex_);
  return ctrl_c_count_;
}

bool Interrupts::WaitForCtrlC(int count, absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ctrl_c_count_ >= count; };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), timeout);
}

}  // namespace halftone::cli
