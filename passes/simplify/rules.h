// The simplifying rules, in order.
#ifndef HALFTONE_PASSES_SIMPLIFY_RULES_H_
#define HALFTONE_PASSES_SIMPLIFY_RULES_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

std::unique_ptr<RewriteRule> MakeRemoveIdentity();  // remove_identity.cc
std::unique_ptr<RewriteRule> MakeRemoveDropout();   // remove_dropout.cc
std::unique_ptr<RewriteRule> MakeConvertGemm();     // convert_gemm.cc
std::unique_ptr<RewriteRule> MakeInlineBranch();    // inline_branch.cc
std::unique_ptr<RewriteRule> MakeInlineCall();      // inline_call.cc

Rules SimplifyRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_RULES_H_
