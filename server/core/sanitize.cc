// SPDX-License-Identifier: Apache-2.0
#include "server/core/sanitize.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone::server {
namespace {

constexpr size_t kMaxLines = 8;
constexpr size_t kMaxBytes = 2000;

bool IsPathCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("._+@=-/").find(c) != std::string_view::npos;
}

// "/a/b/c" -> "c"; "/a" and "a/b" stay.
std::string CutPaths(std::string_view text) {
  std::string cut;
  size_t i = 0;
  while (i < text.size()) {
    const bool starts = text[i] == '/' && (i == 0 || !IsPathCharacter(text[i - 1]));
    if (!starts) {
      cut.push_back(text[i++]);
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsPathCharacter(text[end])) ++end;
    const std::string_view path = text.substr(i, end - i);
    const size_t last = path.rfind('/');
    cut.append(last == 0 ? path : path.substr(last + 1));
    i = end;
  }
  return cut;
}

// Bytes above ASCII are kept only when all of the text is UTF-8, which protobuf's parser checks for string fields; what
// comes from stderr is not checked by anybody, so there they are replaced.
std::string Printable(std::string_view text, bool ascii_only) {
  std::string printable(text);
  for (char& c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f || (ascii_only && byte >= 0x80)) c = '?';
  }
  return printable;
}

std::string ReplacePaths(std::string_view text, const PathNames& names) {
  return absl::StrReplaceAll(AbslView(text), names);  // prefers the longest match
}

}  // namespace

std::string HidePaths(std::string_view text, const PathNames& names) {
  return Printable(ReplacePaths(text, names), /*ascii_only=*/false);
}

std::string LastLines(std::string_view text, const PathNames& names) {
  std::vector<std::string> lines =
      absl::StrSplit(Printable(CutPaths(ReplacePaths(text, names)), /*ascii_only=*/true), '\n', absl::SkipWhitespace());
  if (lines.size() > kMaxLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMaxLines));
  std::string last = absl::StrJoin(lines, "\n");
  if (last.size() > kMaxBytes) last.erase(0, last.size() - kMaxBytes);
  return last;
}

}  // namespace halftone::server
