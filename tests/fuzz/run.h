// SPDX-License-Identifier: Apache-2.0
// Generates the graph of a seed and checks it.
#ifndef HALFTONE_TESTS_FUZZ_RUN_H_
#define HALFTONE_TESTS_FUZZ_RUN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/check.h"

namespace halftone::fuzz {

// Ops that can be tested, in OpKind's order, and why the others cannot ("no reference function", "no generator", ...).
struct Coverage {
  std::vector<OpKind> ops;
  std::map<std::string, std::string> not_covered;
};
Coverage FindCoverage(const Subject& subject);

// The graph of this seed. `ops` take turns, so that n / 4 consecutive seeds contain each of n ops; some are followed by
// ops that can be fused into them. An error is a bug of a generator, a shape rule or a reference function.
absl::StatusOr<Case> MakeCase(uint64_t seed, const std::vector<OpKind>& ops);

struct Failure {
  uint64_t seed = 0;
  std::string text;  // stage, problem, the minimized graph
  int nodes = 0;     // nodes of the minimized graph without inputs and constants
};

struct Totals {
  int graphs = 0;
  int onnx = 0;      // graphs that were written as ONNX
  int graphdef = 0;  // graphs that were written as GraphDef
  std::map<OpKind, int> nodes;
  std::map<std::string, int> cannot_run;
};

// Checks the graph of this seed and counts it in `totals`. nullopt: it did not fail.
std::optional<Failure> TrySeed(uint64_t seed, const Coverage& coverage, const Subject& subject, Totals& totals);

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_RUN_H_
