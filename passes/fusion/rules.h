// The fusing rules, in order. Each asks the target before it fuses. A new one is one line of rules.inc.
#ifndef HALFTONE_PASSES_FUSION_RULES_H_
#define HALFTONE_PASSES_FUSION_RULES_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/fusion/rules.inc"
#undef RULE

Rules FusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RULES_H_
