// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/correct_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "ir/weight_channels.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/quantize/weights_quantizer.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

int64_t Inner(const Tensor& tensor, int axis) {
  int64_t inner = 1;
  for (int i = axis + 1; i < tensor.rank(); ++i) inner *= tensor.dims()[i];
  return inner;
}

std::vector<double> ChannelMeans(const Tensor& tensor, int axis) {
  const int64_t channels = tensor.dims()[axis];
  std::vector<double> sums(channels, 0.0);
  const std::vector<float> numbers = tensor.ToFloats();
  for (size_t i = 0; i < numbers.size(); ++i)
    sums[static_cast<int64_t>(i) / Inner(tensor, axis) % channels] += numbers[i];
  for (double& sum : sums) sum *= static_cast<double>(channels) / static_cast<double>(numbers.size());
  return sums;
}

// What a calibration would say of this tensor.
ValueRange RangeOf(const Tensor& tensor, int axis) {
  const std::vector<float> numbers = tensor.ToFloats();
  ValueRange range;
  range.min = *std::ranges::min_element(numbers);
  range.max = *std::ranges::max_element(numbers);
  range.channel_axis = axis;
  for (const double mean : ChannelMeans(tensor, axis)) range.channel_means.push_back(static_cast<float>(mean));
  range.channel_magnitudes.assign(range.channel_means.size(), range.max);
  return range;
}

// Every channel has one number all over.
Tensor FlatChannels(const std::vector<int64_t>& dims, int axis) {
  Tensor tensor(DataType::kFloat32, dims);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(1 + i / Inner(tensor, axis) % dims[axis]) * 0.75f;
  return tensor;
}

struct Row {
  std::string name, graph;
  int input_axis, output_axis;
};

// Images of one number per channel: the shift is exact, at the borders as well. Uneven sizes, pads, strides, groups.
const Row kRows[] = {
    {"grouped convolution", R"(graph (x: f32[1,6,7,5]) {
       w = const f32[4,3,3,2] uniform(-1, 1)
       y = conv(x, w) {group=2, pads=[1, 0, 2, 1], strides=[2, 1]}
       return y })",
     1, 1},
    {"dilated convolution", R"(graph (x: f32[1,2,9,8]) {
       w = const f32[3,2,3,3] uniform(-1, 1)
       b = const f32[3] {1, 2, 3}
       y = conv(x, w, b) {pads=[2, 2, 2, 2], dilations=[2, 1]}
       return y })",
     1, 1},
    {"channels last", R"(graph (x: f32[1,7,6,3]) {
       w = const f32[3,2,3,5] uniform(-1, 1)
       y = conv(x, w) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", strides=[2, 3]}
       return y })",
     3, 3},
    {"depthwise with a multiplier", R"(graph (x: f32[1,7,6,3]) {
       w = const f32[3,3,3,2] uniform(-1, 1)
       y = conv(x, w) {layout="NHWC", weights_layout="HWCM", auto_pad="SAME_LOWER"}
       return y })",
     3, 3},
    {"one dimension", R"(graph (x: f32[2,3,8]) {
       w = const f32[4,3,3] uniform(-1, 1)
       y = conv(x, w) {pads=[1, 1]}
       return y })",
     1, 1},
    {"matrix", R"(graph (x: f32[4,5]) { w = const f32[5,3] uniform(-1, 1)  y = matmul(x, w)  return y })", 1, 1},
    {"transposed matrix", R"(graph (x: f32[2,4,5]) {
       w = const f32[3,5] uniform(-1, 1)
       y = matmul(x, w) {transpose_b=true}
       return y })",
     2, 2},
    {"gemm of a transposed operand", R"(graph (x: f32[5,4]) {
       w = const f32[5,3] uniform(-1, 1)
       y = gemm(x, w) {transpose_a=true}
       return y })",
     0, 1},
    {"transposed convolution", R"(graph (x: f32[1,4,5,4]) {
       w = const f32[4,3,3,2] uniform(-1, 1)
       y = conv_transpose(x, w) {group=2, strides=[2, 3]}
       return y })",
     1, 1},
};

TEST(BiasShift, IsTheShiftOfTheMeans) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Graph graph = Parsed(row.graph);
    const NodeId node = graph.FindNode("y");
    const ValueId x = graph.input(node, 0), w = graph.input(node, 1);
    const Tensor input = FlatChannels(graph.shape(x).values(), row.input_axis);
    const Tensor& weights = *graph.ConstantTensor(w);
    Tensor rounded(DataType::kFloat32, weights.dims());
    for (int64_t i = 0; i < weights.num_elements(); ++i)
      rounded.mutable_data<float>()[i] = std::nearbyint(weights.data<float>()[i] * 4) / 4;
    Graph after = graph;
    GraphEditor edit(after);
    edit.SetInput(node, 1, edit.AddConstant("", rounded));
    const absl::StatusOr<std::vector<Tensor>> exact = reference::EvaluateGraph(graph, {input});
    const absl::StatusOr<std::vector<Tensor>> moved = reference::EvaluateGraph(after, {input});
    ASSERT_TRUE(exact.ok() && moved.ok()) << exact.status() << moved.status();

    ValueRanges ranges;
    ranges.values["x"] = RangeOf(input, row.input_axis);
    const absl::StatusOr<std::vector<double>> shift = BiasShift(graph, node, x, weights, rounded, ranges);
    ASSERT_TRUE(shift.ok()) << shift.status();
    const std::vector<double> from = ChannelMeans((*exact)[0], row.output_axis),
                              to = ChannelMeans((*moved)[0], row.output_axis);
    ASSERT_EQ(shift->size(), from.size());
    double largest = 0;
    for (size_t o = 0; o < from.size(); ++o) {
      EXPECT_NEAR((*shift)[o], to[o] - from[o], 1e-5) << o;
      largest = std::max(largest, std::abs((*shift)[o]));
    }
    EXPECT_GT(largest, 1e-3);
  }
}

TEST(BiasShift, ReadsThroughViews) {
  const Graph graph = Parsed(R"(graph (x: f32[2,3,1,1], z: f32[2,3,2,1]) {
    w = const f32[3,4] uniform(-1, 1)
    v = const f32[6,4] uniform(-1, 1)
    f = flatten(x)
    y = matmul(f, w)
    g = flatten(z)
    u = matmul(g, v)
    return y, u
  })");
  ValueRanges ranges;
  ranges.values["x"] = RangeOf(FlatChannels({2, 3, 1, 1}, 1), 1);
  ranges.values["z"] = RangeOf(FlatChannels({2, 3, 2, 1}, 1), 1);
  ranges.values["f"] = {.min = 0, .max = 3};  // as calibration leaves views
  const NodeId y = graph.FindNode("y"), u = graph.FindNode("u");
  const Tensor& w = *graph.ConstantTensor(graph.input(y, 1));
  EXPECT_TRUE(BiasShift(graph, y, graph.input(y, 0), w, w, ranges).ok());
  // Channels of two elements are no channels any more.
  const Tensor& v = *graph.ConstantTensor(graph.input(u, 1));
  const absl::Status refused = BiasShift(graph, u, graph.input(u, 0), v, v, ranges).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no means of the channels of 'g' are known"));
}

TEST(CorrectedBias, SaysWhyNot) {
  const Graph graph = Parsed(R"(graph (x: f32[2,3], b: f32[4]) {
    w = const f32[3,4]
    c = const f32[2,4]
    a = matmul(x, w, b)
    s = matmul(x, w) {scale=2.0}
    g = gemm(x, w, c)
    p = matmul(x, w)
    return a, s, g, p
  })");
  const absl::StatusOr<PermissiveTarget> target = PermissiveTarget::Parse("without matmul+bias");
  ASSERT_TRUE(target.ok()) << target.status();
  const auto said = [&](const std::string& name) {
    return std::string(CorrectedBias(graph, graph.FindNode(name), {1, 2, 3, 4}, *target).status().message());
  };
  EXPECT_EQ(said("a"), "the bias is no constant vector over the channels");
  EXPECT_EQ(said("s"), "products or bias are scaled before they are added");
  EXPECT_EQ(said("g"), "the bias is no constant vector over the channels");
  EXPECT_THAT(said("p"), HasSubstr("bias"));
}

// Through the pass: the mean of every channel comes back, to what the rounding of activations and of the bias moves.
TEST(InsertQuantization, CorrectsBiases) {
  const Graph graph = Parsed(R"(graph (x: f32[64,8]) {
    w = const f32[8,5] uniform(-1, 1)
    b = const f32[5] {1, -2, 3, -4, 5}
    y = matmul(x, w, b)
    n = matmul(y, w) {transpose_b=true}
    return n
  })");
  Tensor input(DataType::kFloat32, {64, 8});
  std::mt19937 random(4);
  std::exponential_distribution<float> positive(1.0f);
  for (float& number : input.mutable_data<float>()) number = positive(random);
  Graph watched = graph;
  GraphEditor edit(watched);
  edit.AddGraphOutput("seen", graph.FindValue("y"));
  const std::vector<Tensor> exact = reference::EvaluateGraph(watched, {input}).value();
  ValueRanges ranges;
  ranges.values["x"] = RangeOf(input, 1);
  ranges.values["y"] = RangeOf(exact[1], 1);
  const PermissiveTarget target;
  std::vector<double> errors;
  for (const bool correct : {false, true}) {
    RewriteLog log;
    PassContext context{.target = target, .log = &log};
    Pipeline pipeline("quantize");
    pipeline.Add<InsertQuantization>(ranges, std::set<NodeId>{graph.FindNode("y"), graph.FindNode("n")},
                                     QuantizeOptions{.per_channel_weights = false, .correct_bias = correct});
    pipeline.Add<RemoveDeadNodes>();
    Graph quantized = graph;
    ASSERT_TRUE(pipeline.Run(quantized, context).ok());
    EXPECT_EQ(quantized.input(quantized.FindNode("n"), 2).valid(), correct);
    std::vector<std::string> corrected;
    for (const RewriteLogEntry& entry : log.entries()) {
      if (entry.pass == "correct-bias" && entry.applied) corrected.push_back(entry.node);
    }
    EXPECT_EQ(corrected.size(), correct ? 2u : 0u);
    const std::vector<Tensor> outputs = reference::EvaluateGraph(quantized, {input}).value();
    const std::vector<double> from = ChannelMeans(exact[0], 1), to = ChannelMeans(outputs[0], 1);
    double error = 0;
    for (size_t o = 0; o < from.size(); ++o) error += std::abs(to[o] - from[o]);
    errors.push_back(error);
  }
  EXPECT_LT(errors[1], 0.5 * errors[0]);
}

TEST(InsertQuantization, SaysWhyABiasIsNotCorrected) {
  const Graph graph = Parsed("graph (x: f32[2,3]) { w = const f32[3,4] uniform(-1, 1)  y = matmul(x, w)  return y }");
  ValueRanges ranges;
  ranges.values["x"] = {.min = -1, .max = 1};
  const PermissiveTarget target;
  RewriteLog log;
  PassContext context{.target = target, .log = &log};
  Pipeline pipeline("quantize");
  pipeline.Add<InsertQuantization>(ranges, std::set<NodeId>{graph.FindNode("y")},
                                   QuantizeOptions{.correct_bias = true});
  Graph quantized = graph;
  ASSERT_TRUE(pipeline.Run(quantized, context).ok());
  std::vector<std::string> said;
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.pass == "correct-bias") said.push_back(entry.text);
  }
  EXPECT_THAT(said, Contains("no means of the channels of 'x' are known"));
  EXPECT_FALSE(quantized.input(quantized.FindNode("y"), 2).valid());
}

}  // namespace
}  // namespace halftone
