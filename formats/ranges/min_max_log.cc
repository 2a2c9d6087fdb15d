// SPDX-License-Identifier: Apache-2.0
#include "formats/ranges/min_max_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kPrint = "__print__";

// What a record says: "__min:" and so on, with as many numbers in brackets.
struct RecordKind {
  std::string_view word;
  bool min = false;
  bool max = false;
};
constexpr RecordKind kRecordKinds[] = {
    {"__requant_min_max:", true, true}, {"__min:", true, false}, {"__max:", false, true}};

// "[1.5]" from the front of `text`, which loses it.
std::optional<float> TakeNumber(std::string_view& text) {
  const size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(1, end - 1);
  float number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(end + 1);
  return number;
}

// The numbers of a record, if only numbers follow its keyword.
std::optional<std::vector<float>> NumbersOf(const RecordKind& kind, std::string_view rest) {
  std::vector<float> numbers;
  for (int i = 0; i < (kind.min ? 1 : 0) + (kind.max ? 1 : 0); ++i) {
    const std::optional<float> number = TakeNumber(rest);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  const bool ends = rest.find_first_not_of(" \r") == std::string_view::npos;
  return ends ? std::optional(numbers) : std::nullopt;
}

class LogReader {
 public:
  explicit LogReader(std::string_view label) : label_(label) {}

  absl::Status ReadLine(std::string_view line, int number) {
    const std::vector<absl::string_view> parts = absl::StrSplit(AbslView(line), ';');
    bool unread = false;
    for (size_t i = 1; i < parts.size(); ++i) {
      for (const RecordKind& kind : kRecordKinds) {
        const std::string_view record = StdView(parts[i]);
        if (!record.starts_with(kind.word)) continue;
        const std::optional<std::vector<float>> numbers = NumbersOf(kind, record.substr(kind.word.size()));
        std::string_view name = StdView(parts[i - 1]);
        if (!numbers.has_value() || !name.ends_with(kPrint)) {
          unread = true;
          continue;
        }
        name.remove_suffix(kPrint.size());
        for (const float x : *numbers) {
          if (std::isfinite(x)) continue;
          return absl::InvalidArgumentError(
              Concat(label_, ":", number, ": node '", name, "' printed ", x, ", which is no end of a range"));
        }
        LoggedNode& node = NodeOf(name);
        if (kind.min) node.mins.push_back(numbers->front());
        if (kind.max) node.maxs.push_back(numbers->back());
      }
    }
    if (unread) log_.unread_lines.push_back(number);
    return absl::OkStatus();
  }

  MinMaxLog log() && { return std::move(log_); }

 private:
  LoggedNode& NodeOf(std::string_view name) {
    const auto [it, is_new] = index_.try_emplace(std::string(name), log_.nodes.size());
    if (is_new) log_.nodes.push_back({std::string(name), {}, {}});
    return log_.nodes[it->second];
  }

  const std::string_view label_;
  MinMaxLog log_;
  std::map<std::string, size_t> index_;
};

}  // namespace

absl::StatusOr<MinMaxLog> ParseMinMaxLog(std::string_view text, std::string_view label) {
  LogReader reader(label);
  int number = 0;
  for (const absl::string_view piece : absl::StrSplit(AbslView(text), '\n')) {
    const std::string_view line = StdView(piece);
    ++number;
    if (line.find(kPrint) != std::string_view::npos) HALFTONE_RETURN_IF_ERROR(reader.ReadLine(line, number));
  }
  MinMaxLog log = std::move(reader).log();
  if (log.nodes.empty()) {
    return absl::InvalidArgumentError(
        Concat(label, ": no line has a range such as ;NODE__print__;__requant_min_max:[0][1]"));
  }
  return log;
}

TrimmedRange Trim(const LoggedNode& node, const LogTrimming& trimming) {
  std::vector<float> mins = node.mins, maxs = node.maxs;
  std::ranges::sort(mins);
  std::ranges::sort(maxs);
  // In f32, as TensorFlow does it: with few records one more or less would change the range.
  const auto index = [](size_t count, float share) {
    const long at = std::lround(static_cast<float>(count) * share);
    return static_cast<size_t>(std::clamp<long>(at, 0, static_cast<long>(count) - 1));
  };
  return {mins[index(mins.size(), trimming.min_percentile / 100.0f)],
          maxs[index(maxs.size(), 1.0f - trimming.max_percentile / 100.0f)]};
}

}  // namespace halftone
