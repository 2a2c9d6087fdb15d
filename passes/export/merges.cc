// SPDX-License-Identifier: Apache-2.0
#include "passes/export/merges.h"

namespace halftone {

Rules MergeRules(const FileDialect& file) {
  Rules rules;
  using enum FileFeature;
  if (file.has(kMergedAttention)) rules.push_back(MakeMergeAttention(file));
  if (file.has(kMergedBiasGelu)) rules.push_back(MakeMergeBiasGelu());
  if (file.has(kMergedSkipLayerNorm)) rules.push_back(MakeMergeSkipLayerNorm());
  return rules;
}

}  // namespace halftone
