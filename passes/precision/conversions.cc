#include "passes/precision/conversions.h"

namespace halftone {

Rules ConversionRules() {
  Rules rules;
#define RULE(Name) rules.push_back(Make##Name());
#include "passes/precision/conversions.inc"
#undef RULE
  return rules;
}

}  // namespace halftone
