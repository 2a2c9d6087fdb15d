// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/primitive_line.h"

#include <cctype>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/strings.h"

namespace halftone::onednn {
namespace {

constexpr std::string_view kStart = "onednn_verbose,v1,primitive,exec,";
constexpr size_t kFields = 13;  // the time included

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(
      Concat("not a line of oneDNN about an execution (\"", kStart, "cpu,convolution,...\"): ", what));
}

// "src:f32:a:blocked:acdb::f0"
absl::StatusOr<LineTensor> ParseTensor(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 4) return Wrong(Concat("tensor '", text, "'"));
  LineTensor tensor{.role = parts[0], .type = parts[1]};
  tensor.any = parts[2].find('a') != std::string::npos;
  tensor.kind = parts[3];
  if (parts.size() > 4) tensor.tag = parts[4];
  if (parts.size() > 5 && !parts[5].empty()) {
    for (const absl::string_view part : absl::StrSplit(parts[5], 'x')) {
      int64_t stride = 0;
      if (!absl::SimpleAtoi(part, &stride)) return Wrong(Concat("strides of '", text, "'"));
      tensor.strides.push_back(stride);
    }
  }
  for (size_t i = 6; i < parts.size(); ++i) tensor.rest += Concat(i > 6 ? ":" : "", parts[i]);
  return tensor;
}

// "attr-scratchpad:user attr-post-ops:sum+eltwise_relu"; "alg:pooling_max"; "axis:1". Words without a colon are flags.
std::map<std::string, std::string> ParsePairs(absl::string_view text, absl::string_view prefix) {
  std::map<std::string, std::string> pairs;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (word.substr(0, prefix.size()) == prefix) word.remove_prefix(prefix.size());
    const size_t colon = word.find(':');
    pairs[std::string(word.substr(0, colon))] =
        colon == absl::string_view::npos ? "" : std::string(word.substr(colon + 1));
  }
  return pairs;
}

}  // namespace

const LineTensor& PrimitiveLine::tensor(std::string_view role, int n) const {
  static const LineTensor* const absent = new LineTensor;
  for (const LineTensor& one : tensors) {
    if (one.role == role && n-- == 0) return one;
  }
  return *absent;
}

std::string PrimitiveLine::setting(const std::string& name, const std::string& otherwise) const {
  const auto it = settings.find(name);
  return it == settings.end() ? otherwise : it->second;
}

absl::StatusOr<PrimitiveLine> ParsePrimitiveLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (!text.starts_with(kStart)) return Wrong(Concat("'", text.substr(0, 60), "'"));
  const std::vector<std::string> fields = absl::StrSplit(AbslView(text), ',');
  if (fields.size() != kFields) return Wrong(Concat(fields.size(), " fields, ", kFields, " are wanted"));
  PrimitiveLine line{.primitive = fields[5], .kernel = fields[6], .direction = fields[7]};
  for (const absl::string_view tensor : absl::StrSplit(fields[8], ' ', absl::SkipEmpty())) {
    HALFTONE_ASSIGN_OR_RETURN(LineTensor one, ParseTensor(tensor));
    line.tensors.push_back(std::move(one));
  }
  line.attributes = ParsePairs(fields[9], "attr-");
  line.settings = ParsePairs(fields[10], "");
  line.problem = fields[11];
  if (!absl::SimpleAtod(fields[12], &line.ms)) return Wrong(Concat("time '", fields[12], "'"));
  return line;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> ParseProblemDims(std::string_view problem) {
  std::vector<std::vector<int64_t>> result;
  for (const absl::string_view tensor : absl::StrSplit(AbslView(problem), ':')) {
    result.emplace_back();
    for (const absl::string_view part : absl::StrSplit(tensor, 'x')) {
      int64_t dim = 0;
      if (!absl::SimpleAtoi(part, &dim) || dim < 0) return Wrong(Concat("dimensions '", problem, "'"));
      result.back().push_back(dim);
    }
  }
  return result;
}

absl::StatusOr<std::map<std::string, int64_t>> ParseProblemLetters(std::string_view problem) {
  std::map<std::string, int64_t> result;
  std::string_view rest = problem;
  while (!rest.empty()) {
    if (rest.front() == '_') {
      rest.remove_prefix(1);
      continue;
    }
    size_t letters = 0, end;
    while (letters < rest.size() && std::isalpha(static_cast<unsigned char>(rest[letters])) != 0) ++letters;
    end = letters;
    while (end < rest.size() && std::isdigit(static_cast<unsigned char>(rest[end])) != 0) ++end;
    int64_t number = 0;
    if (letters == 0 || !absl::SimpleAtoi(AbslView(rest.substr(letters, end - letters)), &number)) {
      return Wrong(Concat("problem '", problem, "'"));
    }
    result[std::string(rest.substr(0, letters))] = number;
    rest.remove_prefix(end);
  }
  return result;
}

}  // namespace halftone::onednn
