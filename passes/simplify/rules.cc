// SPDX-License-Identifier: Apache-2.0
#include "passes/simplify/rules.h"

namespace halftone {

Rules SimplifyRules() {
  Rules rules;
#define RULE(Name) rules.push_back(Make##Name());
#include "passes/simplify/rules.inc"
#undef RULE
  return rules;
}

}  // namespace halftone
