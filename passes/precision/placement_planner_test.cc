// SPDX-License-Identifier: Apache-2.0
// The planner "placement", step by step, on small graphs in text form: fused ones, as it gets them.

#include "passes/precision/placement_planner.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Planned {
  Graph graph;
  PlannedPrecision planned;

  explicit Planned(std::string_view text, const PlacementOptions& options = {}) {
    absl::StatusOr<Graph> parsed = ParseGraph(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    graph = *std::move(parsed);
    absl::StatusOr<PlannedPrecision> plan = PlanByPlacement(graph, PermissiveTarget(), options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    planned = *std::move(plan);
  }
  std::string Reduced() const {
    std::string names;
    for (const auto& [key, decision] : planned.plan.decisions) {
      if (decision.IsReduced()) names += (names.empty() ? "" : " ") + graph.Label(key.first);
    }
    return names;
  }
  const Decision& Of(std::string_view label, char variable = 'T') const {
    static const Decision kNothing;
    for (const auto& [key, decision] : planned.plan.decisions) {
      if (graph.Label(key.first) == label && key.second == variable) return decision;
    }
    ADD_FAILURE() << "no decision for " << label;
    return kNothing;
  }
};

// conv, relu6 (on no list), conv: two that are marked side by side, one alone.
constexpr char kOrphan[] = R"(graph (x: f32[2,3,5,4]) {
  w = const f32[6,3,2,3]  v = const f32[2,6,1,1]  u = const f32[2,2,1,1]
  a = conv(x, w)  b = relu(a)  c = relu6(b)  d = conv(c, v)  e = tanh(d)  f = conv(e, u)  g = relu(f)  return g })";

TEST(Placement, OrphansGoBackToFloat32) {
  const Planned p(kOrphan);
  EXPECT_EQ(p.Reduced(), "a b f g");
  EXPECT_EQ(p.Of("a").rule, "placement.marked");
  EXPECT_THAT(p.Of("a").reason, HasSubstr("conv2d"));
  EXPECT_EQ(p.Of("c").rule, "placement.not-listed");
  EXPECT_THAT(p.Of("c").reason, HasSubstr("relu6"));
  EXPECT_EQ(p.Of("d").rule, "placement.orphan");
  EXPECT_EQ(p.Of("d").reason, "between float32 nodes: producer 'c', consumer 'e' (conv2d)");
  EXPECT_EQ(p.planned.summary,
            "marked 4 of 7 operators to bfloat16, 1 orphan back to float32, 0 with float32 output, 4 casts");
}

TEST(Placement, TheFirstAndTheLastNodeHaveFloat32Beside) {
  const Planned alone("graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  return m }");
  EXPECT_EQ(alone.Reduced(), "") << "input and output are f32";
  EXPECT_EQ(alone.Of("m").reason, "between float32 nodes: producer 'x', consumer 'output m' (matmul)");
  const Planned two("graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  r = relu(m)  return r }");
  EXPECT_EQ(two.Reduced(), "m r") << "each has one bfloat16 neighbour";
}

TEST(Placement, AllProducersAndReadersAreLookedAt) {
  // add: a marked producer first, one in f32 second; read by a marked node first, by one in f32 second.
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,3]
    m = matmul(x, w)  r = relu(m)  t = tanh(x)  s = add(r, t)  u = relu(s)  z = tanh(s)  return u, z })");
  EXPECT_EQ(p.Of("s").rule, "placement.orphan");
  EXPECT_THAT(p.Of("s").reason, HasSubstr("producer 't', consumer 'z'"));
  EXPECT_EQ(p.Of("u").rule, "placement.orphan") << "its producer went back to f32, and its consumer is an output";
  EXPECT_EQ(p.Reduced(), "m r");
}

TEST(Placement, ConstantsAreNoProducers) {
  const Planned p("graph (x: f32[3]) { c = const f32[2,3]  a = relu(x)  b = add(a, c)  return b }");
  EXPECT_EQ(p.Reduced(), "a b") << "b has no producer in f32";
}

TEST(Placement, ProductsGetFloat32OutputWhereAllReadersWantIt) {
  const Planned p(R"(graph (x: f32[2,3]) { w = const f32[3,5]  b = const f32[5]  v = const f32[5,5]
    m = matmul(x, w, b)  r = relu(m)  n = matmul(r, v)  y = tanh(n)  return y })");
  EXPECT_EQ(p.Reduced(), "m r n");
  EXPECT_FALSE(p.Of("m").f32_output);
  EXPECT_TRUE(p.Of("n").f32_output);
  EXPECT_THAT(p.Of("n").reason, HasSubstr("its result stays float32 for 'y'"));
  EXPECT_THAT(p.planned.summary, HasSubstr("1 with float32 output, 1 cast"));
}

TEST(Placement, NoFloat32OutputForMixedReadersNorWithAResidual) {
  const Planned mixed(R"(graph (x: f32[2,5]) { v = const f32[5,5]
    r = relu(x)  n = matmul(r, v)  s = sigmoid(n)  y = tanh(n)  return s, y })");
  EXPECT_FALSE(mixed.Of("n").f32_output);
  const Planned residual(R"(graph (x: f32[2,3,5,4]) { w = const f32[3,3,1,1]
    r = relu(x)  n = conv(r, w, _, r)  y = tanh(n)  return y })");
  EXPECT_EQ(residual.Of("n").rule, "placement.marked");
  EXPECT_FALSE(residual.Of("n").f32_output);
}

TEST(Placement, OnlyStaticShapes) {
  const Planned p(R"(graph (x: f32[2,6], s: s64[2]) {
    r = relu(x)  a = reshape(r, [3, 4])  b = reshape(r, s)  c = relu(a)  d = relu(b)  return c, d })");
  EXPECT_EQ(p.Of("a").rule, "placement.marked");
  EXPECT_EQ(p.Of("b").rule, "placement.dynamic-shape");
  EXPECT_EQ(p.Of("b").reason, "input 'shape' of reshape is computed by 's', not a constant");
}

TEST(Placement, InputsMustBeFloat32) {
  const Planned p("graph (x: s64[2,3], f: f64[2]) { r = add(x, x)  s = relu(f)  return r, s }");
  EXPECT_EQ(p.Of("r").rule, "target.input-type");
  EXPECT_EQ(p.Of("r").reason, "input 'a' is s64, not f32");
  EXPECT_EQ(p.Of("s").reason, "input 'x' is f64, not f32");
}

TEST(Placement, AScaleWhoseBiasComesAfterIsLeftAlone) {
  const Planned p(R"(graph (x: f32[2,3]) {
    r = relu(x)  a = binary_chain(r, 2.0:f32, 1.0:f32) {ops=["mul", "add"]}
    b = binary_chain(r, 2.0:f32, 1.0:f32) {ops=["add", "mul"]}  c = relu(a)  d = relu(b)  return c, d })");
  EXPECT_EQ(p.Of("a").rule, "placement.scale-order");
  EXPECT_EQ(p.Of("b").rule, "placement.marked");
  EXPECT_THAT(p.Of("b").reason, HasSubstr(": scale;"));
}

TEST(Placement, ACastReadsBfloat16AsItComes) {
  const Planned p("graph (x: f32[2,3]) { r = relu(x)  c: s64[2,3] = cast(r)  return c }");
  EXPECT_EQ(p.Of("c", 'D').rule, "placement.marked");
  EXPECT_EQ(p.Reduced(), "r") << "what the cast makes stays s64";
  EXPECT_THAT(p.planned.summary, HasSubstr("marked 2 of 2 operators to bfloat16, 0 orphans back to float32, 0 with "
                                           "float32 output, 1 cast"));
  const Planned q("graph (x: s64[2,3]) { c: f32[2,3] = cast(x)  r = relu(c)  s = relu(r)  return s }");
  EXPECT_EQ(q.Of("c", 'D').reason, "input 'x' is s64, not f32");
  EXPECT_EQ(q.Reduced(), "r s");
}

TEST(Placement, TheVersionsDiffer) {
  constexpr char kText[] = "graph (x: f32[2,3]) { a = sigmoid(x)  b = relu(a)  c = relu(b)  return c }";
  EXPECT_EQ(Planned(kText).Reduced(), "a b c");
  const Planned old(kText, {.lists = PlacementLists::kPaddle2});
  EXPECT_EQ(old.Reduced(), "b c");
  EXPECT_EQ(old.Of("a").reason, "Paddle's list (paddle-2.x) has no sigmoid");
  EXPECT_THAT(PlacementOpNames(PlacementLists::kPaddle2),
              ElementsAre("concat", "conv2d", "conv2d_transpose", "elementwise_add", "elementwise_mul", "fc",
                          "fusion_gru", "fusion_lstm", "gelu", "layer_norm", "matmul", "matmul_v2", "pool2d", "prelu",
                          "relu", "reshape2", "softmax", "split", "sum", "transpose2"));
  EXPECT_THAT(PlacementOpNames(PlacementLists::kPaddle),
              ElementsAre("bilinear_interp", "cast", "clip", "concat", "conv2d", "conv2d_transpose_bias",
                          "conv2d_transpose", "add", "multiply", "fc", "fusion_gru", "gelu", "layer_norm", "matmul",
                          "pool2d", "prelu", "relu", "reshape", "scale", "sigmoid", "slice", "softmax", "squeeze",
                          "split", "sum", "transpose", "fused_conv2d", "fused_matmul"));
}

TEST(Placement, SumMeansADifferentOpInEachVersion) {
  constexpr char kText[] = R"(graph (x: f32[2,3]) {
    r = relu(x)  a = add_n(r, r)  b = reduce_sum(r, [1])  c = relu(a)  d = relu(b)  return c, d })";
  EXPECT_EQ(Planned(kText).Of("b").rule, "placement.marked");
  EXPECT_EQ(Planned(kText).Of("a").rule, "placement.not-listed");
  const Planned old(kText, {.lists = PlacementLists::kPaddle2});
  EXPECT_EQ(old.Of("a").rule, "placement.marked");
  EXPECT_EQ(old.Of("b").rule, "placement.not-listed");
}

TEST(Placement, TheUsersOwnListIsASubset) {
  const Planned p(kOrphan, {.ops = {"relu"}});
  EXPECT_EQ(p.Reduced(), "");
  EXPECT_THAT(p.Of("a").reason, HasSubstr("the policy's part of Paddle's list (paddle) has no conv"));
  const absl::Status wrong = CheckPlacementOptions({.ops = {"relu", "tanh", "matmul_v2"}});
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("op_types: tanh, matmul_v2 are not on Paddle's list (paddle)"));
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("must be: bilinear_interp, cast, clip"));
  EXPECT_TRUE(CheckPlacementOptions({.lists = PlacementLists::kPaddle2, .ops = {"matmul_v2"}}).ok());
}

TEST(Placement, OpaqueNodesStay) {
  const Planned p(R"(graph (x: f32[2,3]) { r = relu(x)  y: f32[2,3] = opaque "Foo" (r)  s = relu(y)  return s })");
  EXPECT_EQ(p.Of("y").rule, "placement.not-listed");
  EXPECT_EQ(p.Reduced(), "");
}

TEST(Placement, WorksOnGraphDefs) {
  const Planned p(R"(graph layout=channels_last (x: f32[1,6,7,2]) {
    w = const f32[3,3,2,4] name="w"  b = const f32[4] name="b"
    c = conv(x, w, b) {auto_pad="SAME_UPPER", layout="NHWC", weights_layout="HWIO", activation="relu"} name="c"
    p = max_pool "MaxPool" (c) {kernel=[2, 2], layout="NHWC"} name="p"  y = relu "Relu" (p) name="y"  return y })");
  EXPECT_EQ(p.Reduced(), "c p y");
  EXPECT_EQ(p.Of("c").list, "fused_conv2d");
  EXPECT_EQ(p.Of("p").list, "pool2d");
}

TEST(Placement, AnotherDeviceIsNotOurs) {
  const Planned p(R"(graph layout=channels_last (x: f32[2,3]) {
    a = relu "Relu" (x) name="a"  b = relu "Relu" (a) name="b" device="/device:GPU:0"  return b })");
  EXPECT_EQ(p.Of("b").rule, "target.device");
  EXPECT_THAT(p.Of("b").reason, HasSubstr("GPU:0"));
}

TEST(Placement, Float16KeepsWhatItCannotHold) {
  const Planned p(R"(graph (x: f32[2,3]) { c = const f32[3] {1, 2, 70000}  d = const f32[3] {1, 2, 65504}
    r = relu(x)  a = add(r, c)  b = add(r, d)  s = relu(b)  return a, s })",
                  {.type = DataType::kFloat16});
  EXPECT_EQ(p.Of("a").rule, "target.float16-range");
  EXPECT_THAT(p.Of("a").reason, HasSubstr("'c' holds 70000"));
  EXPECT_EQ(p.Of("b").type, DataType::kFloat16);
  EXPECT_THAT(p.planned.summary, HasSubstr("to float16"));
}

TEST(Placement, EveryNodeHasADecisionAndARule) {
  const Planned p(kOrphan);
  for (const NodeId id : p.graph.nodes()) {
    if (p.graph.op(id) == OpKind::kInput || p.graph.op(id) == OpKind::kConstant) continue;
    const Decision* decision = p.planned.plan.Find(p.graph, id);
    ASSERT_NE(decision, nullptr) << p.graph.Label(id);
    EXPECT_FALSE(decision->rule.empty());
    EXPECT_FALSE(decision->reason.empty());
  }
}

TEST(PlacementOps, EveryRowHasAReason) {
  for (const PlacementRow& row : PlacementRows()) {
    EXPECT_FALSE(row.reason.empty()) << row.op;
    EXPECT_NE(row.lists, 0) << row.op;
  }
  EXPECT_EQ(PlacementListsFromName("paddle-2.x"), PlacementLists::kPaddle2);
  EXPECT_EQ(PlacementListsFromName("paddle-1"), std::nullopt);
}

}  // namespace
}  // namespace halftone
