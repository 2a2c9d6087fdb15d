// SPDX-License-Identifier: Apache-2.0
// Checks of Int8Policy that need no server.
#ifndef HALFTONE_CLIENT_INT8_POLICY_H_
#define HALFTONE_CLIENT_INT8_POLICY_H_

#include <string>
#include <vector>

#include "halftone/v1/policy.pb.h"

namespace halftone::client {

struct Int8Problem {
  std::string field;  // of Int8Policy: "percentile"
  std::string what;   // says what would be right
};

// Every field with an unknown value, a number out of its limits or a contradiction to another field. Thread-safe.
std::vector<Int8Problem> CheckInt8Policy(const v1::Int8Policy& policy);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_INT8_POLICY_H_
