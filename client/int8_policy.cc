#include "client/int8_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::client {
namespace {

// The words of ir/value_ranges.h, of those that choose ranges.
const std::vector<std::string>& Calibrators() {
  static const std::vector<std::string> words = {"min-max", "moving-average", "percentile", "entropy",
                                                 "mean-squared-error"};
  return words;
}

const std::vector<std::string>& Activations() {
  static const std::vector<std::string> words = {"u8", "s8"};
  return words;
}

constexpr double kPoints = 100;
constexpr double kMedian = 50;
constexpr double kLongestBudget = 86'400;

std::string UnknownWord(const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || std::find(known.begin(), known.end(), word) != known.end()) return "";
  return absl::StrCat("no such word '", report::Printable(word), "'", DidYouMean(word, known));
}

// "" where it is in [low, high], which NaN never is.
std::string OutOf(double value, double low, double high, const char* unit) {
  if (value >= low && value <= high) return "";
  return absl::StrCat(low, " to ", high, unit, " is wanted, this is ", value);
}

std::string PercentileProblem(const v1::Int8Policy& policy) {
  if (policy.percentile() == 0) return "";
  if (policy.calibrator() != "percentile") return "goes with calibrator percentile";
  const bool good = policy.percentile() > 50 && policy.percentile() <= 100;
  return good ? "" : absl::StrCat("above 50 and up to 100 is wanted, this is ", policy.percentile());
}

std::string RestProblem(v1::Precision rest) {
  const bool good = rest == v1::PRECISION_UNSPECIFIED || rest == v1::FP32 || rest == v1::BF16;
  return good ? "" : absl::StrCat("fp32 or bf16 is wanted, this is ", report::PrecisionName(rest));
}

std::string BudgetProblem(const v1::Int8Policy& policy) {
  const std::string limits = OutOf(policy.budget_seconds(), 0, kLongestBudget, " seconds");
  const bool goal = policy.has_max_top1_drop() || policy.has_min_sqnr_db() || policy.has_min_cosine();
  if (!limits.empty() || policy.budget_seconds() == 0 || goal || policy.sensitivity()) return limits;
  return "goes with a goal (a top-1 drop, an SQNR or a cosine to be reached) or with sensitivity";
}

// What only ranges of samples have goes without the modes that need none.
std::string ModeProblem(const v1::Int8Policy& policy) {
  if (policy.mode() == v1::INT8_MODE_UNSPECIFIED || policy.mode() == v1::STATIC) return "";
  const std::pair<const char*, bool> of_ranges[] = {
      {"a calibrator", !policy.calibrator().empty()},
      {"a percentile", policy.percentile() != 0},
      {"integers of activations", !policy.activations().empty()},
      {"symmetric activations", policy.symmetric()},
      {"smoothing", policy.smooth()},
      {"clipping of weights", policy.clip_weights()},
      {"trimming of ranges", policy.has_trim_ranges()},
      {"operators of integers", policy.form() == v1::QOPERATOR},
  };
  for (const auto& [what, is_given] : of_ranges) {
    if (!is_given) continue;
    const char* mode = policy.mode() == v1::DYNAMIC ? "dynamic" : "weights";
    return absl::StrCat(mode, " needs no ranges of samples, and goes without ", what);
  }
  return "";
}

}  // namespace

std::vector<Int8Problem> CheckInt8Policy(const v1::Int8Policy& policy) {
  std::vector<Int8Problem> problems = {
      {"calibrator", UnknownWord(policy.calibrator(), Calibrators())},
      {"percentile", PercentileProblem(policy)},
      {"activations", UnknownWord(policy.activations(), Activations())},
      {"rest", RestProblem(policy.rest())},
      {"mode", ModeProblem(policy)},
      {"trim_ranges", OutOf(policy.trim_ranges(), 0, kMedian, " percent")},
      {"max_top1_drop", OutOf(policy.max_top1_drop(), 0, kPoints, " percentage points")},
      {"min_sqnr_db", std::isfinite(policy.min_sqnr_db()) ? "" : "a finite number of dB is wanted"},
      {"min_cosine", OutOf(policy.min_cosine(), -1, 1, "")},
      {"budget_seconds", BudgetProblem(policy)},
  };
  std::erase_if(problems, [](const Int8Problem& problem) { return problem.what.empty(); });
  return problems;
}

}  // namespace halftone::client
