// SPDX-License-Identifier: Apache-2.0
// Errors as clients see them: a code, a reason in UPPER_SNAKE, a message, and details that a program can read.
//
// The details travel as payloads of the absl::Status whose type URLs are those of google.rpc messages, so that
// server/rpc copies them into google.rpc.Status without knowing any of them.

#ifndef HALFTONE_SERVER_CORE_ERRORS_H_
#define HALFTONE_SERVER_CORE_ERRORS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/strings.h"
#include "halftone/v1/blobs.pb.h"

namespace halftone::server {

inline constexpr std::string_view kErrorDomain = "halftone.v1";
inline constexpr std::string_view kTypeUrlPrefix = "type.googleapis.com/";

// One field of a request that is wrong, and what would be right.
struct FieldViolation {
  std::string field;  // path in the request, e.g. "spec.optimize.model.files[0].path"
  std::string description;
};

// A status with google.rpc.ErrorInfo {reason, domain, metadata}.
absl::Status MakeError(absl::StatusCode code, std::string_view reason, TextArg message,
                       const std::map<std::string, std::string>& metadata = {});

// INVALID_ARGUMENT / INVALID_FIELD with google.rpc.BadRequest: all of them at once (as many as fit into a status). Not
// for an empty list.
absl::Status InvalidFields(const std::vector<FieldViolation>& violations);

// INVALID_ARGUMENT for one field.
absl::Status InvalidField(TextArg field, TextArg description);

// FAILED_PRECONDITION / BLOB_MISSING with google.rpc.PreconditionFailure. Not for an empty list.
absl::Status BlobsMissing(const std::vector<v1::Digest>& digests);

// UNAVAILABLE / SHUTTING_DOWN, with a delay after which to try again.
absl::Status ShuttingDown();

// The ErrorInfo reason of a status, or "" when it has none.
std::string ReasonOf(const absl::Status& status);

// The same status; when it is an error without an ErrorInfo, a general one for its code is added.
absl::Status WithReason(absl::Status status);

// "blobs/SHA256/SIZE": how a blob is named in messages and details.
std::string BlobName(const v1::Digest& digest);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_ERRORS_H_
