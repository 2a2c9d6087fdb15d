// SPDX-License-Identifier: Apache-2.0
// The policy of a job as the optimizer's options.
#ifndef HALFTONE_SERVER_WORKER_CONVERT_POLICY_H_
#define HALFTONE_SERVER_WORKER_CONVERT_POLICY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "halftone/v1/policy.pb.h"
#include "optimizer/options.h"

namespace halftone::worker {

// All of the policy but its precisions. REQUIRES: options.model is set.
// Errors: OptionsError, e.g. for a dialect that the model's format does not have.
absl::Status SetPolicy(const v1::Policy& policy, OptimizeOptions& options);

// The precisions beside fp32 that the policy wants, in the order of Precision; bf16 by default.
std::vector<VariantKind> ToPrecisions(const v1::Policy& policy);
// In the policy's order; fp32 and bf16 by default.
std::vector<VariantKind> ToProfiled(const v1::Policy& policy);

// Of the policy as JSON; "" where there is none.
std::string PolicySha256(const v1::Policy& policy);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_CONVERT_POLICY_H_
