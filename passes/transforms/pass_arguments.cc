// SPDX-License-Identifier: Apache-2.0
#include "passes/transforms/pass_arguments.h"

#include <algorithm>
#include <set>

#include "absl/log/check.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/strings.h"

namespace halftone {
namespace {

std::string Stripped(std::string_view text) { return std::string(absl::StripAsciiWhitespace(AbslView(text))); }

std::string Unquoted(const std::string& value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

// "" or what would be right.
std::string_view WhatIsWrong(ArgumentKind kind, const std::string& value) {
  int64_t number = 0;
  switch (kind) {
    case ArgumentKind::kText:
    case ArgumentKind::kTexts:
      return "";
    case ArgumentKind::kCount:
      return absl::SimpleAtoi(value, &number) && number >= 1 ? "" : "a whole number of at least 1";
    case ArgumentKind::kFlag:
      return value == "true" || value == "false" ? "" : "true or false";
  }
  return "";
}

std::string NamesOf(std::span<const ArgumentSpec> specs) {
  std::string names;
  for (const ArgumentSpec& spec : specs) names += Concat(names.empty() ? "" : ", ", spec.name);
  return names.empty() ? "none" : names;
}

}  // namespace

std::vector<std::string> SplitOutsideBrackets(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == ')')) depth += c == '(' ? 1 : -1;
    if (c == ',' && depth <= 0 && !quoted) {
      parts.push_back(Stripped(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(Stripped(part));
  return parts;
}

absl::StatusOr<PassArguments> PassArguments::Parse(std::span<const ArgumentSpec> specs, std::string_view text) {
  PassArguments result;
  std::vector<std::string> given;
  if (!Stripped(text).empty()) given = SplitOutsideBrackets(text);
  for (const std::string& item : given) {
    const size_t equals = item.find('=');
    const std::string name = Stripped(item.substr(0, equals));
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ArgumentSpec& s) { return s.name == name; });
    if (spec == specs.end())
      return absl::InvalidArgumentError(Concat("no argument '", name, "'; there are: ", NamesOf(specs)));
    if (equals == std::string::npos) return absl::InvalidArgumentError(Concat("'", item, "' must be ", name, "=VALUE"));
    const std::string value = Unquoted(Stripped(item.substr(equals + 1)));
    if (const std::string_view right = WhatIsWrong(spec->kind, value); !right.empty())
      return absl::InvalidArgumentError(Concat("argument '", name, "' is '", value, "'; it must be ", right));
    std::vector<std::string>& values = result.values_[name];
    if (!values.empty() && spec->kind != ArgumentKind::kTexts)
      return absl::InvalidArgumentError(Concat("argument '", name, "' is given twice"));
    values.push_back(value);
  }
  for (const ArgumentSpec& spec : specs) {
    std::vector<std::string>& values = result.values_[std::string(spec.name)];
    if (!values.empty()) continue;
    if (spec.required) return absl::InvalidArgumentError(Concat("argument '", spec.name, "' is missing: ", spec.help));
    if (spec.kind != ArgumentKind::kTexts) values.push_back(std::string(spec.otherwise));
  }
  return result;
}

const std::vector<std::string>& PassArguments::Texts(std::string_view name) const {
  const auto it = values_.find(name);
  CHECK(it != values_.end()) << "the pass has no argument '" << std::string(name) << "'";
  return it->second;
}

const std::string& PassArguments::Text(std::string_view name) const { return Texts(name).front(); }

int64_t PassArguments::Count(std::string_view name) const {
  int64_t number = 0;
  CHECK(absl::SimpleAtoi(Text(name), &number));
  return number;
}

bool PassArguments::Flag(std::string_view name) const { return Text(name) == "true"; }

}  // namespace halftone
