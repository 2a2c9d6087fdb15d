// SPDX-License-Identifier: Apache-2.0
// Finds the rule of a policy that matches a node.
#ifndef HALFTONE_PASSES_PRECISION_RULE_MATCHER_H_
#define HALFTONE_PASSES_PRECISION_RULE_MATCHER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/precision/policy_rules.h"
#include "re2/re2.h"

namespace halftone {

// The rules with their expressions compiled. `rules` must outlive it. Thread-compatible.
class RuleMatcher {
 public:
  // Errors: those of CheckPolicyRules.
  static absl::StatusOr<RuleMatcher> Make(const PolicyRules& rules);

  // The index in rules.nodes of the first rule that matches the node, or the imported node from which it was made; -1
  // if there is none.
  int FirstMatch(const Graph& graph, const Ancestry& ancestry, NodeId id) const;

 private:
  explicit RuleMatcher(const PolicyRules& rules) : rules_(rules) {}

  const PolicyRules& rules_;
  std::vector<std::unique_ptr<const re2::RE2>> patterns_;  // of rules_.nodes; RE2 cannot be moved
};

// "rule 'conv.*'", "rule op=Conv2D".
std::string DescribeRule(const PolicyRule& rule);

// 8, 16 or 32; 0 if the type is not a precision.
int BitsOfPrecision(DataType type);

// Convolutions, matmuls and recurrent layers: the layers of keep_first and keep_last.
bool IsLayer(OpKind op);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_RULE_MATCHER_H_
