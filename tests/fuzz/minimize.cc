// SPDX-License-Identifier: Apache-2.0
// Minimizes a failing case, and prints it as text.

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/text.h"
#include "tests/fuzz/check.h"
#include "tools/graph_reduce/reduce.h"

namespace halftone::fuzz {
namespace {

constexpr int kMaxTries = 200;
constexpr int64_t kMaxPrinted = 64;  // elements of a tensor

// Inputs that replace computed values get the tensors of these values.
Case WithTensors(const Case& c, const Reduction& smaller) {
  Case result{smaller.graph, c.tensors};
  for (const auto& [input, value] : smaller.cut) result.tensors[input] = c.tensors.at(value);
  return result;
}

}  // namespace

Case Minimize(const Case& c, const Subject& subject, const Outcome& outcome) {
  const auto still_fails = [&](const Reduction& smaller) {
    return Check(WithTensors(c, smaller), subject).stage == outcome.stage;
  };
  return WithTensors(c, Reduce(c.graph, still_fails, {.max_tries = kMaxTries, .shrink = false}));
}

std::string Describe(const Case& c) {
  std::string text = PrintGraph(c.graph, {.max_elements = kMaxPrinted});
  for (const NodeId id : c.graph.inputs()) {
    const Tensor& tensor = c.tensors.at(c.graph.output(id));
    if (tensor.num_elements() > kMaxPrinted) continue;
    text += Concat("# ", c.graph.Label(id), " = {", absl::StrJoin(tensor.ToDoubles(), ", "), "}\n");
  }
  return text;
}

}  // namespace halftone::fuzz
