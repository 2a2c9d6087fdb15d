// SPDX-License-Identifier: Apache-2.0
// Quantizes every node of every golden graph, folds it for the kernels of this CPU and runs its plan. The outputs must
// be those of the reference evaluator on the QDQ graph, within a few quantization steps: a sum in another order may
// round a tie to another integer, and such differences grow over several nodes.

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
#include "tests/quantize/quantize_all_nodes.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

constexpr float kFloatTolerance = 0.03f;  // relative to the largest magnitude
constexpr float kIntegerTolerance = 4;    // quantization steps

struct Counts {
  int graphs = 0;      // that were compared
  int int8_nodes = 0;  // nodes that read integers
};

float ToleranceOf(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return kIntegerTolerance;
  float largest = 0;
  for (const float number : tensor.ToFloats()) {
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  return kFloatTolerance * largest;
}

int CountInt8Nodes(const Graph& graph) {
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
  const absl::StatusOr<QuantizedGraph> quantized = QuantizeAllNodes(optimized, options, context);
  if (!quantized.ok()) return std::string(quantized.status().message());
  const Graph& folded = quantized->folded;
  const std::vector<Tensor> inputs = reference::RandomInputs(quantized->qdq, kQuantizeSeed);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(quantized->qdq, inputs);
  if (!expected.ok()) return "";
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(folded, {.threads = 1});
  if (!plan.ok()) return Concat(plan.status().message(), "\n", PrintGraph(folded));
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
  if (!actual.ok()) return Concat(actual.status().message(), "\n", PrintGraph(folded));
  ++counts.graphs;
  counts.int8_nodes += CountInt8Nodes(folded);
  for (size_t i = 0; i < expected->size(); ++i) {
    const std::string difference =
        reference::Compare((*actual)[i], (*expected)[i], /*relative=*/0, ToleranceOf((*expected)[i]));
    if (!difference.empty()) return Concat("output ", i, ": ", difference, "\n", PrintGraph(folded));
  }
  return "";
}

TEST(QuantizedPlans, EveryGoldenGraph) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  for (const QuantizeOptions& options : kQuantizeOptions) {
    Counts counts;
    for (const GoldenGraph& golden : *graphs) {
      EXPECT_EQ(Problem(golden.graph, options, counts), "") << golden.name << " " << DataTypeName(options.activations);
    }
    EXPECT_GT(counts.graphs, 300);
    EXPECT_GT(counts.int8_nodes, 300);
  }
}

}  // namespace
}  // namespace halftone
