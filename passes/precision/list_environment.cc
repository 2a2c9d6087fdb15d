// SPDX-License-Identifier: Apache-2.0
// The list edits of TensorFlow's environment variables, and of those of Intel's extension.

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "passes/precision/lists_options.h"

namespace halftone {
namespace {

constexpr std::string_view kTensorFlow = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";
constexpr std::string_view kItex = "ITEX_AUTO_MIXED_PRECISION_";

// In the order in which they are read; later variables edit the result of earlier ones.
struct Variable {
  std::string_view name;
  ListEdit ListEdits::* list;
  bool legacy = false;  // TensorFlow only
};
constexpr Variable kVariables[] = {
    {"ALLOWLIST", &ListEdits::allow},       {"INFERLIST", &ListEdits::infer},
    {"DENYLIST", &ListEdits::deny},         {"CLEARLIST", &ListEdits::clear},
    {"WHITELIST", &ListEdits::allow, true}, {"GRAYLIST", &ListEdits::infer, true},
    {"BLACKLIST", &ListEdits::deny, true},
};

std::vector<std::string> Ops(const std::optional<std::string>& text) {
  std::vector<std::string> ops;
  if (!text.has_value()) return ops;
  for (const absl::string_view piece : absl::StrSplit(*text, ',')) {
    const absl::string_view op = absl::StripAsciiWhitespace(piece);
    if (!op.empty()) ops.emplace_back(op);
  }
  return ops;
}

std::optional<std::string> FromProcess(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

ListEdits ListEditsFromEnvironment(const VariableLookup& lookup, ListsVersion version) {
  ListEdits edits;
  const bool itex = version == ListsVersion::kItex;
  for (const Variable& variable : kVariables) {
    if (variable.legacy && itex) continue;
    const std::string prefix = Concat(itex ? kItex : kTensorFlow, variable.name);
    ListEdit& edit = edits.*variable.list;
    for (const std::string& op : Ops(lookup(prefix + "_ADD"))) {
      std::erase(edit.remove, op);  // of a variable that was read before
      edit.add.push_back(op);
    }
    for (const std::string& op : Ops(lookup(prefix + "_REMOVE"))) edit.remove.push_back(op);
  }
  return edits;
}

ListEdits ListEditsFromEnvironment(ListsVersion version) { return ListEditsFromEnvironment(FromProcess, version); }

std::string LevelFromEnvironment(const VariableLookup& lookup) {
  return absl::AsciiStrToUpper(lookup(Concat(kTensorFlow, "LEVEL")).value_or(""));
}

}  // namespace halftone
