// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/rule_matcher.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/precision/op_lists.h"

namespace halftone {
namespace {

// Ops are compared without case and underscores, and "normalization" is "norm": "BatchNormalization" is batch_norm.
std::string Plain(std::string_view op) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(AbslView(op)), {{"_", ""}, {"normalization", "norm"}});
}

absl::StatusOr<std::unique_ptr<const re2::RE2>> Compile(const std::string& pattern) {
  constexpr size_t kLongestPattern = 1000;
  if (pattern.size() > kLongestPattern) {
    return absl::InvalidArgumentError(Concat("a node rule is longer than ", kLongestPattern, " characters"));
  }
  auto compiled = std::make_unique<const re2::RE2>(pattern, re2::RE2::Quiet);
  if (compiled->ok()) return compiled;
  return absl::InvalidArgumentError(
      Concat("node rule '", pattern, "' is not a valid regular expression (RE2): ", compiled->error()));
}

bool Matches(const Graph& g, const PolicyRule& rule, const re2::RE2& pattern, NodeId id) {
  if (!rule.op.empty()) {
    const std::string op = Plain(rule.op);
    const Node& node = g.node(id);
    if (op != Plain(OpName(node.op)) && op != Plain(node.spelling) && op != Plain(TensorFlowOp(g, id))) return false;
  }
  const std::string label = g.Label(id);
  if (!rule.name.empty() && rule.name != label) return false;
  return rule.match.empty() || re2::RE2::FullMatch(label, pattern);
}

}  // namespace

absl::StatusOr<RuleMatcher> RuleMatcher::Make(const PolicyRules& rules) {
  HALFTONE_RETURN_IF_ERROR(CheckPolicyRules(rules));
  RuleMatcher matcher(rules);
  for (const PolicyRule& rule : rules.nodes) {
    HALFTONE_ASSIGN_OR_RETURN(matcher.patterns_.emplace_back(), Compile(rule.match));
  }
  return matcher;
}

int RuleMatcher::FirstMatch(const Graph& graph, const Ancestry& ancestry, NodeId id) const {
  const auto origin = ancestry.origins.find(id);
  const bool has_origin =
      ancestry.graph != nullptr && origin != ancestry.origins.end() && ancestry.graph->alive(origin->second);
  for (size_t i = 0; i < patterns_.size(); ++i) {
    const PolicyRule& rule = rules_.nodes[i];
    if (Matches(graph, rule, *patterns_[i], id)) return static_cast<int>(i);
    if (has_origin && Matches(*ancestry.graph, rule, *patterns_[i], origin->second)) return static_cast<int>(i);
  }
  return -1;
}

std::string DescribeRule(const PolicyRule& rule) {
  std::string text = "rule";
  if (!rule.op.empty()) text += Concat(" op=", rule.op);
  if (!rule.name.empty()) text += Concat(" name=", rule.name);
  if (!rule.match.empty()) text += Concat(" '", rule.match, "'");
  return text;
}

int BitsOfPrecision(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUInt8:
      return 8;
    case DataType::kBFloat16:
    case DataType::kFloat16:
      return 16;
    case DataType::kFloat32:
      return 32;
    default:
      return 0;
  }
}

bool IsLayer(OpKind op) {
  const OpGroup group = Info(op).group;
  return group == OpGroup::kContraction || group == OpGroup::kRecurrent || op == OpKind::kAttention;
}

absl::Status CheckPolicyRules(const PolicyRules& rules) {
  for (const PolicyRule& rule : rules.nodes) {
    const auto error = [&](std::string_view what) {
      return absl::InvalidArgumentError(Concat("node ", DescribeRule(rule), ": ", what));
    };
    if (rule.op.empty() && rule.name.empty() && rule.match.empty()) return error("give op, name or match");
    if (!rule.precision && !rule.min_precision && !rule.max_precision)
      return error("give precision, min_precision or max_precision");
    if (rule.precision && (rule.min_precision || rule.max_precision))
      return error("give precision, or min_precision and max_precision, not both");
    for (const auto& wanted : {rule.precision, rule.min_precision, rule.max_precision}) {
      if (wanted && BitsOfPrecision(*wanted) == 0) return error("a node's precision is fp32, bf16, fp16 or int8");
    }
    if (rule.min_precision && rule.max_precision &&
        BitsOfPrecision(*rule.min_precision) > BitsOfPrecision(*rule.max_precision)) {
      return error("min_precision is above max_precision");
    }
    HALFTONE_RETURN_IF_ERROR(Compile(rule.match).status());
  }
  return absl::OkStatus();
}

}  // namespace halftone
