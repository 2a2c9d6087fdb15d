// SPDX-License-Identifier: Apache-2.0
#include "client/backoff.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace halftone::client {
namespace {

constexpr double kGrowth = 1.6;
constexpr double kJitter = 0.2;

}  // namespace

Backoff::Backoff(const RetryPolicy& policy, Cancellation* cancellation)
    : policy_(policy), cancellation_(cancellation), pause_(policy.first_pause), last_progress_(absl::Now()) {}

bool Backoff::Wait() {
  const absl::Duration left = last_progress_ + policy_.give_up_after - absl::Now();
  if (left <= absl::ZeroDuration()) return false;
  const absl::Duration pause = std::min(left, pause_ * absl::Uniform(random_, 1 - kJitter, 1 + kJitter));
  pause_ = std::min(policy_.longest_pause, pause_ * kGrowth);
  if (cancellation_ != nullptr) return cancellation_->Sleep(pause);
  absl::SleepFor(pause);
  return true;
}

void Backoff::Progress() {
  pause_ = policy_.first_pause;
  last_progress_ = absl::Now();
}

}  // namespace halftone::client
