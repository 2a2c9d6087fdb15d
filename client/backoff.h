// SPDX-License-Identifier: Apache-2.0
// Pauses between attempts: they grow, are jittered, and end when nothing has worked for long.
#ifndef HALFTONE_CLIENT_BACKOFF_H_
#define HALFTONE_CLIENT_BACKOFF_H_

#include "absl/random/random.h"
#include "absl/time/time.h"
#include "client/cancellation.h"

namespace halftone::client {

struct RetryPolicy {
  absl::Duration first_pause = absl::Milliseconds(100);
  absl::Duration longest_pause = absl::Seconds(5);
  absl::Duration give_up_after = absl::Seconds(60);  // without any progress
};

// Not thread-safe.
class Backoff {
 public:
  // `cancellation` may be null.
  Backoff(const RetryPolicy& policy, Cancellation* cancellation);

  // Waits for the next attempt. False: give up (too long without progress, or cancelled).
  bool Wait();

  // Something worked: the next pause is short again.
  void Progress();

 private:
  const RetryPolicy policy_;
  Cancellation* const cancellation_;
  absl::BitGen random_;
  absl::Duration pause_;
  absl::Time last_progress_;
};

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_BACKOFF_H_
