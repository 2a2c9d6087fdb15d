// SPDX-License-Identifier: Apache-2.0
// TensorFlow's environment variables for the lists of auto_mixed_precision, read where the command runs, so that they
// also reach a server elsewhere:
//
//   TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_{ALLOW,INFER,DENY,CLEAR}LIST_{ADD,REMOVE}=Op,Op,...
//
// the older names WHITELIST (allow), GRAYLIST (infer) and BLACKLIST (deny), which are read after the new ones, and
// ..._LEVEL. Where the policy wants Intel's lists: ITEX_AUTO_MIXED_PRECISION_{ALLOW,INFER,DENY,CLEAR}LIST_{ADD,REMOVE}
// in their place.
#ifndef HALFTONE_CLIENT_POLICY_ENV_H_
#define HALFTONE_CLIENT_POLICY_ENV_H_

#include <functional>
#include <string>

#include "halftone/v1/policy.pb.h"

namespace halftone::client {

// The value of a variable, nullptr when it is not set; std::getenv in a program.
using GetVariable = std::function<const char*(const std::string&)>;

// `itex`: of Intel's variables.
v1::ListEdits ListEditsFromEnvironment(const GetVariable& get, bool itex = false);

// Puts the environment's edits before those of the policy; the level where the policy has none and its planner is
// lists.
void MergeEnvironment(const GetVariable& get, v1::Policy* policy);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_POLICY_ENV_H_
