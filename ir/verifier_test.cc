// SPDX-License-Identifier: Apache-2.0
#include "ir/verifier.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

struct BadGraph {
  const char* graph;
  const char* error;
};

TEST(Verifier, ErrorsNameTheNodeAndWhatWouldBeRight) {
  const BadGraph kCases[] = {
      {"graph (x: f32[2]) { y: f32[2] = add(x) return y }", "node 'y' (add): has 1 inputs, need at least 2"},
      {"graph (x: f32[2]) { y: f32[2] = relu(x, x) return y }", "has 2 inputs, need at most 1"},
      {"graph (x: f32[2]) { y: f32[2] = add(x, _) return y }", "input 'b' is absent"},
      {"graph (x: f32[2]) { y: f32[2], z: f32[2] = relu(x) return y }", "has 2 outputs, need at most 1"},
      {"graph (x: f32[2], z: bf16[2]) { y = add(x, z) return y }",
       "'b' is bf16 but 'a' is f32: they must have one type"},
      {"graph (x: f32[2]) { y: bf16[2] = relu(x) return y }", "'y' is bf16 but 'x' is f32"},
      {"graph (x: f64[2,3], w: f64[3,5]) { y: f32[2,5] = matmul(x, w) return y }", "'y' is f32 but 'x' is f64"},
      {"graph (x: f32[2,3], w: f32[3,5]) { y = matmul(x, w) {math_mode=\"f16\"} return y }",
       "attribute 'math_mode' is 'f16', must be bf16"},
      {"graph (x: f32[2]) { y = relu(x) {alpha=0.5} return y }", "attribute 'alpha' is unknown; this op has none"},
      {"graph (x: f32[2]) { y = elu(x) {alfa=0.5} return y }", "attribute 'alfa' is unknown; this op has alpha"},
      {"graph (x: f32[2]) { y = elu(x) {alpha=1} return y }", "attribute 'alpha' must be a float"},
      {"graph (x: f32[2,3], b: f32[3]) { y = bias_add(x, b) {layout=\"NCWH\"} return y }",
       "attribute 'layout' is 'NCWH', must be NCHW|NHWC"},
      {"graph (x: f32[2,3], w: f32[3,5]) { y = matmul(x, w) {activation_first=true} return y }",
       "attribute 'activation_first' needs an activation"},
      {"graph (x: f32[2]) { y: f32[2] = binary_chain(x, x) {ops=[\"add\", \"mul\"]} return y }",
       "attribute 'ops' has 2 words for 2 inputs"},
      {"graph (x: f32[2]) { a: f32[2] = relu(b) b: f32[2] = relu(a) return b }",
       "only an edge from next_iteration to merge"},
      {"graph (x: f32[2]) { a: f32[2] = add(x, n) n: f32[2] = next_iteration(a) return a }",
       "node 'a' (add): reads a next_iteration: only a merge may"},
      {"graph (x: f32[2]) { o: f32[2] = opaque \"If\" (x) extra {body=graph (z: f32[2]) { w: f32[2] = add(z) return w "
       "}} name=\"if\" "
       "return o }",
       "has 1 inputs, need at least 2"},
  };
  for (const BadGraph& c : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(c.graph);
    ASSERT_FALSE(graph.ok()) << c.graph;
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr(c.error)) << c.graph;
  }
}

TEST(Verifier, Quantizations) {
  const BadGraph kCases[] = {
      {"graph (x: f32[2]{0.5, 0}) { return x }",
       "node 'x' (input): quantization of its result: f32 cannot have scales"},
      {"graph (x: u8[2]{0.5, 256}) { return x }", "zero point 0 is 256, need one of 0 to 255 for u8"},
      {"graph (x: s8[2]{0.5, -129}) { return x }", "zero point 0 is -129, need one of -128 to 127 for s8"},
      {"graph (x: u8[2]{0.0, 1}) { return x }", "scale 0 is 0, need one that is finite and > 0"},
      {"graph (x: u8[2]{inf, 1}) { return x }", "scale 0 is inf, need one that is finite and > 0"},
      {"graph (x: u8[2]{nan, 1}) { return x }", "scale 0 is nan, need one that is finite and > 0"},
      {"graph (x: u8[2]{1e-40, 1}) { return x }", "scale 0 is 9.99995e-41, which is a denormal number"},
      {"graph (x: u8[2,3]{[0.5, 1], 0, axis=1}) { return x }", "2 scales along axis 1 of [2,3], need 3"},
      {"graph (x: u8[2,3]{[0.5, 1], 0, axis=2}) { return x }", "axis is 2, need less than the rank of [2,3]"},
      {"graph (x: u8[2,3]{[0.5, 1], [0, 1, 2], axis=0}) { return x }", "2 scales but 3 zero points"},
      // What moves integers still needs one type.
      {"graph (x: u8[2]{0.5, 1}, s: f32[]) { y: f32[2] = dequantize_linear(x, s, 0:s8) return y }",
       "'zero_point' is s8 but 'x' is u8"},
  };
  for (const BadGraph& c : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(c.graph);
    ASSERT_FALSE(graph.ok()) << c.graph;
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr(c.error)) << c.graph;
  }
  const absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: u8[2,?]{[0.5, 1], 0, axis=1}, r: f32[2,2]) { y: s8[2,2]{0.5, 0} = add(x, r) return y }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(std::string(VerifyFileGraph(*graph).message()), HasSubstr("its result has a quantization"));
}

// Floats that a kernel may mix, but no file.
TEST(Verifier, MixedFloats) {
  for (const char* text :
       {"graph (x: bf16[2,3], r: f32[2,5]) { w = const bf16[3,5]  b = const f32[5]  y: f32[2,5] = matmul(x, w, b, r) "
        "return y }",
        "graph (x: f32[2,3]) { w = const bf16[3,5]  y: f32[2,5] = matmul(x, w) {math_mode=\"bf16\"} return y }",
        "graph (x: bf16[2,3]) { y: f32[2,3] = softmax(x) return y }",
        "graph (x: bf16[2,3]) { y: f32[2,3] = add(x, x) return y }"}) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_THAT(std::string(VerifyFileGraph(*graph).message()), HasSubstr("they must have one type")) << text;
  }
  const absl::StatusOr<Graph> same = ParseGraph("graph (x: bf16[2,3]) { y = softmax(x) return y }");
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_TRUE(VerifyFileGraph(*same).ok());
}

// What the text form cannot say, but a pass could do.
TEST(Verifier, FindsWhatAPassBroke) {
  const absl::StatusOr<Graph> parsed =
      ParseGraph("graph (x: f32[2]) { c = const f32[2] {1, 2} y = add(x, c) return y }");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const ValueId y = parsed->FindValue("y"), c = parsed->FindValue("c");
  const auto error = [&](auto change) {
    Graph graph = *parsed;
    GraphEditor edit(graph);
    change(edit);
    return std::string(VerifyGraph(graph).message());
  };
  EXPECT_EQ(error([](GraphEditor&) {}), "");
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.SetValueName(c, "y"); }), HasSubstr("the value name 'y' is taken"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.SetType(c, DataType::kInt32); }),
              HasSubstr("the value is s32, its tensor f32"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.SetShape(c, Shape::Of({3})); }),
              HasSubstr("the value is [3], its tensor [2]"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.EraseAttribute(parsed->producer(c), "value"); }),
              HasSubstr("needs its tensor"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.SetControlInputs(parsed->producer(y), {parsed->producer(y)}); }),
              HasSubstr("runs after itself"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.SetControlInputs(parsed->producer(c), {parsed->producer(y)}); }),
              HasSubstr("on a cycle"));
  EXPECT_THAT(error([&](GraphEditor& edit) { edit.AddGraphOutput("z", kNoValue); }), HasSubstr("graph output 'z'"));
}

TEST(Verifier, NestedGraphs) {
  const absl::StatusOr<Graph> outer =
      ParseGraph("graph (x: f32[2]) { o: f32[2] = opaque \"If\" (x) name=\"if\" return o }");
  ASSERT_TRUE(outer.ok()) << outer.status();
  auto body = std::make_shared<Graph>();
  GraphEditor inner(*body);
  inner.Add(OpKind::kRelu, "r", {}, {DataType::kFloat32, Shape(), "w"});
  Graph graph = *outer;
  GraphEditor(graph).SetExtra(graph.FindNode("if"), "then_branch", std::shared_ptr<const Graph>(body));
  EXPECT_EQ(std::string(VerifyGraph(graph).message()),
            "node 'if' attribute 'then_branch': node 'r' (relu): has 0 inputs, need at least 1");
}

// Every attribute that an op lists has a kind: a node with it must not be refused as "in no table".
TEST(Verifier, KnowsTheKindOfEveryAttribute) {
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = Info(static_cast<OpKind>(i));
    for (const std::string_view name : info.attributes) {
      Graph graph;
      GraphEditor edit(graph);
      Node node;
      node.op = info.kind;
      const ValueId x = edit.AddInput("x", DataType::kUnknown, Shape());
      if (info.kind == OpKind::kInput) continue;
      for (const Port& port : info.inputs) {
        if (!port.optional) node.inputs.push_back(x);
      }
      node.attributes.Set(std::string(name), RawBytes{});
      edit.AddNode(std::move(node), {ValueSpec{}});
      EXPECT_THAT(std::string(VerifyGraph(graph).message()), HasSubstr("must be a")) << info.name << " " << name;
    }
  }
}

}  // namespace
}  // namespace halftone
