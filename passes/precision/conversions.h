// SPDX-License-Identifier: Apache-2.0
// Rules that simplify casts, in order: after ApplyPrecision, and in files that contain casts. A new rule is one line in
// conversions.inc.
#ifndef HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
#define HALFTONE_PASSES_PRECISION_CONVERSIONS_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

#define RULE(Name) std::unique_ptr<RewriteRule> Make##Name();
#include "passes/precision/conversions.inc"
#undef RULE

Rules ConversionRules();
// fuse-cast-into-contraction, which gives a contraction the type of its bias, residual and activation, and the fusions
// that become possible by it. Run after the other fusions, which need one type per node, and before the last ones.
Rules MixedFusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
