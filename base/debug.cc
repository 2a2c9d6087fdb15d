// SPDX-License-Identifier: Apache-2.0
#include "base/debug.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace halftone {
namespace {

bool MatchesAny(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(), [name](const std::string& glob) { return GlobMatch(glob, name); });
}

absl::Status Wrong(std::string_view setting, std::string_view wanted) {
  return absl::InvalidArgumentError(Concat("HALFTONE_DEBUG: '", setting, "' ", wanted));
}

absl::Status ParseFuel(std::string_view setting, std::string_view value, DebugOptions& options) {
  const size_t colon = value.rfind(':');
  int64_t matches = 0;
  if (colon == std::string_view::npos || colon == 0 || !absl::SimpleAtoi(AbslView(value.substr(colon + 1)), &matches) ||
      matches < 0) {
    return Wrong(setting, "should be fuel=NAME:N with N >= 0");
  }
  options.fuel[std::string(value.substr(0, colon))] = matches;
  return absl::OkStatus();
}

absl::Status ParseSetting(std::string_view setting, DebugOptions& options) {
  const size_t equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? setting.substr(equals + 1) : std::string_view();
  if (key == "time" || key == "why") {
    if (has_value) return Wrong(setting, "takes no value");
    (key == "time" ? options.time : options.why) = true;
    return absl::OkStatus();
  }
  if (key == "verify") {
    if (value != "full") return Wrong(setting, "should be verify=full");
    options.verify_full = true;
    return absl::OkStatus();
  }
  const bool known = key == "dump" || key == "only" || key == "skip" || key == "fuel";
  if (!known)
    return Wrong(setting,
                 "is unknown: dump=DIR, time, why, only=GLOB, skip=GLOB, fuel=NAME:N and verify=full are known");
  if (value.empty()) return Wrong(setting, "needs a value");
  if (key == "fuel") return ParseFuel(setting, value, options);
  if (key == "dump") options.dump_dir = value;
  if (key == "only") options.only.emplace_back(value);
  if (key == "skip") options.skip.emplace_back(value);
  return absl::OkStatus();
}

}  // namespace

bool DebugOptions::Selects(std::string_view name) const { return only.empty() || MatchesAny(only, name); }

bool DebugOptions::Skips(std::string_view name) const { return MatchesAny(skip, name); }

std::optional<int64_t> DebugOptions::Fuel(std::string_view name) const {
  const auto found = fuel.find(std::string(name));
  if (found == fuel.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<DebugOptions> ParseDebugOptions(TextArg text) {
  DebugOptions options;
  for (const absl::string_view setting : absl::StrSplit(text.absl(), ',', absl::SkipWhitespace())) {
    HALFTONE_RETURN_IF_ERROR(ParseSetting(StdView(setting), options));
  }
  return options;
}

absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment() {
  const char* text = getenv("HALFTONE_DEBUG");
  return ParseDebugOptions(text == nullptr ? "" : text);
}

bool GlobMatch(std::string_view glob, std::string_view text) {
  size_t g = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last '*', and where its match begins: only that one is retried
  size_t run = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      run = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++run;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace halftone
