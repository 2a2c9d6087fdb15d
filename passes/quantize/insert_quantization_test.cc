// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/insert_quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"
#include "passes/quantize/weights_quantizer.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kSeed = 3;
constexpr float kSteps = 0.05f;  // of the largest output

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// The extremes of every value of f32 in one run with seeded inputs.
ValueRanges Calibrated(const Graph& graph) {
  Graph watched = graph;
  GraphEditor edit(watched);
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (value.valid() && graph.type(value) == DataType::kFloat32) edit.AddGraphOutput(RangeName(graph, value), value);
    }
  }
  const absl::StatusOr<std::vector<Tensor>> values =
      reference::EvaluateGraph(watched, reference::RandomInputs(graph, kSeed));
  EXPECT_TRUE(values.ok()) << values.status();
  ValueRanges ranges;
  for (size_t i = graph.outputs().size(); values.ok() && i < values->size(); ++i) {
    const std::vector<float> numbers = (*values)[i].ToFloats();
    if (numbers.empty()) continue;
    ValueRange range;
    range.min = *std::min_element(numbers.begin(), numbers.end());
    range.max = *std::max_element(numbers.begin(), numbers.end());
    ranges.values[watched.outputs()[i].name] = range;
  }
  return ranges;
}

std::set<NodeId> Named(const Graph& graph, const std::vector<std::string>& names) {
  std::set<NodeId> nodes;
  for (const std::string& name : names) {
    const NodeId id = graph.FindNode(name);
    EXPECT_TRUE(id.valid()) << name;
    nodes.insert(id);
  }
  return nodes;
}

struct Inserted {
  Graph graph;
  std::string text;
  RewriteLog log;
};

void Insert(const Graph& graph, const std::vector<std::string>& names, const QuantizeOptions& options,
            const ValueRanges& ranges, Inserted& result) {
  const PermissiveTarget target;
  PassContext context{.target = target, .log = &result.log};
  Pipeline pipeline("quantize");
  pipeline.Add<InsertQuantization>(ranges, Named(graph, names), options);
  pipeline.Add<RemoveDeadNodes>();
  result.graph = graph;
  const absl::Status status = pipeline.Run(result.graph, context);
  ASSERT_TRUE(status.ok()) << status;
  result.text = PrintGraph(result.graph, {.shapes = false});
}

// Quantized, the outputs stay near; folded, they stay the same.
void ExpectNear(const Graph& before, const Graph& after) {
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, kSeed, kSteps);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "") << PrintGraph(after);
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph folded = after;
  ASSERT_TRUE(MakeRunPipeline().Run(folded, context).ok());
  const absl::StatusOr<std::string> same = CompareOutputs(after, folded, kSeed, /*tolerance=*/0);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*same, "") << PrintGraph(folded);
}

int Count(const Graph& graph, OpKind op) {
  const std::vector<NodeId> nodes = graph.nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.op(id) == op; }));
}

int Count(const Graph& graph, DataType type) {
  int count = 0;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) count += value.valid() && graph.type(value) == type ? 1 : 0;
  }
  return count;
}

constexpr char kResidualNet[] = R"(graph (x: f32[2,3,6,5]) {
  w1 = const f32[4,3,3,3] uniform(-0.5, 0.5)
  b1 = const f32[4] {0.5, -0.25, 0.125, 0.0}
  w2 = const f32[4,4,1,1] uniform(-2, 2)
  c1 = conv(x, w1, b1) {activation="relu"}
  c2 = conv(c1, w2, _, c1)
  p = max_pool(c2) {kernel=[2, 2], strides=[2, 2]}
  w3 = const f32[8,5] uniform(-1, 1)
  f = reshape(p, [2, 8])
  y = matmul(f, w3)
  s = softmax(y)
  return s
})";

TEST(InsertQuantization, ResidualNet) {
  const Graph graph = Parsed(kResidualNet);
  Inserted result;
  Insert(graph, {"c1", "c2", "p", "y"}, {}, Calibrated(graph), result);
  ExpectNear(graph, result.graph);
  EXPECT_EQ(Count(result.graph, DataType::kInt8), 2 * 3)
      << result.text;                                                  // weights of three nodes and their zero points
  EXPECT_EQ(Count(result.graph, DataType::kInt32), 1) << result.text;  // one has a bias
  EXPECT_EQ(Count(result.graph, OpKind::kQuantizeLinear), 4) << result.text;  // x, c1 (read twice), c2, f
  // Nothing but the results that no quantized node reads is a number when it runs.
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph folded = result.graph;
  ASSERT_TRUE(MakeRunPipeline().Run(folded, context).ok());
  EXPECT_EQ(Count(folded, OpKind::kQuantizeLinear), 1) << PrintGraph(folded);    // of x
  EXPECT_EQ(Count(folded, OpKind::kDequantizeLinear), 1) << PrintGraph(folded);  // of the bias
}

TEST(InsertQuantization, OneScaleForAllWeightsAndSignedActivations) {
  const Graph graph = Parsed(kResidualNet);
  Inserted result;
  Insert(graph, {"c1", "c2", "p", "y"},
         {.activations = DataType::kInt8, .symmetric_activations = true, .per_channel_weights = false},
         Calibrated(graph), result);
  ExpectNear(graph, result.graph);
  EXPECT_EQ(Count(result.graph, DataType::kUInt8), 0) << result.text;
  EXPECT_THAT(result.text, testing::Not(HasSubstr("axis=")));
}

TEST(InsertQuantization, WeightsOfSevenBits) {
  const Graph graph = Parsed(kResidualNet);
  QuantizeOptions options;
  options.narrow_weights = Named(graph, {"c2"});
  Inserted result;
  Insert(graph, {"c1", "c2"}, options, Calibrated(graph), result);
  ExpectNear(graph, result.graph);
  std::vector<int64_t> largest;
  for (const NodeId id : result.graph.nodes()) {
    const Tensor* tensor = result.graph.ConstantTensor(result.graph.output(id));
    if (tensor == nullptr || tensor->type() != DataType::kInt8 || tensor->rank() != 4) continue;
    int64_t magnitude = 0;
    for (const int64_t element : tensor->ToInts()) magnitude = std::max(magnitude, std::abs(element));
    largest.push_back(magnitude);
  }
  EXPECT_THAT(largest, ElementsAre(127, 63));
}

// What is joined has one range, through a pool as well, so that nothing is brought from one scale to another.
TEST(InsertQuantization, ConcatHasOneRange) {
  const Graph graph = Parsed(R"(graph (x: f32[1,2,4,4]) {
    w = const f32[2,2,1,1] uniform(-3, 3)
    a = conv(x, w)
    p = max_pool(x) {kernel=[1, 1]}
    c = concat(a, p, 1)
    v = const f32[3,4,2,2]
    y = conv(c, v)
    return y
  })");
  Inserted result;
  Insert(graph, {"a", "p", "c", "y"}, {}, Calibrated(graph), result);
  ExpectNear(graph, result.graph);
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph folded = result.graph;
  ASSERT_TRUE(MakeRunPipeline().Run(folded, context).ok());
  EXPECT_EQ(Count(folded, OpKind::kIdentity), 0) << PrintGraph(folded);
  EXPECT_EQ(Count(folded, OpKind::kQuantizeLinear), 1) << PrintGraph(folded);  // of x, which the pool joins to the rest
}

TEST(InsertQuantization, SumsMayHaveOneRange) {
  const Graph graph = Parsed(R"(graph (x: f32[2,3]) {
    a = relu(x)
    s = add(x, a)
    y = relu(s)
    return y
  })");
  for (const bool common : {false, true}) {
    Inserted result;
    Insert(graph, {"s", "y"}, {.common_range_of_sums = common}, Calibrated(graph), result);
    ExpectNear(graph, result.graph);
    std::set<float> scales;
    for (const NodeId id : result.graph.nodes()) {
      if (result.graph.op(id) != OpKind::kQuantizeLinear) continue;
      scales.insert(static_cast<float>(*result.graph.ConstantScalar(result.graph.input(id, 1))));
    }
    EXPECT_EQ(scales.size(), common ? 2u : 3u) << result.text;
  }
}

TEST(InsertQuantization, ResultsAreQuantizedWhereAsked) {
  const Graph graph = Parsed(kResidualNet);
  Inserted result;
  Insert(graph, {"c1", "c2", "p", "y"}, {.quantize_results = true}, Calibrated(graph), result);
  ExpectNear(graph, result.graph);
  EXPECT_EQ(Count(result.graph, OpKind::kQuantizeLinear), 6) << result.text;  // p and y, too
}

// An output keeps its name and is the number that the integers stand for, which other readers read, too.
TEST(InsertQuantization, OutputsAreQuantizedWhereAsked) {
  const Graph graph = Parsed(R"(graph (x: f32[2,7]) {
    w = const f32[7,5] uniform(-1, 1)
    y = matmul(x, w)
    e = erf(y)
    return first=y, e
  })");
  for (const bool outputs : {false, true}) {
    Inserted result;
    Insert(graph, {"y"}, {.quantize_results = true, .quantize_outputs = outputs}, Calibrated(graph), result);
    ExpectNear(graph, result.graph);
    ASSERT_EQ(result.graph.outputs().size(), 2u);
    const auto& [name, value] = result.graph.outputs()[0];
    EXPECT_EQ(name, "first");
    EXPECT_EQ(result.graph.op(value) == OpKind::kDequantizeLinear, outputs) << result.text;
    EXPECT_EQ(result.graph.input(result.graph.FindNode("e"), 0) == value, outputs) << result.text;
  }
}

TEST(InsertQuantization, RefusalsSayWhy) {
  const Graph graph = Parsed(R"(graph (x: f32[2,3], h: bf16[2,3]) {
    w = const f32[3,4] {1, 2, 3, nan, 5, 6, 7, 8, 9, 10, 11, 12}
    v = const f32[3,4]
    y = matmul(x, w)
    z = matmul(x, v)
    r = relu(y)
    e = exp(x)
    g = relu(h)
    return r, z, e, g
  })");
  ValueRanges ranges;
  ranges.values["x"] = {.min = -1, .max = 1};
  Inserted result;
  Insert(graph, {"y", "r", "e", "g"}, {}, ranges, result);
  EXPECT_EQ(result.text, PrintGraph(graph, {.shapes = false}));
  std::map<std::string, std::string> said;
  for (const RewriteLogEntry& entry : result.log.entries()) said[entry.node] = entry.text;
  EXPECT_EQ(said["y"], "weights are not finite");
  EXPECT_EQ(said["r"], "no range of 'y' is known");
  EXPECT_EQ(said["e"], "no integers for this op");
  EXPECT_EQ(said["g"], "input 0 is bf16, need f32");
}

TEST(Weights, ChannelsHaveTheirOwnScales) {
  const std::vector<float> elements = {1, -2, 0, 0, 0.5f, 127};
  const absl::StatusOr<Quantization> rows = QuantizationOfWeights(Tensor::Of<float>({3, 2}, elements), 0, 127);
  ASSERT_TRUE(rows.ok()) << rows.status();
  // A row of zeros has the smallest step of the others, in which a bias is counted.
  EXPECT_THAT(rows->scales, ElementsAre(testing::FloatEq(2.0f / 127), testing::FloatEq(2.0f / 127), 1.0f));
  EXPECT_EQ(rows->axis, 0);
  EXPECT_TRUE(rows->symmetric());
  const absl::StatusOr<Quantization> all = QuantizationOfWeights(Tensor::Of<float>({3, 2}, elements), -1, 63);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(all->scales, ElementsAre(testing::FloatEq(127.0f / 63)));
  const std::vector<float> zeros = {0, 0};
  EXPECT_THAT(QuantizationOfWeights(Tensor::Of<float>({2, 1}, zeros), 0, 127)->scales, ElementsAre(1.0f, 1.0f));
  const std::vector<float> endless = {1, std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(QuantizationOfWeights(Tensor::Of<float>({2}, endless), 0, 127).ok());
}

TEST(Weights, BiasInStepsOfBothScales) {
  const std::vector<float> elements = {1.0f, -3.0f};
  const Tensor bias = Tensor::Of<float>({2}, elements);
  const std::optional<QuantizedBias> steps = QuantizeBias(bias, 0.5f, {{0.25f, 0.5f}, {0, 0}, 0});
  ASSERT_TRUE(steps.has_value());
  EXPECT_THAT(steps->integers.ToInts(), ElementsAre(8, -12));
  EXPECT_THAT(steps->quantization.scales, ElementsAre(0.125f, 0.25f));
  EXPECT_FALSE(QuantizeBias(bias, 1e-5f, {{1e-6f, 1e-6f}, {0, 0}, 0}).has_value());   // 1e11 steps
  EXPECT_FALSE(QuantizeBias(bias, 1e-30f, {{1e-30f, 1.0f}, {0, 0}, 0}).has_value());  // no such step
}

}  // namespace
}  // namespace halftone
