// SPDX-License-Identifier: Apache-2.0
// Client::Call, for the files that implement Client.
#ifndef HALFTONE_CLIENT_CALL_H_
#define HALFTONE_CLIENT_CALL_H_

#include "absl/time/clock.h"
#include "client/client.h"
#include "client/status.h"

namespace halftone::client {

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Client::Call(Stub& stub,
                                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                      const Request& request) {
  Backoff backoff(options_.retry, options_.cancellation);
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + options_.call_timeout));
    Response response;
    grpc::Status raw;
    {
      const Cancellation::Call call(options_.cancellation, &context);
      raw = (stub.*method)(&context, request, &response);
    }
    if (raw.ok()) return response;
    const absl::Status status = WithContext(FromGrpc(raw));
    if (!IsTransient(status) || !backoff.Wait()) return WithContext(status);
  }
}

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_CALL_H_
