// SPDX-License-Identifier: Apache-2.0
// The one way from absl::Status to what goes over the wire.

#ifndef HALFTONE_SERVER_RPC_STATUS_H_
#define HALFTONE_SERVER_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace halftone::server {

// The same code, the message (bounded), and google.rpc.Status with every payload as a detail; each error carries an
// ErrorInfo. An error that core did not make for clients (it has no ErrorInfo) loses its message, which may name local
// paths: the caller logs it.
grpc::Status ToGrpc(const absl::Status& status);

// "OK", "NOT_FOUND", ...: for labels and logs.
std::string CodeName(grpc::StatusCode code);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_STATUS_H_
