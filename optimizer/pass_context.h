// SPDX-License-Identifier: Apache-2.0
// What every run of a pipeline in a job starts from, and what it leaves for the report.
#ifndef HALFTONE_OPTIMIZER_PASS_CONTEXT_H_
#define HALFTONE_OPTIMIZER_PASS_CONTEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "optimizer/options.h"
#include "optimizer/rewrites.h"
#include "passes/core/pass.h"

namespace halftone {

// `log` must outlive it. Errors: INVALID_ARGUMENT for a debug switch that there is none of.
absl::StatusOr<PassContext> MakeContext(const Target& target, const OptimizeOptions& options, RewriteLog& log);

// Adds the rewrites, and the notes as warnings, each once.
void TakeResults(const PassContext& context, RewriteSummary& rewrites, std::vector<std::string>& warnings);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PASS_CONTEXT_H_
