// Many graphs, one after the other.
#ifndef HALFTONE_TESTS_FUZZ_RUN_H_
#define HALFTONE_TESTS_FUZZ_RUN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/check.h"

namespace halftone::fuzz {

// Ops that can be tested, and why the others cannot ("no reference function", "no generator", ...). In OpKind's order.
struct Coverage {
  std::vector<OpKind> ops;
  std::map<std::string, std::string> not_covered;
};
Coverage FindCoverage(const Subject& subject);

// The graph of this seed: `ops` come in turn, so that n / 4 seeds in a row have every one of n ops, each followed at
// times by what is fused into it. A status that is not OK: what a generator, shape rule or reference function refused.
absl::StatusOr<Case> MakeCase(uint64_t seed, const std::vector<OpKind>& ops);

struct Failure {
  uint64_t seed = 0;
  std::string text;  // stage, problem, the minimized graph
  int nodes = 0;     // that compute, in it
};

struct Totals {
  int graphs = 0;
  int onnx = 0;  // went through a file of that format
  int graphdef = 0;
  std::map<OpKind, int> nodes;
  std::map<std::string, int> cannot_run;
};

// nullopt: nothing was found. Counts into `totals`.
std::optional<Failure> TrySeed(uint64_t seed, const Coverage& coverage, const Subject& subject, Totals& totals);

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_RUN_H_
