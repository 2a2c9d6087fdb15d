// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace halftone::report {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;

// The first value of each proto enum is TYPE_UNSPECIFIED.
bool IsUnspecified(const EnumValueDescriptor& value) { return value.number() == 0; }

std::string NameOf(const EnumDescriptor& descriptor, int number) {
  const EnumValueDescriptor* value = descriptor.FindValueByNumber(number);
  return value == nullptr ? absl::StrCat(number) : ShortName(*value);
}

}  // namespace

std::string ShortName(const EnumValueDescriptor& value) {
  constexpr absl::string_view kUnspecified = "UNSPECIFIED";
  const absl::string_view prefix = absl::StripSuffix(value.type()->value(0)->name(), kUnspecified);
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripPrefix(value.name(), prefix)), {{"_", "-"}});
}

std::string PrecisionName(v1::Precision precision) { return NameOf(*v1::Precision_descriptor(), precision); }
std::string DialectName(v1::Dialect dialect) { return NameOf(*v1::Dialect_descriptor(), dialect); }
std::string Int8ModeName(v1::Int8Mode mode) { return NameOf(*v1::Int8Mode_descriptor(), mode); }
std::string JobStateName(v1::JobState state) { return NameOf(*v1::JobState_descriptor(), state); }
std::string VerdictName(v1::Verdict verdict) { return NameOf(*v1::Verdict_descriptor(), verdict); }
std::string BenchmarkPresetName(v1::BenchmarkPreset profile) {
  return NameOf(*v1::BenchmarkPreset_descriptor(), profile);
}

std::optional<v1::Precision> ParsePrecision(absl::string_view name) {
  const EnumValueDescriptor* value = FindEnumValue(*v1::Precision_descriptor(), name);
  if (value == nullptr) return std::nullopt;
  return static_cast<v1::Precision>(value->number());
}

std::vector<std::string> EnumNames(const EnumDescriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.value_count(); ++i) {
    const EnumValueDescriptor& value = *descriptor.value(i);
    if (!IsUnspecified(value)) names.push_back(ShortName(value));
  }
  return names;
}

const EnumValueDescriptor* FindEnumValue(const EnumDescriptor& descriptor, absl::string_view name) {
  for (int i = 0; i < descriptor.value_count(); ++i) {
    const EnumValueDescriptor& value = *descriptor.value(i);
    if (!IsUnspecified(value) && ShortName(value) == name) return &value;
  }
  return nullptr;
}

std::string Printable(absl::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&safe, "\\x%02x", byte);
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

std::string FirstFew(const google::protobuf::RepeatedPtrField<std::string>& names) {
  constexpr int kFew = 5;
  const int shown = std::min(names.size(), kFew);
  std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

}  // namespace halftone::report
