// SPDX-License-Identifier: Apache-2.0
// The wrong fields of a request, collected so that the client learns of all at once.

#ifndef HALFTONE_SERVER_CORE_VIOLATIONS_H_
#define HALFTONE_SERVER_CORE_VIOLATIONS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "server/core/errors.h"

namespace halftone::server {

// Not thread-safe.
class Violations {
 public:
  void Add(std::string field, std::string description) {
    violations_.push_back({std::move(field), std::move(description)});
  }

  // NaN is never in a range.
  void CheckNumber(std::string field, double value, double low, double high, std::string_view allowed) {
    if (!(value >= low && value <= high)) Add(std::move(field), Concat("is ", value, ": ", allowed, " is allowed"));
  }

  std::vector<FieldViolation> Take() { return std::move(violations_); }

 private:
  std::vector<FieldViolation> violations_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_VIOLATIONS_H_
