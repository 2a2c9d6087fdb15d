// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share: cases as text, tolerances, which steps are slow.
//
//   case "what is special" [types=f32,bf16] [slow] [reorders=N] [bf16=E]
//   graph (x: $T[1,3,7,5]) { ... }
//
// $T is replaced by each type. "slow": steps may run by their reference function. The tolerance is that of the op's
// row; below f32 one rounding of the result more, and "bf16=E" where what lies between is rounded too: the absolute
// error that is allowed there.
#ifndef HALFTONE_TESTS_KERNELS_CASES_H_
#define HALFTONE_TESTS_KERNELS_CASES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "runtime/plan/plan.h"

namespace halftone::testing {

struct Case {
  std::string file;
  int line = 0;
  std::string name;
  std::vector<std::string> types = {"f32", "bf16"};
  bool slow = false;
  int reorders = -1;
  float bf16_error = 0;
  std::string text;

  std::string TextWith(std::string_view type) const;
  std::string Replay(std::string_view type) const;  // for people: where it stands and what it says
};

// A test failure where the file cannot be read.
std::vector<Case> ReadCases(const std::string& path);

// The widest of the graph's ops; f16, bf16 and results of bf16: one rounding more.
Tolerance ToleranceOf(const Graph& graph, std::string_view type);

// Which steps are slow, and where layouts change, is only fixed where oneDNN has all its kernels.
bool HasAllKernels();

// The steps that run by a reference function or by one of oneDNN's reference loops, one per line. A concat that
// reorders its parts into place is none.
std::string SlowSteps(const Plan& plan);
std::string AllSteps(const Plan& plan);

// "" if both have the same tensors within the tolerance, else what differs.
std::string CompareAll(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, Tolerance tolerance);

// Whether every product in math mode rounds its operands to bf16. Not on CPUs without bf16 instructions, and not on
// those with AMX, where oneDNN takes kernels of f32 for small products.
bool RoundsInMathMode();

// What the reference functions make of a graph. "math_mode" allows roundings and asks for none: where some kernels
// leave them out outputs without any are right, too.
using OutputSets = std::vector<std::vector<Tensor>>;
absl::StatusOr<OutputSets> ExpectedOutputs(const Graph& graph, const std::vector<Tensor>& inputs);

// "" if one of them is it, else what differs from the first.
std::string CompareAny(const std::vector<Tensor>& actual, const OutputSets& sets, Tolerance tolerance);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_KERNELS_CASES_H_
