// SPDX-License-Identifier: Apache-2.0
#include "client/int8_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::client {
namespace {

// The names of ir/value_ranges.h, but "log", which is no method.
const std::vector<std::string>& CalibrationMethods() {
  static const std::vector<std::string> names = {"min-max", "moving-average", "percentile", "entropy", "mse"};
  return names;
}

const std::vector<std::string>& ActivationTypes() {
  static const std::vector<std::string> names = {"u8", "s8"};
  return names;
}

constexpr double kMedian = 50;
constexpr double kLongestBudget = 86'400;
constexpr double kMaxTop1Drop = 0.5;

std::string UnknownValue(const std::string& value, const std::vector<std::string>& known) {
  if (value.empty() || std::find(known.begin(), known.end(), value) != known.end()) return "";
  return absl::StrCat("unknown value '", report::Printable(value), "'", DidYouMean(value, known));
}

// "" where it is in [low, high], which NaN never is.
std::string OutOf(double value, double low, double high, const char* unit) {
  if (value >= low && value <= high) return "";
  return absl::StrCat("should be ", low, " to ", high, unit, ", is ", value);
}

std::string PercentileProblem(const v1::Int8Policy& policy) {
  if (policy.percentile() == 0) return "";
  if (policy.calibration_method() != "percentile") return "needs calibration method percentile";
  const bool good = policy.percentile() > kMedian && policy.percentile() <= 100;
  return good ? "" : absl::StrCat("should be above 50 and up to 100, is ", policy.percentile());
}

std::string FallbackProblem(v1::Precision fallback) {
  const bool good =
      fallback == v1::PRECISION_UNSPECIFIED || fallback == v1::PRECISION_FP32 || fallback == v1::PRECISION_BF16;
  return good ? "" : absl::StrCat("should be fp32 or bf16, is ", report::PrecisionName(fallback));
}

std::string GoalProblem(const v1::AccuracyGoal& goal) {
  if (goal.has_top1_drop() && !(goal.top1_drop() >= 0 && goal.top1_drop() <= kMaxTop1Drop)) {
    return absl::StrCat("top1-drop is a share from 0 to 0.5, is ", goal.top1_drop(), "; one percentage point is 0.01");
  }
  if (!std::isfinite(goal.sqnr())) return "sqnr should be a finite number of dB";
  const std::string cosine = OutOf(goal.cosine(), -1, 1, "");
  return cosine.empty() ? "" : absl::StrCat("cosine ", cosine);
}

std::string BudgetProblem(const v1::Int8Policy& policy) {
  const std::string limits = OutOf(policy.budget_seconds(), 0, kLongestBudget, " seconds");
  const bool used = policy.has_accuracy_goal() || policy.sensitivity();
  if (!limits.empty() || policy.budget_seconds() == 0 || used) return limits;
  return "needs an accuracy goal or sensitivity";
}

// Modes without calibration exclude what belongs to activation ranges.
std::string ModeProblem(const v1::Int8Policy& policy) {
  if (policy.mode() != v1::INT8_MODE_DYNAMIC && policy.mode() != v1::INT8_MODE_WEIGHT_ONLY) return "";
  const std::pair<const char*, bool> of_ranges[] = {
      {"a calibration method", !policy.calibration_method().empty()},
      {"a percentile", policy.percentile() != 0},
      {"a type of activations", !policy.activations().empty()},
      {"symmetric activations", policy.symmetric()},
      {"SmoothQuant", policy.smooth_quant()},
      {"weight clipping", policy.clip_weights()},
      {"trimmed ranges", policy.has_trim_ranges()},
      {"quantization format qoperator", policy.quant_format() == v1::QUANT_FORMAT_QOPERATOR},
  };
  for (const auto& [what, is_given] : of_ranges) {
    if (is_given) return absl::StrCat(report::Int8ModeName(policy.mode()), " has no calibration and excludes ", what);
  }
  return "";
}

}  // namespace

std::vector<Int8Problem> CheckInt8Policy(const v1::Int8Policy& policy) {
  std::vector<Int8Problem> problems = {
      {"calibration_method", UnknownValue(policy.calibration_method(), CalibrationMethods())},
      {"percentile", PercentileProblem(policy)},
      {"activations", UnknownValue(policy.activations(), ActivationTypes())},
      {"fallback_precision", FallbackProblem(policy.fallback_precision())},
      {"accuracy_goal", GoalProblem(policy.accuracy_goal())},
      {"mode", ModeProblem(policy)},
      {"trim_ranges", OutOf(policy.trim_ranges(), 0, kMedian, " percent")},
      {"budget_seconds", BudgetProblem(policy)},
  };
  std::erase_if(problems, [](const Int8Problem& problem) { return problem.what.empty(); });
  return problems;
}

}  // namespace halftone::client
