// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/recurrent_state.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/recurrent.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return *std::move(graph);
}

ValueRanges RangesOf(const std::vector<std::string>& names) {
  ValueRanges ranges;
  for (const std::string& name : names) ranges.values[name] = {.min = -1, .max = 1};
  return ranges;
}

std::string Lstm(std::string_view inputs, std::string_view head = "x: f32[7,3,5]", std::string_view attributes = "") {
  return Concat("graph (", head, R"() {
    w = const f32[1,24,5]
    r = const f32[1,24,6]
    b = const f32[1,48]
    y, y_h, y_c = lstm(x, w, r, b)",
                inputs, ")", attributes, R"(
    return y, y_h, y_c
  })");
}

class RecurrentStateTest : public ::testing::Test {
 protected:
  // What becomes of all recurrent nodes; the reason where they stay.
  std::string Quantize(Graph& graph, const ValueRanges& ranges, QuantizeOptions options = {}) {
    std::set<NodeId> nodes;
    for (const NodeId id : graph.nodes()) {
      if (Info(graph.op(id)).group == OpGroup::kRecurrent) nodes.insert(id);
    }
    RewriteLog log;
    PassContext context{.target = target_, .log = &log};
    Pipeline pipeline("quantize");
    pipeline.Add<InsertQuantization>(ranges, nodes, options);
    pipeline.Add<RemoveDeadNodes>();
    const absl::Status status = pipeline.Run(graph, context);
    EXPECT_TRUE(status.ok()) << status;
    for (const RewriteLogEntry& entry : log.entries()) {
      if (!entry.applied && entry.pass == "insert-quantization") return entry.text;
    }
    return "";
  }

  std::string Fold(Graph& graph) {
    RewriteLog log;
    PassContext context{.target = target_, .log = &log};
    Pipeline pipeline("fold");
    pipeline.Add<FoldRecurrentQuantization>();
    pipeline.Add<RemoveDeadNodes>();
    const absl::Status status = pipeline.Run(graph, context);
    EXPECT_TRUE(status.ok()) << status;
    for (const RewriteLogEntry& entry : log.entries()) {
      if (!entry.applied) return entry.text;
    }
    return "";
  }

  static NodeId TheLstm(const Graph& graph) {
    for (const NodeId id : graph.nodes()) {
      if (graph.op(id) == OpKind::kLstm) return id;
    }
    return kNoNode;
  }

  // Largest difference of any output.
  static double Difference(const Graph& a, const Graph& b) {
    const std::vector<Tensor> inputs = reference::RandomInputs(a, /*seed=*/3);
    const auto first = reference::EvaluateGraph(a, inputs), second = reference::EvaluateGraph(b, inputs);
    EXPECT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    double most = 0;
    for (size_t i = 0; i < first->size(); ++i) {
      const std::vector<double> x = (*first)[i].ToDoubles(), y = (*second)[i].ToDoubles();
      for (size_t k = 0; k < x.size(); ++k) most = std::max(most, std::abs(x[k] - y[k]));
    }
    return most;
  }

  PermissiveTarget target_;
};

TEST_F(RecurrentStateTest, AStateIsAddedAndQuantized) {
  const Graph before = Parsed(Lstm(""));
  Graph graph = before;
  ASSERT_EQ(Quantize(graph, RangesOf({"x"})), "");
  const NodeId pairs = TheLstm(graph);
  for (const int i : {kRecurrentX, kRecurrentW, kRecurrentR, kRecurrentH})
    EXPECT_EQ(graph.op(graph.input(pairs, i)), OpKind::kDequantizeLinear) << i;
  EXPECT_EQ(graph.shape(graph.input(pairs, kRecurrentH)), Shape::Of({1, 3, 6}));
  EXPECT_LT(Difference(before, graph), 0.05);

  const Graph in_pairs = graph;
  ASSERT_EQ(Fold(graph), "");
  const NodeId folded = TheLstm(graph);
  for (const int i : {kRecurrentX, kRecurrentW, kRecurrentR})
    EXPECT_NE(graph.quantization(graph.input(folded, i)), nullptr) << i;
  EXPECT_NEAR(graph.node(folded).attributes.Float("state_scale", 0), 2.0 / 255, 1e-6);
  const double rounding = Difference(in_pairs, graph);
  EXPECT_LT(rounding, 0.02);
  EXPECT_GT(rounding, 0) << "states are rounded now";
}

TEST_F(RecurrentStateTest, AStateForABatchThatIsNotKnown) {
  Graph graph = Parsed(Lstm("", "x: f32[7,B,5]"));
  ASSERT_EQ(Quantize(graph, RangesOf({"x"})), "");
  EXPECT_EQ(graph.shape(graph.input(TheLstm(graph), kRecurrentH)).dim(0), Dim::Of(1));
  Graph whole = Parsed(Lstm("", "x: f32[7,3,5]"));
  GraphEditor(graph).SetShape(graph.output(graph.inputs()[0]), Shape::Of({7, 3, 5}));
  EXPECT_LT(Difference(whole, graph), 0.05);
}

TEST_F(RecurrentStateTest, AStateThatIsGivenWidensTheRange) {
  const ValueRanges ranges = RangesOf({"x"});
  Graph graph = Parsed(R"(graph (x: f32[2,1,3]) {
    w = const f32[1,4,3]
    r = const f32[1,4,1]
    h = const f32[1,1,1] {3.0}
    y = lstm(x, w, r, _, _, h)
    return y
  })");
  const NodeId id = TheLstm(graph);
  EXPECT_EQ(StateRangeOf(graph, id, ranges).max, 3);
  EXPECT_EQ(StateRangeOf(graph, id, ranges).min, -1);
  ASSERT_EQ(Quantize(graph, ranges), "");
  ASSERT_EQ(Fold(graph), "");
  EXPECT_NEAR(graph.node(TheLstm(graph)).attributes.Float("state_scale", 0), 4.0 / 255, 1e-6);
}

TEST_F(RecurrentStateTest, KeptAsTheyAre) {
  struct Row {
    std::string text, reason;
  };
  const Row rows[] = {
      {Lstm("", "x: f32[7,3,5]", " {activations=[\"Sigmoid\",\"Tanh\",\"Relu\"]}"), "do not bound the state"},
      {Lstm(", _, h", "x: f32[7,3,5], h: f32[1,3,6]"), "no range of 'h' is known"},
      {"graph (x: f32[7,3,5], w: f32[1,24,5]) {\n r = const f32[1,24,6]\n y = lstm(x, w, r)\n return y }",
       "weights are computed"},
  };
  for (const Row& row : rows) {
    Graph graph = Parsed(row.text);
    ValueRanges ranges = RangesOf({"x"});
    EXPECT_THAT(Quantize(graph, ranges), HasSubstr(row.reason)) << row.text;
  }
  Graph graph = Parsed(Lstm(""));
  EXPECT_THAT(Quantize(graph, RangesOf({"x"}), {.recurrent = false}), HasSubstr("format has no op"));
}

TEST_F(RecurrentStateTest, PairsWithoutAScaleOfTheStateStay) {
  Graph graph = Parsed(R"(graph (q: u8[2,1,3]) {
    s = const f32[] {0.01}
    z = const s8[] {0}
    u = const u8[] {128}
    x: f32[2,1,3] = dequantize_linear(q, s, u)
    wi = const s8[1,4,3]
    ri = const s8[1,4,1]
    w: f32[1,4,3] = dequantize_linear(wi, s, z)
    r: f32[1,4,1] = dequantize_linear(ri, s, z)
    y = lstm(x, w, r)
    return y
  })");
  EXPECT_THAT(Fold(graph), HasSubstr("the initial state has no scale"));
}

}  // namespace
}  // namespace halftone
