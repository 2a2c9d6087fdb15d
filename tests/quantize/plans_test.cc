// Every graph of the golden files, quantized wherever that can be, folded for the kernels of this machine and
// planned, answers as the reference says of the quantized graph before. An integer may be another one where a sum in
// another order rounds to the other side; behind several such steps, numbers may be a few steps away.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/quantize/quantize_everywhere.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

constexpr float kNear = 0.03f;  // of the largest number
constexpr float kSteps = 4;     // of integers

struct Counts {
  int graphs = 0;    // that were compared
  int integers = 0;  // of nodes that compute with them
};

float Allowed(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return kSteps;
  float largest = 0;
  for (const float number : tensor.ToFloats()) {
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  return kNear * largest;
}

int NodesOfIntegers(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) {
    if (PassesIntegers(graph.op(id))) continue;
    const std::vector<ValueId>& inputs = graph.node(id).inputs;
    count += std::any_of(inputs.begin(), inputs.end(),
                         [&](ValueId input) { return input.valid() && graph.quantization(input) != nullptr; });
  }
  return count;
}

std::string Problem(const Graph& golden, const QuantizeOptions& options, Counts& counts) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  PassContext context{.target = *target};
  const OptimizedGraph optimized = OptimizeGolden(golden, context);
  if (optimized.ranges.values.empty() || !CompilePlan(optimized.graph, {.threads = 1}).ok()) return "";
  const absl::StatusOr<QuantizedGraph> quantized = QuantizeEverywhere(optimized, options, context);
  if (!quantized.ok()) return std::string(quantized.status().message());
  const Graph& folded = quantized->folded;
  const std::vector<Tensor> inputs = reference::RandomInputs(quantized->pairs, kQuantizeSeed);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(quantized->pairs, inputs);
  if (!expected.ok()) return "";
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(folded, {.threads = 1});
  if (!plan.ok()) return Concat(plan.status().message(), "\n", PrintGraph(folded));
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
  if (!actual.ok()) return Concat(actual.status().message(), "\n", PrintGraph(folded));
  ++counts.graphs;
  counts.integers += NodesOfIntegers(folded);
  for (size_t i = 0; i < expected->size(); ++i) {
    const std::string difference =
        reference::Compare((*actual)[i], (*expected)[i], /*relative=*/0, Allowed((*expected)[i]));
    if (!difference.empty()) return Concat("result ", i, ": ", difference, "\n", PrintGraph(folded));
  }
  return "";
}

TEST(QuantizedPlans, EveryGraphOfTheGoldenFiles) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  for (const QuantizeOptions& options : kQuantizeOptions) {
    Counts counts;
    for (const GoldenGraph& golden : *graphs) {
      EXPECT_EQ(Problem(golden.graph, options, counts), "") << golden.name << " " << DataTypeName(options.activations);
    }
    EXPECT_GT(counts.graphs, 300);
    EXPECT_GT(counts.integers, 300);
  }
}

}  // namespace
}  // namespace halftone
