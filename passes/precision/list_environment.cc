// The list edits of TensorFlow's environment variables.

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "passes/precision/lists_planner.h"

namespace halftone {
namespace {

struct Word {
  const char* name;
  ListEdit ListEdits::* list;
};
constexpr Word kWords[] = {
    {"ALLOWLIST", &ListEdits::allow}, {"INFERLIST", &ListEdits::infer}, {"DENYLIST", &ListEdits::deny},
    {"CLEARLIST", &ListEdits::clear}, {"WHITELIST", &ListEdits::allow}, {"GRAYLIST", &ListEdits::infer},
    {"BLACKLIST", &ListEdits::deny},
};

void Append(const std::optional<std::string>& text, std::vector<std::string>& ops) {
  if (!text.has_value()) return;
  for (const absl::string_view piece : absl::StrSplit(*text, ',')) {
    const absl::string_view op = absl::StripAsciiWhitespace(piece);
    if (!op.empty()) ops.emplace_back(op);
  }
}

}  // namespace

ListEdits ListEditsFromEnvironment(const std::function<std::optional<std::string>(const std::string&)>& lookup) {
  ListEdits edits;
  for (const Word& word : kWords) {
    const std::string prefix = std::string("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_") + word.name;
    Append(lookup(prefix + "_ADD"), (edits.*word.list).add);
    Append(lookup(prefix + "_REMOVE"), (edits.*word.list).remove);
  }
  return edits;
}

ListEdits ListEditsFromEnvironment() {
  return ListEditsFromEnvironment([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace halftone
