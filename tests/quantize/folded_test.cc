// SPDX-License-Identifier: Apache-2.0
// Quantizes every node of every golden graph. Folding quantize_linear and dequantize_linear into the nodes must not
// change the outputs: bit for bit, as fold_quantization.h says.

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/quantize/recurrent_state.h"
#include "tests/quantize/quantize_all_nodes.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

int CountQuantizedOutputs(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      count += value.valid() && graph.quantization(value) != nullptr && !PassesIntegers(graph.op(id)) ? 1 : 0;
    }
  }
  return count;
}

// Folding is exact but for recurrent layers: their hidden state is f32 in the QDQ form, and int8 after folding.
float ToleranceOf(const Graph& folded) {
  const std::vector<NodeId> nodes = folded.nodes();
  const bool rounds =
      std::ranges::any_of(nodes, [&](NodeId id) { return folded.node(id).attributes.has("state_scale"); });
  return rounds ? FoldRecurrentQuantization().tolerance() : 0;
}

struct Counts {
  int graphs = 0;        // that were compared
  int int8_outputs = 0;  // outputs of nodes that are written as integers
};

std::string Problem(const Graph& golden, const QuantizeOptions& options, std::string_view without, Counts& counts) {
  PermissiveTarget target;
  if (!without.empty()) target = *PermissiveTarget::Parse(without);
  PassContext context{.target = target};
  const OptimizedGraph optimized = OptimizeGolden(golden, context);
  if (optimized.ranges.values.empty()) return "";
  const absl::StatusOr<QuantizedGraph> quantized = QuantizeAllNodes(optimized, options, context);
  if (!quantized.ok()) return std::string(quantized.status().message());
  const Graph& folded = quantized->folded;
  const absl::StatusOr<std::string> difference =
      CompareOutputs(quantized->qdq, folded, kQuantizeSeed, ToleranceOf(folded));
  if (!difference.ok()) return "";  // opaque (unsupported) ops
  ++counts.graphs;
  counts.int8_outputs += CountQuantizedOutputs(folded);
  return difference->empty() ? "" : Concat(*difference, "\n", PrintGraph(folded));
}

TEST(FoldedGraphs, EveryGoldenGraphIsFoldedExactly) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  for (const QuantizeOptions& options : kQuantizeOptions) {
    for (const std::string_view without :
         {"", "without conv+int8_result, add+int8_mixed, concat+int8, transpose+int8"}) {
      Counts counts;
      for (const GoldenGraph& golden : *graphs) {
        EXPECT_EQ(Problem(golden.graph, options, without, counts), "") << golden.name << " " << without;
      }
      EXPECT_GT(counts.graphs, 300);
      EXPECT_GT(counts.int8_outputs, without.empty() ? 300 : 150) << without;
    }
  }
}

}  // namespace
}  // namespace halftone
