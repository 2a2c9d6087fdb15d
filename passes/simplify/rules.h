// SPDX-License-Identifier: Apache-2.0
// The simplification rules, in order. A new rule is one line in rules.inc.
#ifndef HALFTONE_PASSES_SIMPLIFY_RULES_H_
#define HALFTONE_PASSES_SIMPLIFY_RULES_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/simplify/rules.inc"
#undef RULE

Rules SimplifyRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_RULES_H_
