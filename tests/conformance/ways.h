// One backend test, run in every way that a model goes through halftone.
#ifndef HALFTONE_TESTS_CONFORMANCE_WAYS_H_
#define HALFTONE_TESTS_CONFORMANCE_WAYS_H_

#include <string>

#include "tests/conformance/backend_tests.h"

namespace halftone {

// "" if the test passes in all ways, else the first that fails and why: "optimized: output 0 'y': [0,1]: 3 against 4".
// The ways, in order:
//   import      bytes -> graph
//   engine      the graph as imported
//   reference   the same, by the reference functions only (not the light nets: hours)
//   optimized   after the optimize pipeline
//   round trip  import -> export -> import: the same bits as "engine"
//   rewritten   what a client gets back: optimized, written, read again, and optimized again
std::string CheckTest(const BackendTest& test, int threads);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_WAYS_H_
