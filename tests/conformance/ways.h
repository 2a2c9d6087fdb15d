// SPDX-License-Identifier: Apache-2.0
// Runs one backend test in every way in which Halftone processes a model.
#ifndef HALFTONE_TESTS_CONFORMANCE_WAYS_H_
#define HALFTONE_TESTS_CONFORMANCE_WAYS_H_

#include <string>

#include "tests/conformance/backend_tests.h"

namespace halftone {

// "" if the test passes in all ways, else the first that fails and why: "optimized: output 0 'y': [0,1]: 3 against 4".
// The ways, in order:
//
//   import      Importing the model.
//   engine      The imported graph.
//   reference   The same by reference functions only (not for light models, which would take hours).
//   optimized   After the optimize pipeline.
//   round trip  After export and import; outputs must be bit-identical to "engine".
//   rewritten   The file that a client gets: after optimizer, export, import and, to run it, the optimizer again.
std::string CheckTest(const BackendTest& test, int threads);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_WAYS_H_
