// The fusing rules, in order. Each asks the target before it fuses. A new one is one line of rules.inc.
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
// A fixed point of their own behind those: they would take what another fusion needs a moment later.
Rules LastFusionRules();
// Those that quantize_linear and dequantize_linear between the nodes kept apart, for behind FoldQuantization.
Rules IntegerFusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RULES_H_
