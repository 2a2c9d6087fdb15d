#include "passes/precision/conversions.h"

namespace halftone {

Rules ConversionRules() {
  Rules rules;
  rules.push_back(MakeFoldCast());
  rules.push_back(MakeMergeCasts());
  rules.push_back(MakeRemoveCast());  // after merging: a chain may end in the type it began with
  return rules;
}

}  // namespace halftone
