// SPDX-License-Identifier: Apache-2.0
#include "passes/export/widen_types.h"

#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/core/permissive_target.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

// "celu:f32" of every node that is no input, each after what it reads; "celu:f32 y" where its value is the output y.
std::string Nodes(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.TopologicalOrder()) {
    if (graph.op(id) == OpKind::kInput) continue;
    text += Concat(text.empty() ? "" : ", ", OpName(graph.op(id)), ":", DataTypeName(graph.type(graph.output(id))));
    for (const GraphOutput& output : graph.outputs()) {
      if (output.value == graph.output(id)) text += " " + output.name;
    }
  }
  return text;
}

// A file that refuses these ops where they have types below f32.
FileTypes Without(std::set<OpKind> ops) {
  return [ops](const Graph& graph) -> TypeRefusal {
    return [&graph, ops](NodeId id) -> std::string {
      if (TypesBelowFloat32(graph, id).empty() || !ops.contains(graph.op(id))) return "";
      return Concat("no ", OpName(graph.op(id)), " of ", TypesBelowFloat32(graph, id));
    };
  };
}
FileTypes WithoutAny() {
  return [](const Graph& graph) -> TypeRefusal {
    return [&graph](NodeId id) -> std::string {
      return TypesBelowFloat32(graph, id).empty() || graph.op(id) == OpKind::kCast ? "" : "none at all";
    };
  };
}
FileTypes Nothing() {
  return [](const Graph& graph) -> TypeRefusal {
    return [&graph](NodeId id) { return TypesBelowFloat32(graph, id).empty() ? "" : "nothing"; };
  };
}

class WidenTypesTest : public ::testing::Test {
 protected:
  // The graph after the pass: legal, with the same inputs and outputs, and outputs within bf16's rounding.
  std::string Widened(std::string_view text, FileTypes types) {
    const Graph before = Parse(text);
    Graph after = before;
    GraphEditor edit(after);
    PassContext context{.target = target_, .log = &log_};
    EXPECT_EQ(WidenTypes(std::move(types)).Run(edit, context), absl::OkStatus());
    notes_ = context.notes;
    EXPECT_EQ(VerifyGraph(after), absl::OkStatus());
    EXPECT_EQ(before.outputs().size(), after.outputs().size());
    for (size_t i = 0; i < before.outputs().size(); ++i) {
      EXPECT_EQ(before.outputs()[i].name, after.outputs()[i].name);
      EXPECT_EQ(before.type(before.outputs()[i].value), after.type(after.outputs()[i].value));
      EXPECT_EQ(before.value(before.outputs()[i].value).name, after.value(after.outputs()[i].value).name);
    }
    const std::vector<Tensor> inputs = reference::RandomInputs(before, /*seed=*/3);
    const auto wanted = reference::EvaluateGraph(before, inputs), got = reference::EvaluateGraph(after, inputs);
    EXPECT_TRUE(wanted.ok() && got.ok()) << wanted.status() << got.status();
    for (size_t i = 0; wanted.ok() && got.ok() && i < wanted->size(); ++i) {
      EXPECT_EQ(reference::Compare((*got)[i], (*wanted)[i], 0.05f, 0.05f), "");
    }
    return Nodes(after);
  }

  PermissiveTarget target_;
  RewriteLog log_;
  std::vector<std::string> notes_;
};

TEST_F(WidenTypesTest, CastsStandAroundARefusedNode) {
  EXPECT_EQ(Widened("graph (x: bf16[3,3], w: bf16[3,3]) { a = matmul(x, w)  b = celu(a)  c = matmul(b, w)  return c }",
                    Without({OpKind::kCelu})),
            "matmul:bf16, cast:f32, celu:f32, cast:bf16, matmul:bf16 c");
  EXPECT_THAT(notes_, ElementsAre("1 node planned below f32 had to stay f32 in the file: 'b' (no celu of bf16)"));
  ASSERT_EQ(log_.entries().size(), 1u);
  EXPECT_EQ(log_.entries()[0].node, "b");
  EXPECT_EQ(log_.entries()[0].text, "no celu of bf16");
}

TEST_F(WidenTypesTest, NothingIsRoundedBetweenTwo) {
  EXPECT_EQ(
      Widened("graph (x: bf16[3,3], w: bf16[3,3]) { a = matmul(x, w)  b = celu(a)  c = shrink(b)  d = matmul(c, w)  "
              "return d }",
              Without({OpKind::kCelu, OpKind::kShrink})),
      "matmul:bf16, cast:f32, celu:f32, shrink:f32, cast:bf16, matmul:bf16 d");
}

TEST_F(WidenTypesTest, ReadersShareACast) {
  EXPECT_EQ(
      Widened(
          "graph (x: bf16[3,3]) { a = matmul(x, x)  b = celu(a)  c = shrink(a)  d = matmul(b, c)  e = matmul(b, a)  "
          "return d, e }",
          Without({OpKind::kCelu, OpKind::kShrink})),
      "matmul:bf16, cast:f32, celu:f32, shrink:f32, cast:bf16, matmul:bf16 e, cast:bf16, matmul:bf16 d");
}

TEST_F(WidenTypesTest, OutputsKeepTypeAndName) {
  EXPECT_EQ(Widened("graph (x: bf16[3]) { y = celu(x) name=\"y\"  return y }", Without({OpKind::kCelu})),
            "cast:f32, celu:f32, cast:bf16 y");
  EXPECT_EQ(Widened("graph layout=channels_last (x: f16[3]) { y = celu(x) name=\"y\"  return y, z=relu(y) name=\"z\" }",
                    Without({OpKind::kCelu})),
            "cast:f32, celu:f32, cast:f16 y, relu:f16 z");
}

// What a runtime without any bf16 gets: weights of half the size, f32 between all nodes, no cast of an activation.
TEST_F(WidenTypesTest, ConstantsStaySmallBeforeACast) {
  EXPECT_EQ(Widened(R"(graph (x: f32[2,3]) {
                         w = const bf16[3,3]   a: bf16[2,3] = cast(x)   b = matmul(a, w)   c = relu(b)   d = matmul(c, w)
                         e = reshape(d, [-1])   y: f32[6] = cast(e)   return y })",
                    WithoutAny()),
            "const:bf16, const:s64, cast:f32, matmul:f32, relu:f32, matmul:f32, reshape:f32 y");
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("4 nodes planned below f32 had to stay f32 in the file: 'b' (none at all)")));
}

// A file that holds no cast either (an opset without bf16).
TEST_F(WidenTypesTest, ConstantsBecomeF32WhereThereIsNoCast) {
  EXPECT_EQ(
      Widened(
          "graph (x: f32[2,3]) { w = const bf16[3,3]  a: bf16[2,3] = cast(x)  b = matmul(a, w)  y: f32[2,3] = cast(b)  "
          "return y }",
          Nothing()),
      "const:f32, matmul:f32 y");
}

// relu, between two refused nodes, would be two casts and nothing won; before a matmul, it is worth one.
TEST_F(WidenTypesTest, WhatIsOnlyBetweenRefusedNodesIsF32Too) {
  EXPECT_EQ(Widened("graph (x: f32[3,3]) { a: bf16[3,3] = cast(x)  b = celu(a)  c = relu(b)  d = abs(c)  e = celu(d)  "
                    "y: f32[3,3] = cast(e)  return y }",
                    Without({OpKind::kCelu})),
            "celu:f32, relu:f32, abs:f32, celu:f32 y");
  EXPECT_EQ(log_.entries().back().text, "only nodes that the file holds in f32 are around it");
  EXPECT_EQ(
      Widened("graph (x: f32[3,3]) { a: bf16[3,3] = cast(x)  b = celu(a)  c = relu(b)  d = matmul(c, c)  e = celu(d)  "
              "y: f32[3,3] = cast(e)  return y }",
              Without({OpKind::kCelu})),
      "celu:f32, cast:bf16, relu:bf16, matmul:bf16, cast:f32, celu:f32 y");
}

TEST_F(WidenTypesTest, KeptNothingIsRefused) {
  const std::string text =
      "graph (x: bf16[3,3]) { a = matmul(x, x)  b: f32[3,3] = cast(a)  c: bf16[3,3] = cast(b)  return y=relu(c) }";
  EXPECT_EQ(Widened(text, Without({OpKind::kCelu})), Nodes(Parse(text)));
  EXPECT_THAT(log_.entries(), IsEmpty());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(WidenTypesTest, KeptTheOpIsF32Already) {
  const std::string text = "graph (x: bf16[3,3], z: f32[3]) { return a=matmul(x, x), b=celu(z) }";
  EXPECT_EQ(Widened(text, Without({OpKind::kCelu})), Nodes(Parse(text)));
  EXPECT_THAT(log_.entries(), IsEmpty());
}

// An island far from what is refused is the model's own business.
TEST_F(WidenTypesTest, KeptAnIslandThatTouchesNothing) {
  EXPECT_EQ(
      Widened("graph (x: f32[3], z: bf16[3,3]) { a: bf16[3] = cast(x)  b = relu(a)  y: f32[3] = cast(b)  v = celu(z)  "
              "return y, v }",
              Without({OpKind::kCelu})),
      "cast:bf16, relu:bf16, cast:f32 y, cast:f32, celu:f32, cast:bf16 v");
}

TEST_F(WidenTypesTest, AllTypesBelowF32) {
  EXPECT_EQ(
      Widened("graph (x: f16[3], z: bf16[3]) { a = celu(x)  b = celu(z)  return a, b }", Without({OpKind::kCelu})),
      "cast:f32, celu:f32, cast:f32, celu:f32, cast:f16 a, cast:bf16 b");
}

TEST_F(WidenTypesTest, WithoutRulesNothingHappens) {
  Graph graph = Parse("graph (x: bf16[3]) { return y=celu(x) }");
  GraphEditor edit(graph);
  PassContext context{.target = target_};
  EXPECT_EQ(WidenTypes(nullptr).Run(edit, context), absl::OkStatus());
  EXPECT_EQ(edit.edits(), 0);
}

}  // namespace
}  // namespace halftone
