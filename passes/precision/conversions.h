// Rules that clean up casts, in order: behind a change of precision, and of a file that was written with casts. A new
// one is one line of conversions.inc.
#ifndef HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
#define HALFTONE_PASSES_PRECISION_CONVERSIONS_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/precision/conversions.inc"
#undef RULE

Rules ConversionRules();
// Of those, what brings a product to the type in which its bias, residual and activation stand, and the fusions that
// take these in then. Between the other fusions, which see one type a node, and the last ones.
Rules MixedFusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
