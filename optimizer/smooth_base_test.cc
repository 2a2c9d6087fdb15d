// SPDX-License-Identifier: Apache-2.0
// SmoothBase: only where it is asked for, graph and ranges together.

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "optimizer/quantize.h"
#include "passes/core/equivalence.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

TEST(SmoothBase, OnlyWhereAskedFor) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph (t: f32[4,4]) {
    g = const f32[4] {1, 0.9, 120, 1.1}
    w = const f32[4,3] uniform(-1, 1)
    x = layer_norm(t, g)
    y = matmul(x, w)
    return y
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ValueRange range{.min = -200, .max = 200, .observed_min = -200, .observed_max = 200, .channel_axis = 1};
  range.channel_magnitudes = {1.5f, 1.5f, 200, 1.5f};
  ValueRanges known;
  known.values["x"] = range;
  const std::unique_ptr<Target> target = MakeCpuTarget();
  for (const bool smooth : {false, true}) {
    OptimizeOptions options;
    options.int8.smooth = smooth;
    Int8Base base;
    base.graph = *graph;
    ValueRanges ranges = known;
    const absl::Status status = SmoothBase(base, ranges, *target, options);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(ranges == known, !smooth);
    EXPECT_EQ(PrintGraph(base.graph) == PrintGraph(*graph), !smooth);
    EXPECT_LT(ranges.values.at("x").max, smooth ? 40 : 201);
    const absl::StatusOr<std::string> difference = CompareOutputs(*graph, base.graph, /*seed=*/3, 1e-5f);
    ASSERT_TRUE(difference.ok()) << difference.status();
    EXPECT_EQ(*difference, "");
  }
}

}  // namespace
}  // namespace halftone
