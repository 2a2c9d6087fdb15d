// SPDX-License-Identifier: Apache-2.0
// Names that people read and write for the enum values of the public contract: "bf16", "weight-only", "running".
#ifndef HALFTONE_REPORT_NAMES_H_
#define HALFTONE_REPORT_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "halftone/v1/benchmark.pb.h"
#include "halftone/v1/jobs.pb.h"
#include "halftone/v1/policy.pb.h"

namespace halftone::report {

// In lower case without the prefix of its type: INT8_MODE_WEIGHT_ONLY is "weight-only".
std::string ShortName(const google::protobuf::EnumValueDescriptor& value);

// "fp32"; a value that this build does not know prints as its number.
std::string PrecisionName(v1::Precision precision);
std::string DialectName(v1::Dialect dialect);
std::string Int8ModeName(v1::Int8Mode mode);
std::string JobStateName(v1::JobState state);
std::string VerdictName(v1::Verdict verdict);
std::string BenchmarkPresetName(v1::BenchmarkPreset profile);

// By the short name; nothing for unknown names and for UNSPECIFIED.
std::optional<v1::Precision> ParsePrecision(absl::string_view name);

// The short names of an enum's values in the order of the proto, without the unspecified one.
std::vector<std::string> EnumNames(const google::protobuf::EnumDescriptor& descriptor);

// The value with this short name, or nullptr.
const google::protobuf::EnumValueDescriptor* FindEnumValue(const google::protobuf::EnumDescriptor& descriptor,
                                                           absl::string_view name);

// Text that came from a model or a file, made safe to print on a terminal: control characters become "\xNN".
std::string Printable(absl::string_view text);

// "a, b, c, d, e and 12 more"
std::string FirstFew(const google::protobuf::RepeatedPtrField<std::string>& names);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_NAMES_H_
