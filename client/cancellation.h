// SPDX-License-Identifier: Apache-2.0
// Cancellation: one thread says stop, and the calls and pauses of other threads end.
#ifndef HALFTONE_CLIENT_CANCELLATION_H_
#define HALFTONE_CLIENT_CANCELLATION_H_

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"

namespace halftone::client {

// Thread-safe. Once cancelled it stays so.
class Cancellation {
 public:
  // While a Call lives, Cancel() ends its RPC too. `cancellation` may be null.
  class Call {
   public:
    Call(Cancellation* cancellation, grpc::ClientContext* context);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Cancellation* const cancellation_;
    grpc::ClientContext* const context_;
  };

  void Cancel();
  bool cancelled() const;

  // Returns early, with false, when cancelled.
  bool Sleep(absl::Duration duration);

 private:
  mutable absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_CANCELLATION_H_
