// SPDX-License-Identifier: Apache-2.0
#include "ir/weight_channels.h"

#include <set>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

// Where the weight of output channel o, input channel `input` (of all groups) and tap t lies, told from the layout's
// letters.
struct Row {
  std::string node;
  int64_t outputs, inputs, taps, groups;
  int64_t output, input, tap, index;
};

const Row kRows[] = {
    {R"(y = conv(x, f32[6,2,3,2]) {group=2})", 6, 4, 6, 2, 4, 3, 5, (4 * 2 + 1) * 6 + 5},
    {R"(y = conv(x, f32[3,2,2,6]) {group=2, weights_layout="HWIO"})", 6, 4, 6, 2, 4, 3, 5, (5 * 2 + 1) * 6 + 4},
    {R"(y = conv(x, f32[3,2,4,3]) {weights_layout="HWCM"})", 12, 4, 6, 4, 7, 2, 5, (5 * 4 + 2) * 3 + 1},
    {R"(y = conv_transpose(x, f32[4,3,3,2]) {group=2})", 6, 4, 6, 2, 4, 3, 5, (3 * 3 + 1) * 6 + 5},
    {R"(y = conv_transpose(x, f32[3,2,3,4]) {group=2, weights_layout="HWOI"})", 6, 4, 6, 2, 4, 3, 5,
     (5 * 3 + 1) * 4 + 3},
};

Graph WithWeights(const std::string& node, const std::string& x) {
  const size_t from = node.find("f32["), to = node.find(']') + 1;
  std::string text = "graph (x: " + x + ") { w = const " + node.substr(from, to - from) + "  ";
  text += node.substr(0, from) + "w" + node.substr(to) + " return y }";
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  return graph.ok() ? *graph : Graph();
}

void ExpectRow(const Row& row, const std::string& x) {
  SCOPED_TRACE(row.node);
  const Graph graph = WithWeights(row.node, x);
  const std::optional<WeightChannels> w = WeightChannelsOf(graph, graph.FindNode("y"));
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ(std::tuple(w->outputs, w->inputs, w->taps, w->groups),
            std::tuple(row.outputs, row.inputs, row.taps, row.groups));
  const int64_t i = row.input % w->inputs_per_group();
  EXPECT_EQ(w->InputOf(row.output, i), row.input);
  EXPECT_EQ(w->IndexOf(row.output, i, row.tap), row.index);
  // Every element once.
  std::set<int64_t> seen;
  for (int64_t o = 0; o < w->outputs; ++o) {
    for (int64_t in = 0; in < w->inputs_per_group(); ++in) {
      for (int64_t t = 0; t < w->taps; ++t) seen.insert(w->IndexOf(o, in, t));
    }
  }
  const int64_t count = w->outputs * w->inputs_per_group() * w->taps;
  EXPECT_EQ(static_cast<int64_t>(seen.size()), count);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), count - 1);
}

TEST(WeightChannels, EveryLayoutOfImages) {
  for (const Row& row : kRows) ExpectRow(row, "f32[1,4,9,9]");
}

TEST(WeightChannels, Matrices) {
  ExpectRow({"y = matmul(x, f32[4,5])", 5, 4, 1, 1, 3, 2, 0, 2 * 5 + 3}, "f32[2,4]");
  ExpectRow({"y = matmul(x, f32[1,5,4]) {transpose_b=true}", 5, 4, 1, 1, 3, 2, 0, 3 * 4 + 2}, "f32[2,2,4]");
  ExpectRow({"y = gemm(x, f32[4,5])", 5, 4, 1, 1, 3, 2, 0, 2 * 5 + 3}, "f32[2,4]");
}

TEST(WeightChannels, NotOfOthers) {
  const Graph several = WithWeights("y = matmul(x, f32[2,4,5])", "f32[2,3,4]");
  EXPECT_FALSE(WeightChannelsOf(several, several.FindNode("y")).has_value());
  const Graph sum = WithWeights("y = add(x, f32[3,4])", "f32[3,4]");
  EXPECT_FALSE(WeightChannelsOf(sum, sum.FindNode("y")).has_value());
}

TEST(InputChannelAxis, ByLayoutAndTransposition) {
  const auto axis = [](const std::string& node, const std::string& x) {
    const Graph graph = WithWeights(node, x);
    return InputChannelAxis(graph, graph.FindNode("y"));
  };
  EXPECT_EQ(axis("y = conv(x, f32[6,4,1,1])", "f32[1,4,5,5]"), 1);
  EXPECT_EQ(axis("y = conv(x, f32[6,4,1,1]) {layout=\"NHWC\"}", "f32[1,5,5,4]"), 3);
  EXPECT_EQ(axis("y = matmul(x, f32[4,5])", "f32[2,3,4]"), 2);
  EXPECT_EQ(axis("y = gemm(x, f32[4,5]) {transpose_a=true}", "f32[4,2]"), 0);
}

}  // namespace
}  // namespace halftone
