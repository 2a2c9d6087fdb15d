// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/conversions.h"

#include "passes/fusion/rules.h"

namespace halftone {

Rules ConversionRules() {
  Rules rules;
#define RULE(Name) rules.push_back(Make##Name());
#include "passes/precision/conversions.inc"
#undef RULE
  return rules;
}

Rules MixedFusionRules() {
  Rules rules;
  rules.push_back(MakeFuseCastIntoContraction());
  rules.push_back(MakeFuseConvBias());
  rules.push_back(MakeFuseMatMulBias());
  rules.push_back(MakeFuseResidual());
  rules.push_back(MakeFuseActivation());
  rules.push_back(MakeFuseResidualAfterActivation());
  return rules;
}

}  // namespace halftone
