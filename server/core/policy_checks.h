// SPDX-License-Identifier: Apache-2.0
// Checks the form of the Policy of a job: known enum values, numbers in range, sizes.

#ifndef HALFTONE_SERVER_CORE_POLICY_CHECKS_H_
#define HALFTONE_SERVER_CORE_POLICY_CHECKS_H_

#include <string>

#include "halftone/v1/policy.pb.h"
#include "server/core/violations.h"

namespace halftone::server {

// Field names in `violations` begin with `path`.
void CheckPolicy(const std::string& path, const v1::Policy& policy, Violations& violations);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_POLICY_CHECKS_H_
