// SPDX-License-Identifier: Apache-2.0
// Policy files: the proto Policy written by people as YAML or JSON.
//
//   precisions: [bf16]
//   lists:
//     deny: {remove: [Exp]}
//   nodes:
//     - {match: "conv1.*", precision: fp32}
//
// Keys are the proto's field names, enum values its names in lower case. Everything that is not exactly that is an
// error with file:line:column: an unknown key or value (with "did you mean"), a wrong type, a key given twice, a bad
// regular expression.
#ifndef HALFTONE_CLIENT_POLICY_H_
#define HALFTONE_CLIENT_POLICY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "halftone/v1/policy.pb.h"

namespace halftone::client {

// INVALID_ARGUMENT with one line for each problem, in the order of the file. Thread-safe.
absl::StatusOr<v1::Policy> ParsePolicy(absl::string_view text, absl::string_view file_name);

// As ParsePolicy; NOT_FOUND when there is no such file.
absl::StatusOr<v1::Policy> LoadPolicy(const std::string& path);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_POLICY_H_
