// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/smooth_activations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 7;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// What a calibration with the seed's inputs says of these values, channels along the last dimension.
ValueRanges Seen(const Graph& graph, const std::vector<std::string>& names) {
  Graph watched = graph;
  GraphEditor edit(watched);
  for (const std::string& name : names) edit.AddGraphOutput("seen:" + name, graph.FindValue(name));
  const std::vector<Tensor> values = reference::EvaluateGraph(watched, reference::RandomInputs(graph, kSeed)).value();
  ValueRanges ranges;
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor& tensor = values[graph.outputs().size() + i];
    const std::vector<float> numbers = tensor.ToFloats();
    ValueRange range{.min = *std::ranges::min_element(numbers), .max = *std::ranges::max_element(numbers)};
    range.observed_min = range.min;
    range.observed_max = range.max;
    range.channel_axis = tensor.rank() - 1;
    range.channel_magnitudes.assign(tensor.dims().back(), 0.0f);
    for (size_t n = 0; n < numbers.size(); ++n) {
      float& magnitude = range.channel_magnitudes[n % range.channel_magnitudes.size()];
      magnitude = std::max(magnitude, std::abs(numbers[n]));
    }
    ranges.values[names[i]] = range;
  }
  return ranges;
}

struct Smoothed {
  Graph graph;
  ValueRanges ranges;
  std::map<std::string, std::string> refused;
  int applied = 0;
};

Smoothed Smooth(const Graph& graph, const ValueRanges& ranges) {
  Smoothed result{.graph = graph, .ranges = ranges};
  const PermissiveTarget target;
  RewriteLog log;
  PassContext context{.target = target, .log = &log};
  Pipeline pipeline("smooth");
  pipeline.Add<SmoothActivations>(result.ranges);
  pipeline.Add<RemoveDeadNodes>();
  EXPECT_TRUE(pipeline.Run(result.graph, context).ok());
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.pass != "smooth-activations") continue;
    if (!entry.applied) result.refused[entry.node] = entry.text;
    result.applied += entry.applied ? 1 : 0;
  }
  const absl::StatusOr<std::string> difference = CompareOutputs(graph, result.graph, kSeed, 1e-5f);
  EXPECT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(difference.value_or(""), "") << PrintGraph(result.graph);
  return result;
}

// Channel 2 of x is a hundred times the others, as large language models have it.
constexpr char kBlock[] = R"(graph (t: f32[4,6]) {
  g = const f32[6] {1, 0.9, 120, 1.1, 0.8, 1}
  o = const f32[6] {0.1, 0, 30, 0, -0.1, 0}
  x = layer_norm(t, g, o)
  w = const f32[6,5] uniform(-1, 1)
  v = const f32[3,6] uniform(-1, 1)
  y = matmul(x, w)
  z = matmul(x, v) {transpose_b=true}
  return y, z
})";

TEST(SmoothActivations, OutliersGoIntoTheWeights) {
  const Graph graph = Parsed(kBlock);
  const ValueRanges ranges = Seen(graph, {"x"});
  const Smoothed result = Smooth(graph, ranges);
  EXPECT_EQ(result.applied, 1);
  // What it says of the ranges is what is there.
  const ValueRange &said = result.ranges.values.at("x"), seen = Seen(result.graph, {"x"}).values.at("x");
  for (size_t c = 0; c < 6; ++c) EXPECT_NEAR(said.channel_magnitudes[c], seen.channel_magnitudes[c], 1e-4f) << c;
  EXPECT_LE(said.min, seen.min + 1e-5f);
  EXPECT_GE(said.max, seen.max - 1e-5f);
  EXPECT_LT(said.max, 0.2f * ranges.values.at("x").max);

  // And it is worth it: the error of the quantized product falls.
  std::vector<double> errors;
  const PermissiveTarget target;
  const std::vector<Tensor> inputs = reference::RandomInputs(graph, kSeed);
  const std::vector<float> exact = reference::EvaluateGraph(graph, inputs).value()[0].ToFloats();
  for (const bool smooth : {false, true}) {
    Graph quantized = smooth ? result.graph : graph;
    const ValueRanges& known = smooth ? result.ranges : ranges;
    PassContext context{.target = target};
    Pipeline pipeline("quantize");
    pipeline.Add<InsertQuantization>(known, std::set<NodeId>{graph.FindNode("y")}, QuantizeOptions{});
    ASSERT_TRUE(pipeline.Run(quantized, context).ok());
    const std::vector<float> numbers = reference::EvaluateGraph(quantized, inputs).value()[0].ToFloats();
    double error = 0;
    for (size_t i = 0; i < exact.size(); ++i) error += (numbers[i] - exact[i]) * (numbers[i] - exact[i]);
    errors.push_back(error);
  }
  EXPECT_LT(errors[1], errors[0]);
}

TEST(SmoothActivations, IntoAProduct) {
  const Graph graph = Parsed(R"(graph (t: f32[4,3]) {
    c = const f32[3] {1, 500, 0}
    x = mul(c, t)
    w = const f32[3,2] {1, 2, 3, 4, 0, 0}
    y = gemm(x, w)
    return y
  })");
  const Smoothed result = Smooth(graph, Seen(graph, {"x"}));
  EXPECT_EQ(result.applied, 1);
  EXPECT_LT(result.ranges.values.at("x").max, 100);
}

TEST(SmoothActivations, KeptWithTheReason) {
  struct Row {
    std::string graph, said;
    bool known = true;
  };
  const std::string norm =
      "graph (t: f32[4,3]) { g = const f32[3] {1, 100, 1}  x = layer_norm(t, g)  w = const f32[3,2]  ";
  const Row rows[] = {
      {norm + "y = matmul(x, w)  return y }", "nothing is known of the channels of 'x'", false},
      {"graph (t: f32[4,3]) { x = neg(t)  w = const f32[3,2]  y = matmul(x, w)  return y }",
       "no channel is an outlier"},
      {norm + "y = matmul(x, w)  z = add(x, t)  return y, z }", "'z' reads it: it is no product with weights"},
      {norm + "y = matmul(x, w)  return y, x }", "'x' is an output"},
      {norm + "y = matmul(x, t) {transpose_b=true}  z = neg(w)  return y, z }",
       "'y' reads it: its weights are no constant matrix"},
      {"graph (t: f32[4,3]) { c = const f32[3] {1, 0.01, 1}  x = div(t, c)  w = const f32[3,2]  y = matmul(x, w)  "
       "return y }",
       "'x' has no constants of its channels to divide"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.graph);
    const Graph graph = Parsed(row.graph);
    const Smoothed result = Smooth(graph, row.known ? Seen(graph, {"x"}) : ValueRanges());
    EXPECT_EQ(result.applied, 0);
    std::string said;
    for (const auto& [node, text] : result.refused) said += text + "\n";
    EXPECT_THAT(said, HasSubstr(row.said));
    EXPECT_EQ(PrintGraph(result.graph), PrintGraph(graph));
  }
}

}  // namespace
}  // namespace halftone
