// What can be wrong with a policy's int8 before any server is asked.
#ifndef HALFTONE_CLIENT_INT8_POLICY_H_
#define HALFTONE_CLIENT_INT8_POLICY_H_

#include <string>
#include <vector>

#include "halftone/v1/policy.pb.h"

namespace halftone::client {

struct Int8Problem {
  std::string field;  // of Int8Policy: "percentile"
  std::string what;   // and what would be right
};

// Every field that has an unknown word or a number out of its limits, or that contradicts another one; in the order of
// the message. Thread-safe.
std::vector<Int8Problem> CheckInt8Policy(const v1::Int8Policy& policy);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_INT8_POLICY_H_
