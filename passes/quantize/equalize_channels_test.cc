// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/equalize_channels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "ir/weight_channels.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

struct Equalized {
  Graph graph;
  std::vector<std::string> changed;
  std::map<std::string, std::string> refused;
};

Equalized Equalize(const Graph& graph, EqualizedPairs pairs = EqualizedPairs::kDepthwise) {
  const PermissiveTarget target;
  RewriteLog log;
  PassContext context{.target = target, .log = &log};
  Pipeline pipeline("equalize");
  pipeline.Add<EqualizeChannels>(pairs);
  pipeline.Add<RemoveDeadNodes>();
  Equalized result{.graph = graph};
  EXPECT_TRUE(pipeline.Run(result.graph, context).ok());
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.pass != "equalize-channels") continue;
    if (entry.applied) {
      result.changed.push_back(entry.node);
    } else {
      result.refused[entry.node] = entry.text;
    }
  }
  const absl::StatusOr<std::string> difference = CompareOutputs(graph, result.graph, /*seed=*/5, 1e-5f);
  EXPECT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(difference.value_or(""), "") << PrintGraph(result.graph);
  return result;
}

// The largest weight of each channel of a contraction's result, or input.
std::vector<float> Ranges(const Graph& graph, const std::string& name, bool of_outputs) {
  const NodeId id = graph.FindNode(name);
  const WeightChannels channels = WeightChannelsOf(graph, id).value();
  const Tensor& weights = *graph.ConstantTensor(graph.input(id, 1));
  std::vector<float> ranges(of_outputs ? channels.outputs : channels.inputs, 0.0f);
  for (int64_t o = 0; o < channels.outputs; ++o) {
    for (int64_t i = 0; i < channels.inputs_per_group(); ++i) {
      for (int64_t tap = 0; tap < channels.taps; ++tap) {
        float& range = ranges[of_outputs ? o : channels.InputOf(o, i)];
        range = std::max(range, std::abs(weights.data<float>()[channels.IndexOf(o, i, tap)]));
      }
    }
  }
  return ranges;
}

void ExpectAlike(const Graph& graph, const std::string& first, const std::string& second) {
  const std::vector<float> r1 = Ranges(graph, first, true), r2 = Ranges(graph, second, false);
  ASSERT_EQ(r1.size(), r2.size());
  for (size_t c = 0; c < r1.size(); ++c) EXPECT_NEAR(r1[c], r2[c], 2e-2 * r1[c]) << first << " " << second << " " << c;
}

TEST(EqualizeChannels, DepthwiseChain) {
  const Graph graph = Parsed(R"(graph (x: f32[1,2,6,5]) {
    w1 = const f32[3,2,1,1] {100, 20, 0.5, 1, 3, 4}
    b1 = const f32[3] {0.1, 0.2, -0.3}
    w2 = const f32[3,1,3,3] uniform(-1, 1)
    w3 = const f32[4,3,1,1] uniform(-3, 3)
    a = conv(x, w1, b1) {activation="relu"}
    d = conv(a, w2) {group=3, pads=[1, 1, 1, 1]}
    r = leaky_relu(d) {alpha=0.1}
    p = max_pool(r) {kernel=[2, 2], strides=[2, 2]}
    y = conv(p, w3)
    return y
  })");
  const Equalized result = Equalize(graph);
  EXPECT_THAT(result.changed, UnorderedElementsAre("a", "d", "y"));
  EXPECT_THAT(result.refused, IsEmpty());
  ExpectAlike(result.graph, "a", "d");
  ExpectAlike(result.graph, "d", "y");
}

TEST(EqualizeChannels, OtherLayoutsAndMatrices) {
  const Graph images = Parsed(R"(graph (x: f32[1,6,5,2]) {
    w1 = const f32[3,3,2,4] uniform(-5, 5)
    w2 = const f32[3,3,4,1] uniform(-0.1, 0.1)
    a = conv(x, w1) {layout="NHWC", weights_layout="HWIO"}
    y = conv(a, w2) {layout="NHWC", weights_layout="HWCM", auto_pad="SAME_UPPER", activation="relu6"}
    return y
  })");
  ExpectAlike(Equalize(images).graph, "a", "y");
  const Graph matrices = Parsed(R"(graph (x: f32[3,4]) {
    w1 = const f32[4,5] uniform(-5, 5)
    w2 = const f32[2,5] uniform(-0.1, 0.1)
    a = matmul(x, w1) {activation="relu"}
    y = matmul(a, w2) {transpose_b=true}
    return y
  })");
  ExpectAlike(Equalize(matrices, EqualizedPairs::kAll).graph, "a", "y");
  const Equalized kept = Equalize(matrices);
  EXPECT_THAT(kept.changed, IsEmpty());
  EXPECT_THAT(kept.refused.at("y"), HasSubstr("neither of them is a depthwise convolution"));
}

// Channels without weights stay; a bias far above the weights is not made larger.
TEST(EqualizeChannels, ChannelsWithoutWeightsAndBiases) {
  const Graph graph = Parsed(R"(graph (x: f32[2,2]) {
    w1 = const f32[2,3] {0, 1e-20, 1, 0, 1e-20, 1}
    b1 = const f32[3] {0, 2, 0}
    w2 = const f32[3,1] {1, 2, 0}
    a = matmul(x, w1, b1) {activation="relu"}
    y = matmul(a, w2)
    return y
  })");
  const Equalized result = Equalize(graph, EqualizedPairs::kAll);
  const std::vector<float> before = Ranges(graph, "y", false), after = Ranges(result.graph, "y", false);
  EXPECT_EQ(before, after);
  EXPECT_THAT(result.changed, IsEmpty());
}

TEST(EqualizeChannels, KeptWithTheReason) {
  struct Row {
    std::string body, said;
  };
  const Row rows[] = {
      {"a = conv(x, w) {activation=\"relu6\"}  y = conv(a, v)  return y", "after 'a': its relu6 does not scale"},
      {"a = conv(x, w)  c = relu6(a)  y = conv(c, v)  return y", "'c' does not scale with its input"},
      {"a = conv(x, w)  y = conv(a, v)  return y, a", "after 'a': its result has another reader"},
      {"a = conv(x, w)  y = conv(a, v)  z = neg(a)  return y, z", "after 'a': its result has another reader"},
      {"a = conv(x, w, _, x)  y = conv(a, v)  return y", "after 'a': a residual is added to it"},
      {"a = conv(x, w, b)  y = conv(a, v)  return y", "after 'a': its bias is no constant vector"},
      {"a = conv(x, n)  y = conv(a, v)  return y", "its weights are not finite"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    const Graph graph = Parsed(
        "graph (x: f32[1,2,3,3], b: f32[2]) { w = const f32[2,2,1,1] {1, 20, 3, 0.4} "
        "v = const f32[2,2,1,1] {50, 0.6, 7, 8}  n = const f32[2,2,1,1] {1, nan, 3, 4}  " +
        row.body + " }");
    const PermissiveTarget target;
    RewriteLog log;
    PassContext context{.target = target, .log = &log};
    Pipeline pipeline("equalize");
    pipeline.Add<EqualizeChannels>(EqualizedPairs::kAll);
    Graph kept = graph;
    ASSERT_TRUE(pipeline.Run(kept, context).ok());
    EXPECT_EQ(PrintGraph(kept), PrintGraph(graph));
    std::string said;
    for (const RewriteLogEntry& entry : log.entries()) said += entry.text;
    EXPECT_THAT(said, HasSubstr(row.said));
  }
}

}  // namespace
}  // namespace halftone
