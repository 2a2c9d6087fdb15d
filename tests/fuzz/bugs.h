// SPDX-License-Identifier: Apache-2.0
// Ten injected bugs: each is a Subject in which one part of Halftone is replaced by a wrong one. The bugs are of kinds
// that inference engines have had. Halftone itself has no switch for any of them.
#ifndef HALFTONE_TESTS_FUZZ_BUGS_H_
#define HALFTONE_TESTS_FUZZ_BUGS_H_

#include <span>
#include <string_view>

#include "tests/fuzz/check.h"

namespace halftone::fuzz {

struct Bug {
  std::string_view name;
  Subject (*subject)();
};

std::span<const Bug> Bugs();

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_BUGS_H_
