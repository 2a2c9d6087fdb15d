// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ir/editor.h"

namespace halftone {
namespace {

struct Small {
  Graph graph;
  GraphEditor edit{graph};
  ValueId x = edit.AddInput("x", DataType::kFloat32, Shape::Of({2, 3}));
  NodeId relu = edit.Add(OpKind::kRelu, "relu", {x}, {DataType::kFloat32, Shape::Of({2, 3}), "relu"});
  NodeId tanh = edit.Add(OpKind::kTanh, "tanh", {graph.output(relu)}, {DataType::kFloat32, Shape::Of({2, 3}), "tanh"});
};

TEST(Graph, TracksUsesThroughEdits) {
  Small s;
  EXPECT_TRUE(s.graph.HasOneUser(s.graph.output(s.relu)));
  s.edit.AddGraphOutput("relu", s.graph.output(s.relu));
  EXPECT_FALSE(s.graph.HasOneUser(s.graph.output(s.relu)));
  s.edit.SetInput(s.tanh, 0, s.x);
  EXPECT_TRUE(s.graph.uses(s.graph.output(s.relu)).empty());
  EXPECT_EQ(s.graph.uses(s.x).size(), 2u);
}

TEST(Graph, CopiesShareNodesUntilOneEdits) {
  Small s;
  const Graph before = s.graph;
  EXPECT_EQ(&before.node(s.relu), &s.graph.node(s.relu));
  s.edit.SetName(s.relu, "other");
  EXPECT_EQ(before.node(s.relu).name, "relu");
  EXPECT_EQ(s.graph.node(s.relu).name, "other");
  EXPECT_EQ(&before.node(s.tanh), &s.graph.node(s.tanh));
}

TEST(Editor, CountsOnlyWhatChanges) {
  Small s;
  const int64_t before = s.edit.edits();
  s.edit.SetName(s.relu, "relu");
  s.edit.SetInput(s.relu, 0, s.x);
  s.edit.SetType(s.x, DataType::kFloat32);
  EXPECT_EQ(s.edit.edits(), before);
  s.edit.SetAttribute(s.relu, "alpha", 0.5f);
  s.edit.SetAttribute(s.relu, "alpha", 0.5f);
  EXPECT_EQ(s.edit.edits(), before + 1);
}

TEST(Editor, AReplacementTakesNameAndUsers) {
  Small s;
  s.edit.AddGraphOutput("tanh", s.graph.output(s.tanh));
  const NodeId fused = s.edit.Clone(s.relu);
  s.edit.ReplaceNode(s.tanh, fused);
  EXPECT_EQ(s.graph.node(fused).name, "tanh");
  EXPECT_EQ(s.graph.value(s.graph.output(fused)).name, "tanh");
  EXPECT_EQ(s.graph.outputs()[0].value, s.graph.output(fused));
  EXPECT_EQ(s.graph.node(fused).origin, s.relu);
  EXPECT_EQ(s.edit.RemoveDeadNodes(), 1);
  EXPECT_FALSE(s.graph.alive(s.relu));
}

TEST(Graph, OrderFollowsEdgesAndCutsLoopsAtNextIteration) {
  Graph graph;
  GraphEditor edit(graph);
  const ValueId x = edit.AddInput("x", DataType::kFloat32, Shape::Scalar());
  const NodeId merge = edit.Add(OpKind::kMerge, "merge", {x}, {DataType::kFloat32, Shape(), "merge"});
  const NodeId next = edit.Add(OpKind::kNextIteration, "next", {graph.output(merge)}, {DataType::kFloat32, Shape(), "next"});
  edit.SetInput(merge, 1, graph.output(next));
  const std::vector<NodeId> order = graph.TopologicalOrder();
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[1], merge);
  EXPECT_EQ(order[2], next);
}

TEST(Types, BFloat16RoundsToNearestEvenAndKeepsNanQuiet) {
  EXPECT_EQ(BFloat16FromFloat(1.0f), 0x3f80);
  EXPECT_EQ(BFloat16FromFloat(1.00390625f), 0x3f80);   // a tie, down to even
  EXPECT_EQ(BFloat16FromFloat(1.01171875f), 0x3f82);   // a tie, up to even
  EXPECT_EQ(BFloat16FromFloat(-0.0f), 0x8000);
  EXPECT_EQ(BFloat16FromFloat(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_EQ(BFloat16FromFloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(BFloat16FromFloat(1e-45f), 0x0000);
  EXPECT_EQ(BFloat16FromFloat(1e-40f), 0x0001);        // a bf16 denormal
  EXPECT_TRUE(std::isnan(FloatFromBFloat16(BFloat16FromFloat(std::nanf("")))));
  EXPECT_EQ(BFloat16FromFloat(std::numeric_limits<float>::signaling_NaN()) & 0x0040, 0x0040);
}

TEST(Types, Float16RoundTripsItsOwnValues) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(Float16FromFloat(FloatFromFloat16(static_cast<uint16_t>(bits))), bits);
  }
  EXPECT_EQ(Float16FromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(Float16FromFloat(65519.0f), 0x7bff);
  EXPECT_TRUE(std::isnan(FloatFromFloat16(Float16FromFloat(std::nanf("")))));
}

TEST(Tensor, ConvertsAndSaturates) {
  const std::vector<float> values = {1.5f, -1.5f, 1e30f, std::nanf("")};
  const absl::StatusOr<Tensor> ints = Tensor::Of<float>({4}, values).ConvertTo(DataType::kInt32);
  ASSERT_TRUE(ints.ok());
  EXPECT_EQ(ints->ToInts(), (std::vector<int64_t>{1, -1, std::numeric_limits<int32_t>::max(), 0}));
  EXPECT_FALSE(Tensor::OfStrings({1}, {"a"}).ConvertTo(DataType::kFloat32).ok());
}

TEST(Shape, BroadcastsKnownAndSymbolicDimensions) {
  const Shape a(std::vector<Dim>{Dim::Symbol("N"), Dim::Of(1), Dim::Of(3)});
  EXPECT_EQ(BroadcastShapes(a, Shape::Of({5, 1}))->ToString(), "[N,5,3]");
  EXPECT_EQ(BroadcastShapes(Shape::Of({2}), Shape::Of({3})), std::nullopt);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
}

}  // namespace
}  // namespace halftone
