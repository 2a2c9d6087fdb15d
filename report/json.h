// SPDX-License-Identifier: Apache-2.0
// report.json: a message of the public contract as JSON and back.
//
// The JSON has the proto's field names in the proto's order and every field, also unset ones and unset sub-messages
// (with their defaults), so that a script never asks whether a key is there. Numbers are JSON numbers, 64-bit integers
// too (protobuf's own JSON prints those as strings); NaN and infinities, which JSON cannot say, are the strings "NaN",
// "Infinity" and "-Infinity". Enum values are short names (report/names.h), timestamps and durations strings as in protobuf's JSON, bytes
// base64. Of a oneof only the member that is set is printed.
#ifndef HALFTONE_REPORT_JSON_H_
#define HALFTONE_REPORT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "halftone/v1/profile.pb.h"
#include "halftone/v1/report.pb.h"

namespace halftone::report {

// Any message; indented by two blanks, arrays of numbers on one line; ends with a newline.
std::string MessageToJson(const google::protobuf::Message& message);

inline std::string ReportToJson(const v1::Report& report) { return MessageToJson(report); }

// The reverse. INVALID_ARGUMENT: not JSON, an unknown key, a value of a wrong type.
absl::StatusOr<v1::Report> ReportFromJson(absl::string_view json);
absl::StatusOr<v1::Profile> ProfileFromJson(absl::string_view json);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_JSON_H_
