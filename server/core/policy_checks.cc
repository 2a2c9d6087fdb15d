// SPDX-License-Identifier: Apache-2.0
#include "server/core/policy_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace halftone::server {
namespace {

constexpr double kMedian = 50;
constexpr double kPercent = 100;
constexpr double kMostDecibels = 1000;
constexpr double kMaxTop1Drop = 0.5;
constexpr double kMaxBudgetSeconds = 24 * 3600;
constexpr int kMaxRules = 10'000;
constexpr size_t kMaxPatternBytes = 1024;
constexpr int kMaxPasses = 1000;
constexpr int kMaxListedOps = 1000;
constexpr size_t kMaxPassBytes = 10'000;

void CheckRule(const std::string& path, const v1::NodeRule& rule, Violations& violations) {
  if (rule.match().empty() && rule.op().empty() && rule.name().empty()) {
    violations.Add(path + ".match", "is empty, as op and name are: one of them should say which nodes");
  }
  for (const auto& [field, text] :
       {std::pair("match", &rule.match()), std::pair("op", &rule.op()), std::pair("name", &rule.name())}) {
    if (text->size() > kMaxPatternBytes) {
      violations.Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
    }
  }
  const bool bounded =
      rule.min_precision() != v1::PRECISION_UNSPECIFIED || rule.max_precision() != v1::PRECISION_UNSPECIFIED;
  for (const auto& [field, precision] :
       {std::pair("precision", rule.precision()), std::pair("min_precision", rule.min_precision()),
        std::pair("max_precision", rule.max_precision())}) {
    const bool needed = !bounded && field == std::string("precision");
    if (precision == v1::PRECISION_UNSPECIFIED && !needed) continue;
    if (precision != v1::PRECISION_FP32 && precision != v1::PRECISION_BF16 && precision != v1::PRECISION_FP16 &&
        precision != v1::PRECISION_INT8) {
      violations.Add(absl::StrCat(path, ".", field), "should be fp32, bf16, fp16 or int8");
    }
  }
}

void CheckGoal(const std::string& path, const v1::AccuracyGoal& goal, Violations& violations) {
  if (goal.has_top1_drop()) {
    violations.CheckNumber(path + ".top1_drop", goal.top1_drop(), 0, kMaxTop1Drop,
                           "a share, 0 to 0.5 (0.01: one percentage point),");
  }
  if (goal.has_sqnr())
    violations.CheckNumber(path + ".sqnr", goal.sqnr(), -kMostDecibels, kMostDecibels, "dB, -1000 to 1000");
  if (goal.has_cosine()) violations.CheckNumber(path + ".cosine", goal.cosine(), -1, 1, "-1 to 1");
}

// The worker knows the calibration methods.
void CheckInt8(const std::string& path, const v1::Int8Policy& int8, Violations& violations) {
  for (const auto& [field, text] :
       {std::pair("calibration_method", &int8.calibration_method()), std::pair("activations", &int8.activations())}) {
    if (text->size() > kMaxPatternBytes) {
      violations.Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
    }
  }
  if (int8.percentile() != 0 && int8.calibration_method() != "percentile") {
    violations.Add(path + ".percentile", "needs calibration_method \"percentile\"");
  } else if (int8.percentile() != 0 && !(int8.percentile() > kMedian && int8.percentile() <= kPercent)) {
    violations.Add(path + ".percentile", Concat("is ", int8.percentile(), ": above 50 and up to 100 is allowed"));
  }
  const v1::Precision fallback = int8.fallback_precision();
  if (fallback != v1::PRECISION_UNSPECIFIED && fallback != v1::PRECISION_FP32 && fallback != v1::PRECISION_BF16) {
    violations.Add(path + ".fallback_precision", "should be fp32 or bf16");
  }
  if (!v1::QuantFormat_IsValid(int8.quant_format()))
    violations.Add(path + ".quant_format", "is no known format: qdq or qoperator");
  if (!v1::Int8Mode_IsValid(int8.mode()))
    violations.Add(path + ".mode", "is no known mode: static, dynamic or weight-only");
  if (int8.has_trim_ranges()) {
    violations.CheckNumber(path + ".trim_ranges", int8.trim_ranges(), 0, kMedian, "percent, 0 to 50");
  }
  if (int8.has_accuracy_goal()) CheckGoal(path + ".accuracy_goal", int8.accuracy_goal(), violations);
  violations.CheckNumber(path + ".budget_seconds", int8.budget_seconds(), 0, kMaxBudgetSeconds, "seconds, 0 to 86400");
  if (int8.budget_seconds() > 0 && !int8.has_accuracy_goal() && !int8.sensitivity()) {
    violations.Add(path + ".budget_seconds", "needs accuracy_goal or sensitivity");
  }
}

}  // namespace

void CheckPolicy(const std::string& path, const v1::Policy& policy, Violations& violations) {
  if (!v1::Planner_IsValid(policy.planner()))
    violations.Add(path + ".planner", "is no known planner: lists or placement");
  for (int i = 0; i < policy.precisions_size(); ++i) {
    const v1::Precision precision = policy.precisions(i);
    if (!v1::Precision_IsValid(precision) || precision == v1::PRECISION_UNSPECIFIED) {
      violations.Add(absl::StrCat(path, ".precisions[", i, "]"),
                     "is no known precision: original, fp32, bf16, fp16 or int8");
    }
  }
  if (policy.has_int8()) CheckInt8(path + ".int8", policy.int8(), violations);
  if (!v1::Dialect_IsValid(policy.dialect())) {
    violations.Add(path + ".dialect", "is no known dialect: portable, tensorflow, itex or onnxruntime");
  }
  if (policy.passes_size() > kMaxPasses)
    violations.Add(path + ".passes", absl::StrCat("has over ", kMaxPasses, " passes"));
  for (int i = 0; i < std::min(policy.passes_size(), kMaxPasses); ++i) {
    const std::string at = absl::StrCat(path, ".passes[", i, "]");
    if (policy.passes(i).empty()) violations.Add(at, "is empty: it should be a pass, as \"fold_batch_norms\"");
    if (policy.passes(i).size() > kMaxPassBytes) violations.Add(at, absl::StrCat("is over ", kMaxPassBytes, " bytes"));
  }
  if (policy.nodes_size() > kMaxRules) violations.Add(path + ".nodes", absl::StrCat("has over ", kMaxRules, " rules"));
  for (int i = 0; i < std::min(policy.nodes_size(), kMaxRules); ++i) {
    const v1::NodeRule& rule = policy.nodes(i);
    const std::string at = absl::StrCat(path, ".nodes[", i, "]");
    CheckRule(at, rule, violations);
  }
  if (policy.op_types_size() > kMaxListedOps) {
    violations.Add(path + ".op_types", absl::StrCat("has over ", kMaxListedOps, " ops"));
  }
  for (const auto& [field, text] :
       {std::pair("lists_version", &policy.lists_version()), std::pair("lists_level", &policy.lists_level())}) {
    if (text->size() > kMaxPatternBytes) {
      violations.Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
    }
  }
  if (!v1::Policy::TargetRuntime_IsValid(policy.target_runtime())) {
    violations.Add(path + ".target_runtime", "is no known target runtime: any or onnxruntime");
  }
}

}  // namespace halftone::server
