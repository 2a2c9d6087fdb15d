// SPDX-License-Identifier: Apache-2.0
// What a dialect says as one node although the fused graph has several: rules that run after the splits, before the
// nodes are spelled.
#ifndef HALFTONE_PASSES_EXPORT_MERGES_H_
#define HALFTONE_PASSES_EXPORT_MERGES_H_

#include <memory>

#include "ir/file_dialect.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

std::unique_ptr<RewriteRule> MakeMergeAttention(const FileDialect& file);
std::unique_ptr<RewriteRule> MakeMergeBiasGelu();
std::unique_ptr<RewriteRule> MakeMergeSkipLayerNorm();

// In order; most dialects have none.
Rules MergeRules(const FileDialect& file);

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_MERGES_H_
