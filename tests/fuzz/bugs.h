// Ten broken subjects: each is halftone with one part replaced by a wrong one, of the kinds that code like ours has
// had. The product has no switch for any of this.
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
