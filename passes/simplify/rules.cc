#include "passes/simplify/rules.h"

namespace halftone {

Rules SimplifyRules() {
  Rules rules;
  rules.push_back(MakeInlineCall());
  rules.push_back(MakeInlineBranch());
  rules.push_back(MakeRemoveIdentity());
  rules.push_back(MakeRemoveDropout());
  rules.push_back(MakeConvertGemm());  // one kind of matrix product is left for the fusions
  return rules;
}

}  // namespace halftone
