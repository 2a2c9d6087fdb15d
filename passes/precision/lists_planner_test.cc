// SPDX-License-Identifier: Apache-2.0
// The planner, step by step, on small graphs in text form.

#include "passes/precision/lists_planner.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/precision/op_lists.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// The labels of the marked nodes, and the whole plan.
struct Planned {
  Graph graph;
  ListsPlan lists;

  // A graph with the channels last counts as one of a TensorFlow file.
  Planned(std::string_view text, PlannerOptions options = {}) {
    static constexpr FileDialect kTensorFlow = {.is_fused_op = [](std::string_view op) { return op[0] == '_'; }};
    absl::StatusOr<Graph> parsed = ParseGraph(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    graph = *std::move(parsed);
    if (graph.layout() == GraphLayout::kChannelsLast) options.imported_from = &kTensorFlow;
    absl::StatusOr<ListsPlan> plan = PlanByLists(graph, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    lists = *std::move(plan);
  }
  std::string Marked() const {
    std::string names;
    for (const auto& [key, decision] : lists.plan.decisions) {
      if (decision.type == DataType::kBFloat16) names += (names.empty() ? "" : " ") + graph.Label(key.first);
    }
    return names;
  }
  const TypeAttributeDecision& AttributeOf(std::string_view node, std::string_view attribute = "T",
                                           int index = -1) const {
    static const TypeAttributeDecision kNothing;
    for (const TypeAttributeDecision& row : lists.attributes) {
      if (row.node == node && row.type_attr == attribute && row.index == index) return row;
    }
    ADD_FAILURE() << "no row for " << node << " " << attribute;
    return kNothing;
  }
  const Decision& Of(std::string_view label, char variable = 'T') const {
    static const Decision kNothing;
    for (const auto& [key, decision] : lists.plan.decisions) {
      if (graph.Label(key.first) == label && key.second == variable) return decision;
    }
    ADD_FAILURE() << "no decision for " << label;
    return kNothing;
  }
};

TEST(ListsPlanner, AllowOpsAreMarkedEvenAlone) {
  const Planned p("graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  return y=softmax(m) }");
  EXPECT_EQ(p.Marked(), "m");
  EXPECT_EQ(p.Of("m").reason, "allow list: MatMul");
  EXPECT_EQ(p.Of("m").list, "allow");
  EXPECT_EQ(p.Of("m").step, "allow");
  EXPECT_EQ(p.Of("m").type_attribute, "T");
  EXPECT_EQ(p.Of("m").rule, "lists.allow");
  EXPECT_EQ(
      p.lists.summary.ToString(),
      "Converted 1/2 nodes to bfloat16 precision using 1 cast(s) to bfloat16 (excluding Const and Variable casts)");
  EXPECT_EQ(p.lists.summary.casts_to_f32, 1);
}

TEST(ListsPlanner, InferAndClearOpsBetweenAllowOpsAreMarked) {
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]
      a = matmul(x, w)  b = tanh(a)  c = relu(b)  d = matmul(c, w)  e = tanh(d)  return y=exp(e) })");
  EXPECT_EQ(p.Marked(), "a b c d");
  EXPECT_EQ(p.Of("b").step, "infer-between");
  EXPECT_EQ(p.Of("e").reason, "infer list: Tanh, not between two allow ops");
}

TEST(ListsPlanner, ClearOpsNextToMarkedOnesAreMarkedThroughEachOther) {
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]
      p = relu(x)  q = transpose(p, [0, 1])  a = matmul(q, w)  b = relu(a)  c = flatten(b)  d = tanh(c)  e = relu(d)  return y=sigmoid(e) })");
  EXPECT_EQ(p.Marked(), "p q a b c");
  EXPECT_EQ(p.Of("c").step, "clear-adjacent");
  EXPECT_EQ(p.Of("e").reason, "clear list: Relu, not next to a bfloat16 op");
}

TEST(ListsPlanner, DenyIsPropagatedThroughClearAndInferToTheNextDenyOrInferOp) {
  // exp -> relu -> tanh is denied up to tanh; what follows it, without a later deny or infer op, is not.
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]
      a = matmul(x, w)  b = exp(a)  c = relu(b)  d = tanh(c)  e = matmul(d, w)  r = relu(d)  return y=softmax(e), z=r })");
  EXPECT_EQ(p.Marked(), "a e");
  EXPECT_EQ(p.Of("b").reason, "deny list: Exp");
  EXPECT_EQ(p.Of("c").reason, "on a path from 'b' (deny list: Exp) to a deny or infer op");
  EXPECT_EQ(p.Of("d").step, "deny-propagation");
  EXPECT_EQ(p.Of("r").step, "clear");
}

TEST(ListsPlanner, WithoutTheDenyOpTheSameChainIsMarked) {
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]
      a = matmul(x, w)  c = relu(a)  d = tanh(c)  e = matmul(d, w)  return y=softmax(e) })");
  EXPECT_EQ(p.Marked(), "a c d e");
}

TEST(ListsPlanner, OpaqueNodesPassDenyOnAndAreNeverMarked) {
  const Planned p(R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,3]
      a = matmul(x, w)  b = exp(a)  c: f32[2,3] = opaque "Tile" (b)  d = tanh(c)  e = matmul(d, w)  f: f32[2,3] = opaque "Tile" (e)
      return y=softmax(f) })");
  EXPECT_EQ(p.Marked(), "a e");
  EXPECT_EQ(p.Of("c").step, "deny-propagation");
  EXPECT_EQ(p.Of("d").step, "deny-propagation");
  EXPECT_EQ(p.Of("f").reason,
            "opaque (unsupported) op: never changed (bfloat16 in TensorFlow: clear list: Tile, next to a bfloat16 op)");
  EXPECT_EQ(p.Of("f").rule, "lists.not-possible");
  EXPECT_EQ(p.AttributeOf("f").type, DataType::kBFloat16);
}

TEST(ListsPlanner, InferOpsAfterMarkedOnesOnlyIfAsked) {
  const char* text =
      R"(graph (x: f32[2,3], r: f32[2,3]) { w = const f32[3,3]  k = const f32[3]  a = matmul(x, w)  b = bias_add(a, k) {layout="NHWC"}
      c = softmax(b)  d = relu(c)  e = exp(r)  f = add(a, e)  return y=d, z=f })";
  EXPECT_EQ(Planned(text).Marked(), "a");
  const Planned p(text, {.mark_infer_after_allow = true});
  EXPECT_EQ(p.Marked(), "a b c d");
  EXPECT_EQ(p.Of("c").step, "infer-after");
  EXPECT_EQ(p.Of("f").step, "deny-propagation");
}

TEST(ListsPlanner, OutputsOfAGraphDefAreKeptUnlessAsked) {
  const char* text =
      R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,3]  a = matmul(x, w)  y = matmul(a, w)  return y })";
  const Planned p(text);
  EXPECT_EQ(p.Marked(), "a");
  EXPECT_THAT(p.Of("y").reason, HasSubstr("output of the graph"));
  EXPECT_EQ(Planned(text, {.keep_output_nodes = false}).Marked(), "a y");
}

TEST(ListsPlanner, OtherDevicesAreNotProcessed) {
  const Planned p(
      R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,3]  a = matmul(x, w) device="/device:GPU:0"
      b = matmul(a, w) device="/job:localhost/replica:0/task:0/device:CPU:0"  return y=softmax(b) })");
  EXPECT_EQ(p.Marked(), "b");
  EXPECT_THAT(p.Of("a").reason, HasSubstr("is not a CPU"));
}

TEST(ListsPlanner, StatisticsOfABatchNormStayF32AndItsFirstVersionCountsAsTheSecond) {
  const Planned p(R"(graph layout=channels_last (x: f32[2,5,4,3]) { w = const f32[1,1,3,3]  s = const f32[3]
      a = conv "Conv2D" (x, w) {layout="NHWC", weights_layout="HWIO"}  b = batch_norm "FusedBatchNorm" (a, s, s, s, s) {layout="NHWC"}
      c = conv "Conv2D" (b, w) {layout="NHWC", weights_layout="HWIO"}  return y=softmax(c) })");
  EXPECT_EQ(p.Marked(), "a b c");
  EXPECT_EQ(p.Of("b").reason, "infer list: FusedBatchNormV2, between allow ops");
  EXPECT_EQ(p.Of("b", 'U').type, DataType::kFloat32);
  EXPECT_EQ(p.Of("b", 'U').type_attribute, "U");
}

TEST(ListsPlanner, ValuesThatFeedOnlyTheStatisticsAreNoPathOfTheData) {
  // The matmul's result is the scale of the batch norm: not connected to its data.
  const Planned p(
      R"(graph layout=channels_last (x: f32[3], i: f32[2,5,4,3], o: f32[1,3]) { w = const f32[3,3]  k = const f32[1,1,3,3]
      m = matmul(o, w)  t = tanh(m)  s = reshape(t, [3])  b = batch_norm (i, s, x, x, x) {layout="NHWC"}
      c = conv(b, k) {layout="NHWC", weights_layout="HWIO"}  return y=softmax(c) })");
  EXPECT_EQ(p.Marked(), "m c");
}

TEST(ListsPlanner, TheRegistryDecidesWhatMayBeBFloat16) {
  const Planned p(R"(graph (x: f32[1,3,4,5]) { w = const f32[3,3,1,1]  s = const f32[4] {1, 1, 2, 2}
      a = conv(x, w)  r = resize(a, _, s) {mode="nearest"}  b = conv(r, w)  return y=softmax(b) })");
  EXPECT_EQ(p.Marked(), "a b");
  EXPECT_EQ(p.Of("r").reason, "TensorFlow's ResizeNearestNeighbor allows no bfloat16");
}

TEST(ListsPlanner, IntegerMatmulsAreLeftAlone) {
  const Planned p("graph (x: s32[2,3]) { w = const s32[3,3] {1,2,3,4,5,6,7,8,9}  a = matmul(x, w)  return y=a }");
  EXPECT_EQ(p.Marked(), "");
  EXPECT_EQ(p.Of("a").reason, "its data is not f32");
}

constexpr char kLoop[] = R"(graph layout=channels_last (x: f32[2,3], p: bool[]) { w = const f32[3,3]
    e = enter(x)  m: f32[2,3], _ = merge(e, n)  s0, s1 = switch(m, p)  a = matmul(s1, w)  BODY  n: f32[2,3] = next_iteration(b)
    q = exit(s0)  return y=softmax(q) })";

std::string Loop(const std::string& body) {
  std::string text = kLoop;
  return text.replace(text.find("BODY"), 4, body);
}

TEST(ListsPlanner, ALoopWhoseMergeIsMarkedHasAMarkedNextIteration) {
  const Planned p(Loop("b = relu(a)"));
  EXPECT_THAT(p.Marked(), AllOf(HasSubstr("m"), HasSubstr("n"), HasSubstr("b")));
  EXPECT_EQ(p.Of("m").type, DataType::kBFloat16);
  EXPECT_EQ(p.Of("n").type, DataType::kBFloat16);
}

TEST(ListsPlanner, BothEndsOfALoopEdgeHaveOneType) {
  // exp denies what follows it up to an infer op: the body's sigmoid. Next_iteration is in between.
  const Planned p(Loop("c = exp(a)  b = sigmoid(c)"));
  EXPECT_EQ(p.Of("n").type, p.Of("m").type);
}

TEST(ListsPlanner, AnExistingCastWhoseReadersAreMarkedIsMarked) {
  const Planned p(
      R"(graph (x: u8[2,3]) { w = const f32[3,3]  c: f32[2,3] = cast(x)  a = matmul(c, w)  return y=softmax(a) })");
  EXPECT_EQ(p.Marked(), "c a");
  EXPECT_EQ(p.Of("c", 'D').type_attribute, "DstT");
  const Planned q(
      R"(graph (x: u8[2,3]) { w = const f32[3,3]  c: f32[2,3] = cast(x)  a = matmul(c, w)  return y=softmax(a), z=tanh(c) })");
  EXPECT_EQ(q.Marked(), "a");
}

TEST(ListsPlanner, CastsAreCountedPerValueNotPerReader) {
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]  a = matmul(x, w)  b = matmul(x, w)
      return y=tanh(a), z=sigmoid(a), u=softmax(b) })");
  EXPECT_EQ(p.lists.summary.casts_to_bf16, 1);
  EXPECT_EQ(p.lists.summary.casts_to_f32, 2);
}

TEST(ListsPlanner, GraphDefCountsItsConstantsAsTensorFlowDoes) {
  const Planned p(
      R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,3] name="w"  a = matmul(x, w) name="a"  y = softmax(a) name="y"  return y })");
  EXPECT_EQ(p.lists.summary.nodes, 4);
  EXPECT_EQ(p.lists.summary.marked, 1);
}

TEST(ListsPlanner, IntelsListsHaveFusedOpsAndMarkWhatFollows) {
  const char* text = R"(graph layout=channels_last (x: f32[2,5,4,3]) { w = const f32[1,1,3,3]  k = const f32[3]
      a = conv(x, w, k) {layout="NHWC", weights_layout="HWIO", activation="relu"}  b = tanh(a)  return y=exp(b) })";
  static constexpr FileDialect kItex = {.fused_op = [](const Graph& g, NodeId node) -> std::string_view {
    return g.node(node).attributes.has("activation") ? "_ITEXFusedConv2D" : "";
  }};
  const Planned p(text, {.fused_as = &kItex, .lists_version = ListsVersion::kItex});
  EXPECT_EQ(p.Of("a").reason, "allow list: _ITEXFusedConv2D");
  EXPECT_EQ(p.Of("b").step, "infer-after");
  const Planned q(text, {.fused_as = &kItex, .mark_infer_after_allow = false, .lists_version = ListsVersion::kItex});
  EXPECT_EQ(q.Marked(), "a");
}

TEST(ListsPlanner, Float16IsPlannedAsBFloat16Is) {
  const Planned p("graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  return y=softmax(m) }",
                  {.target_type = DataType::kFloat16});
  EXPECT_EQ(p.Of("m").type, DataType::kFloat16);
  EXPECT_THAT(p.lists.summary.ToString(), HasSubstr("Converted 1/2 nodes to float16 precision"));
}

}  // namespace
}  // namespace halftone
