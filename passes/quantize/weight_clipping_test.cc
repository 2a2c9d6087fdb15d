// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/weight_clipping.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/quantize/weights_quantizer.h"

namespace halftone {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// Many small weights and one that is far out, in column 1; column 0 has none.
Graph Outlier(int rows) {
  std::string weights;
  for (int i = 0; i < rows; ++i) {
    const float small = 0.01f * static_cast<float>(i % 17 - 8);
    weights += (i > 0 ? ", " : "") + std::to_string(small) + ", " + std::to_string(i == 5 ? 0.14f : small * 0.9f);
  }
  const std::string r = std::to_string(rows);
  return Parsed("graph (x: f32[4," + r + "]) { w = const f32[" + r + ",2] {" + weights +
                "}  y = matmul(x, w)  return y }");
}

// sum of importance * error^2 of a column when its scale reaches over `share` of it.
double ErrorOf(const Tensor& weights, int column, float share, int limit, const std::vector<double>& importance) {
  const int64_t rows = weights.dims()[0], columns = weights.dims()[1];
  double magnitude = 0;
  for (int64_t i = 0; i < rows; ++i)
    magnitude = std::max<double>(magnitude, std::abs(weights.data<float>()[i * columns + column]));
  const double scale = magnitude * share / limit;
  double error = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double w = weights.data<float>()[i * columns + column];
    const double q = std::clamp<double>(std::nearbyint(w / scale), -limit, limit);
    error += importance[i] * (w - q * scale) * (w - q * scale);
  }
  return error;
}

TEST(KeptShares, HaveTheLeastError) {
  const Graph graph = Outlier(300);
  const NodeId node = graph.FindNode("y");
  const Tensor& weights = *graph.ConstantTensor(graph.input(node, 1));
  for (const int limit : {127, 63, 7}) {
    const std::vector<float> shares =
        KeptShares(graph, node, graph.input(node, 0), weights, /*per_channel=*/true, limit, ValueRanges());
    ASSERT_EQ(shares.size(), 2);
    for (int column = 0; column < 2; ++column) {
      const std::vector<double> same(300, 1.0);
      const double least = ErrorOf(weights, column, shares[column], limit, same);
      for (int k = 0; k < 20; ++k) {
        const float share = 1 - 0.03f * static_cast<float>(k);
        EXPECT_LE(least, ErrorOf(weights, column, share, limit, same) * 1.001)
            << limit << " " << column << " " << share;
      }
    }
  }
  // With few integers the outlier is not worth its range.
  EXPECT_LT(KeptShares(graph, node, graph.input(node, 0), weights, true, 7, ValueRanges())[1], 0.9f);
  EXPECT_EQ(KeptShares(graph, node, graph.input(node, 0), weights, /*per_channel=*/false, 7, ValueRanges()).size(), 1);
}

// An outlier of a channel that is larger than others is kept, one of a channel that is hardly ever anything is not.
TEST(KeptShares, InputChannelsCountByTheirSquares) {
  const Graph graph = Outlier(300);
  const NodeId node = graph.FindNode("y");
  const Tensor& weights = *graph.ConstantTensor(graph.input(node, 1));
  std::vector<float> kept;
  for (const float magnitude : {0.0f, 1.0f, 100.0f}) {
    ValueRange range{.min = 0, .max = 100, .channel_axis = 1};
    range.channel_magnitudes.assign(300, 1.0f);
    range.channel_magnitudes[5] = magnitude;
    ValueRanges ranges;
    ranges.values["x"] = range;
    kept.push_back(KeptShares(graph, node, graph.input(node, 0), weights, true, 15, ranges)[1]);
  }
  EXPECT_LT(kept[0], kept[2]);
  EXPECT_LE(kept[0], kept[1]);
  EXPECT_EQ(kept[2], 1);
}

TEST(KeptShares, WeightsOfZerosAndOneNumber) {
  const Graph graph =
      Parsed("graph (x: f32[2,3]) { w = const f32[3,2] {0, 1, 0, 0, 0, 0}  y = matmul(x, w)  return y }");
  const NodeId node = graph.FindNode("y");
  const Tensor& weights = *graph.ConstantTensor(graph.input(node, 1));
  EXPECT_THAT(KeptShares(graph, node, graph.input(node, 0), weights, true, 127, ValueRanges()), Each(1.0f));
}

TEST(QuantizationOfWeights, ReachesOverAShare) {
  const Tensor weights = Tensor::Of<float>({2, 2}, std::vector<float>{1, -2, 4, 0.5f});
  const std::vector<float> shares = {0.5f, 1.0f};
  const absl::StatusOr<Quantization> quantization = QuantizationOfWeights(weights, 0, 63, shares);
  ASSERT_TRUE(quantization.ok()) << quantization.status();
  EXPECT_THAT(quantization->scales, ElementsAre(FloatNear(1.0f / 63, 1e-6f), FloatNear(4.0f / 63, 1e-6f)));
  EXPECT_THAT(QuantizedWeights(weights, *quantization, 63).ToInts(), ElementsAre(63, -63, 63, 8));
}

TEST(InsertQuantization, ClipsWeightsAndSaysSo) {
  const Graph graph = Outlier(300);
  ValueRange range{.min = -1, .max = 1, .channel_axis = 1};
  range.channel_magnitudes.assign(300, 1.0f);
  range.channel_magnitudes[5] = 0;  // what the outlier is multiplied by
  ValueRanges ranges;
  ranges.values["x"] = range;
  const PermissiveTarget target;
  for (const bool clip : {false, true}) {
    RewriteLog log;
    PassContext context{.target = target, .log = &log};
    Pipeline pipeline("quantize");
    pipeline.Add<InsertQuantization>(ranges, std::set<NodeId>{graph.FindNode("y")},
                                     QuantizeOptions{.clip_weights = clip, .narrow_weights = {graph.FindNode("y")}});
    Graph quantized = graph;
    ASSERT_TRUE(pipeline.Run(quantized, context).ok());
    const bool said =
        std::ranges::any_of(log.entries(), [](const auto& entry) { return entry.pass == "clip-weights"; });
    EXPECT_EQ(said, clip);
    for (const NodeId id : quantized.nodes()) {
      const Tensor* tensor = quantized.ConstantTensor(quantized.output(id));
      if (tensor == nullptr || tensor->type() != DataType::kInt8) continue;
      for (const int64_t integer : tensor->ToInts()) EXPECT_LE(std::abs(integer), 63);
    }
  }
}

}  // namespace
}  // namespace halftone
