// SPDX-License-Identifier: Apache-2.0
#include "ir/nested.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

std::string ShapeOf(const Graph& graph, std::string_view value) {
  return graph.shape(graph.FindValue(value)).ToString();
}

// A loop whose body has one state and one scanned output.
std::string LoopText(std::string_view inputs, std::string_view body) {
  return "graph (n: s64[], x: f32[2,N], k: f32[N]) { y, z = loop(" + std::string(inputs) +
         ") {body=graph (i: s64[], c: bool[], s: f32[2,?], k: f32[?]) { " + std::string(body) +
         " }} captures(\"\") return y, z }";
}

TEST(Nested, TheVerifierNamesWhatDoesNotFit) {
  const std::pair<std::string, const char*> kCases[] = {
      {"graph (c: bool[], x: f32[2]) { y: f32[2] = if(c, x) {then=graph (x: f32[2]) { return x }} return y }",
       "node 'y' (if): needs a graph as attribute 'else'"},
      {"graph (c: bool[], x: f32[2]) { y: f32[2] = if(c, x) {then=graph (x: f32[2]) { return x }, else=graph () { a = "
       "const f32[2] return a }} return y }",
       "node 'y' (if): its graph 'else' has 0 inputs, need 1"},
      {"graph (c: bool[], x: f32[2]) { y: f32[2] = if(c, x) {then=graph (x: f32[2]) { return x }, else=graph (x: "
       "f32[2]) { return x, x }} return y }",
       "its graph 'else' has 2 outputs, need 1"},
      {"graph (c: bool[], x: f32[2]) { y: f32[2] = if(c, x) {then=graph (x: s32[2]) { return x }, else=graph (x: "
       "f32[2]) { return x }} return y }",
       "input 1 is f32 but input 0 of 'then' is s32: they must have one type"},
      {"graph (c: bool[], x: f32[2]) { y: s32[2] = if(c, x) {then=graph (x: f32[2]) { return x }, else=graph (x: "
       "f32[2]) { return x }} return y }",
       "output 0 is s32 but output 0 of 'then' is f32"},
      {"graph (c: bool[], x: f32[2]) { y: f32[2] = if(c, x) {then=graph layout=channels_last (x: f32[2]) { return x }, "
       "else=graph (x: f32[2]) { return x }} return y }",
       "its graph 'then' has another layout than the graph around it"},
      {LoopText("n, _, x, k", "return c, s, s") + "", ""},
      {LoopText("n, _, x, _", "return c, s, s"), "input 3 is absent"},
      {LoopText("n, _, x, k", "return c, s"), "its graph 'body' has 2 outputs, need 3"},
      {LoopText("n, _, x, k", "t = cast(s) r: s32[2,?] = cast(s) return c, r, s"),
       "input 2 of 'body' is f32 but output 1 of 'body' is s32"},
      {"graph (x: f32[4]) { y: f32[4] = scan(x) {body=graph (x: f32[]) { return x }, num_scan_inputs=2} return y }",
       "num_scan_inputs is 2, need 1 to 1"},
      {"graph (x: f32[4]) { y: f32[4] = scan(x) {body=graph (x: f32[]) { return x }, num_scan_inputs=1, "
       "scan_input_directions=[2]} return y }",
       "'scan_input_directions' holds 2, need 0 or 1"},
      {"graph (x: f32[4]) { y: f32[4] = while(x) {condition=graph (x: f32[4]) { return x }, body=graph (x: f32[4]) { "
       "return x, x }} return y }",
       "its graph 'body' has 2 outputs, need 1"},
  };
  for (const auto& [text, error] : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (*error == '\0') {
      EXPECT_TRUE(graph.ok()) << graph.status();
    } else {
      EXPECT_THAT(std::string(graph.status().message()), HasSubstr(error)) << text;
    }
  }
}

TEST(Nested, TextComesBack) {
  const std::string text = LoopText("n, _, x, k", "t = add(s, k) return c, t, k");
  const std::string printed = PrintGraph(Parsed(text));
  EXPECT_EQ(PrintGraph(Parsed(printed)), printed);
  EXPECT_THAT(printed, HasSubstr("captures(\"\")"));
}

TEST(Nested, LoopsKeepWhatDoesNotChange) {
  Graph graph = Parsed(LoopText("n, _, x, k", "t = add(s, k) return c, t, k"));
  EXPECT_EQ(ShapeOf(graph, "y"), "[2,N]");
  EXPECT_EQ(ShapeOf(graph, "z"), "[?,N]");
  GraphEditor edit(graph);
  const int64_t before = edit.edits();
  ASSERT_TRUE(InferShapes(edit).ok());
  EXPECT_EQ(edit.edits(), before);
  const std::shared_ptr<const Graph> body = NestedGraph(graph.producer_node(graph.FindValue("y")), "body");
  EXPECT_EQ(ShapeOf(*body, "t"), "[2,N]");
  // A number for N goes into the body too.
  ASSERT_TRUE(Specialize(edit, {{"N", 5}}, -1).ok());
  EXPECT_EQ(ShapeOf(graph, "y"), "[2,5]");
  EXPECT_EQ(ShapeOf(*NestedGraph(graph.producer_node(graph.FindValue("y")), "body"), "t"), "[2,5]");
  EXPECT_EQ(ShapeOf(*body, "t"), "[2,N]");  // the copy from before
}

TEST(Nested, LoopsForgetWhatGrows) {
  const Graph graph = Parsed(LoopText("n, _, x, k", "t = concat(s, s, 1) return c, t, k"));
  EXPECT_EQ(ShapeOf(graph, "y"), "[2,?]");
  const Graph ranks = Parsed(LoopText("n, _, x, k", "t = unsqueeze(s, [0]) return c, t, k"));
  EXPECT_EQ(ShapeOf(ranks, "y"), "[*]");
  const Graph count = Parsed(LoopText("7, _, x, k", "return c, s, k"));
  EXPECT_EQ(ShapeOf(count, "z"), "[7,N]");
}

TEST(Nested, ABranchForOtherShapesIsNoError) {
  const Graph graph = Parsed(
      "graph (c: bool[], x: f32[4,3]) { y = if(c, x) {then=graph (x: f32[?,?]) { t = squeeze(x, [0]) return t }, "
      "else=graph (x: f32[?,?]) { e = relu(x) return e }} z = if(c, x) {then=graph (x: f32[?,?]) { t = relu(x) return "
      "t }, else=graph (x: f32[?,?]) { e = slice(x, [0], [2]) return e }} return y, z }");
  EXPECT_EQ(ShapeOf(graph, "y"), "[4,3]");
  EXPECT_EQ(ShapeOf(graph, "z"), "[?,3]");
  EXPECT_EQ(graph.type(graph.FindValue("y")), DataType::kFloat32);
}

TEST(Nested, ScanWhileAndCall) {
  const Graph graph = Parsed(
      "graph (s: f32[3], x: f32[2,T,3]) { y, z = scan(s, x) {body=graph (s: f32[?], x: f32[?,?]) { t = reduce_sum(x, "
      "[0]) {keepdims=false} n = add(s, t) return n, x }, num_scan_inputs=1, scan_input_axes=[1], "
      "scan_output_axes=[-1]} w = while(s) {condition=graph (s: f32[?]) { c = const bool[] {false} return c }, "
      "body=graph (s: f32[?]) { r = relu(s) return r }} f = call(s) {body=graph (s: f32[?]) { q = unsqueeze(s, [0]) "
      "return q }} return y, z, w, f }");
  EXPECT_EQ(ShapeOf(graph, "y"), "[3]");
  EXPECT_EQ(ShapeOf(graph, "z"), "[2,3,T]");
  EXPECT_EQ(ShapeOf(graph, "w"), "[3]");
  EXPECT_EQ(ShapeOf(graph, "f"), "[1,3]");
}

TEST(Nested, ShapesGoInsideAsValues) {
  const Graph graph = Parsed(
      "graph (c: bool[], x: f32[4,3], p: f32[12]) { h = shape(x) y = if(c, p, h) {then=graph (p: f32[?], h: s64[2]) { "
      "t = reshape(p, h) return t }, else=graph (p: f32[?], h: s64[2]) { t = reshape(p, h) return t }} return y }");
  EXPECT_EQ(ShapeOf(graph, "y"), "[4,3]");
}

TEST(Nested, DeepNestingIsRefused) {
  auto inner = std::make_shared<Graph>(Parsed("graph (x: f32[2]) { y = relu(x) return y }"));
  for (int depth = 0; depth < kMaxNestingDepth + 2; ++depth) {
    Graph outer;
    GraphEditor edit(outer);
    const ValueId x = edit.AddInput("x", DataType::kFloat32, Shape::Of({2}));
    Attributes attributes;
    attributes.Set("body", std::shared_ptr<const Graph>(inner));
    const NodeId call =
        edit.Add(OpKind::kCall, "f", {x}, {DataType::kFloat32, Shape::Of({2}), "y"}, std::move(attributes));
    edit.AddGraphOutput("y", outer.output(call));
    const absl::Status status = VerifyGraph(outer);
    EXPECT_EQ(status.ok(), depth < kMaxNestingDepth) << depth << status;
    EXPECT_TRUE(InferShapes(edit).ok());
    inner = std::make_shared<Graph>(std::move(outer));
  }
}

TEST(Nested, SharedGraphsCountEachTime) {
  auto inner = std::make_shared<Graph>(Parsed("graph (x: f32[2]) { y = relu(x) return y }"));
  absl::Status status;
  for (int depth = 0; depth < 40 && status.ok(); ++depth) {  // 2^40 runs of the innermost
    Graph outer;
    GraphEditor edit(outer);
    ValueId x = edit.AddInput("x", DataType::kFloat32, Shape::Of({2}));
    for (int i = 0; i < 2; ++i) {
      Attributes attributes;
      attributes.Set("body", std::shared_ptr<const Graph>(inner));
      x = outer.output(edit.Add(OpKind::kCall, "", {x}, {DataType::kFloat32, Shape::Of({2}), ""}, attributes));
    }
    edit.AddGraphOutput("y", x);
    status = CheckNesting(outer);
    if (depth == 18) {
      EXPECT_TRUE(InferShapes(edit).ok());  // within its budget
    }
    inner = std::make_shared<Graph>(std::move(outer));
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 4000000 nodes"));
}

}  // namespace
}  // namespace halftone
