// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/rules.h"

namespace halftone {

Rules FusionRules() {
  Rules rules;
#define RULE(Name) rules.push_back(Make##Name());
#include "passes/fusion/rules.inc"
#undef RULE
  return rules;
}

Rules LastFusionRules() {
  Rules rules;
#define RULE(Name) rules.push_back(Make##Name());
#include "passes/fusion/last_rules.inc"
#undef RULE
  return rules;
}

Rules IntegerFusionRules() {
  Rules rules;
  rules.push_back(MakeFuseChannelShuffle());
  return rules;
}

}  // namespace halftone
