// SPDX-License-Identifier: Apache-2.0
#include "client/cli/key_values.h"

#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/exit_codes.h"
#include "client/suggest.h"
#include "google/protobuf/descriptor.h"

namespace halftone::cli {
namespace {

std::vector<std::string> KeysOf(const google::protobuf::Descriptor& type) {
  std::vector<std::string> keys;
  for (int i = 0; i < type.field_count(); ++i) {
    keys.push_back(absl::StrReplaceAll(type.field(i)->name(), {{"_", "-"}}));
  }
  return keys;
}

}  // namespace

absl::Status SetKeyValue(const std::string& flag, const std::string& text, google::protobuf::Message* message) {
  const auto error = [&](const std::string& why) { return UsageError(absl::StrCat("--", flag, " ", text, ": ", why)); };
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  const std::vector<std::string> keys = KeysOf(type);
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return error(absl::StrCat("KEY=VALUE is expected, with one of the keys ", absl::StrJoin(keys, ", ")));
  }
  const std::string key = text.substr(0, equals);
  const auto* field = type.FindFieldByName(absl::StrReplaceAll(key, {{"-", "_"}}));
  if (field == nullptr) return error(absl::StrCat("unknown key '", key, "'", client::DidYouMean(key, keys)));
  if (message->GetReflection()->HasField(*message, field)) return error(absl::StrCat(key, " is given twice"));
  double value = 0;
  if (!absl::SimpleAtod(text.substr(equals + 1), &value) || !std::isfinite(value)) {
    return error("the value should be a number");
  }
  message->GetReflection()->SetDouble(message, field, value);
  return absl::OkStatus();
}

}  // namespace halftone::cli
