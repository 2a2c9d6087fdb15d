// Rules that clean up after a change of precision, in order.
#ifndef HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
#define HALFTONE_PASSES_PRECISION_CONVERSIONS_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

std::unique_ptr<RewriteRule> MakeRemoveCast();  // remove_cast.cc
std::unique_ptr<RewriteRule> MakeMergeCasts();  // merge_casts.cc
std::unique_ptr<RewriteRule> MakeFoldCast();    // fold_cast.cc

Rules ConversionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_CONVERSIONS_H_
