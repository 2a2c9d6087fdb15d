// SPDX-License-Identifier: Apache-2.0
#include "client/suggest.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace halftone::client {
namespace {

constexpr size_t kLongestWord = 64;  // longer ones are no slips of the pen

// Least number of insertions, removals, replacements and swaps of neighbours.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Nearest(absl::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string lower = absl::AsciiStrToLower(word);
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 2);  // farther is no resemblance
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(lower, absl::AsciiStrToLower(candidate));
    if (distance < least || (distance == least && nearest.empty())) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(word, known);
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?");
  return absl::StrCat("; known are ", absl::StrJoin(known, ", "));
}

}  // namespace halftone::client
