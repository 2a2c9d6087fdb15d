// Rules that clean up after a change of precision, in order. A new one is one line of conversions.inc.
#ifndef HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
#define HALFTONE_PASSES_PRECISION_CONVERSIONS_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/precision/conversions.inc"
#undef RULE

Rules ConversionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
