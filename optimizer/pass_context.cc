// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass_context.h"

#include <algorithm>

#include "base/status.h"

namespace halftone {

absl::StatusOr<PassContext> MakeContext(const Target& target, const OptimizeOptions& options, RewriteLog& log) {
  PassContext context{.target = target, .log = &log};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  context.equivalence.enabled = options.verify_passes;
  return context;
}

void TakeResults(const PassContext& context, RewriteSummary& rewrites, std::vector<std::string>& warnings) {
  AddRewrites(context, rewrites);
  for (const std::string& note : context.notes) {
    if (std::find(warnings.begin(), warnings.end(), note) == warnings.end()) warnings.push_back(note);
  }
}

}  // namespace halftone
