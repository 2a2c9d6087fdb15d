// SPDX-License-Identifier: Apache-2.0
// How an error of a server becomes an absl::Status, and how its reason (UPPER_SNAKE) travels with it.
// Thread-safety: free functions without state.
#ifndef HALFTONE_CLIENT_STATUS_H_
#define HALFTONE_CLIENT_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/status.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::client {

// The same code. What the details say (each field that is wrong, each blob that is missing) is appended to the message;
// the reason of ErrorInfo becomes the status's reason.
absl::Status FromGrpc(const grpc::Status& status);

// Why a job failed; IsJobError knows such a status.
absl::Status FromJobError(const v1::JobError& error);
bool IsJobError(const absl::Status& status);

// The reason that a status carries, "" for none.
std::string Reason(const absl::Status& status);
absl::Status WithReason(absl::Status status, absl::string_view reason);

// Whether the same call may succeed a little later: the server could not be reached, is starting or shutting down, when it
// cancels the calls that it has. What this side cancelled is not to be asked for.
bool IsTransient(const absl::Status& status);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_STATUS_H_
