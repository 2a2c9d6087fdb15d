#include "passes/export/merges.h"

namespace halftone {

Rules MergeRules(Dialect dialect) {
  Rules rules;
  if (dialect != Dialect::kOnnxRuntime) return rules;
  rules.push_back(MakeMergeAttention());
  rules.push_back(MakeMergeBiasGelu());
  rules.push_back(MakeMergeSkipLayerNorm());
  return rules;
}

}  // namespace halftone
