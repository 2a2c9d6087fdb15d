// SPDX-License-Identifier: Apache-2.0
// The fusion rules, in order. Each asks the target before it fuses. A new rule is one line in rules.inc.
#ifndef HALFTONE_PASSES_FUSION_RULES_H_
#define HALFTONE_PASSES_FUSION_RULES_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/fusion/last_rules.inc"
#include "passes/fusion/rules.inc"
#undef RULE

Rules FusionRules();
// Run to a fixed point after those: earlier they would consume ops that another fusion still needs.
Rules LastFusionRules();
// The fusions that quantize_linear and dequantize_linear nodes prevented; run after FoldQuantization.
Rules IntegerFusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RULES_H_
