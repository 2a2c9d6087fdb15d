// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/functions.h"

#include <string>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A model whose functions are of the domain "f".
onnx::ModelProto ModelWith(const std::string& graph, const std::string& functions, int opset = 17) {
  onnx::ModelProto model;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + ", \"f\" : 1]>\n" + graph + "\n" + functions;
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

TEST(Functions, CallsAreWrittenOut) {
  const onnx::ModelProto model =
      ModelWith("agraph (float[2] x) => (float[2] y) { t = Neg(x)  h = f.twice<scale = 3.0>(t, x)  y = f.twice(h, t) }",
                R"(<domain: "f", opset_import: ["" : 17]> twice <scale: float = 2.0> (a, b) => (c) {
           k = Constant<value_float: float = @scale>()  t = Mul(a, k)  c = Add(t, b) })");
  const Graph graph = Imported(model);
  EXPECT_FALSE(graph.header().has("rest"));
  const onnx::ModelProto back = Exported(graph);
  EXPECT_EQ(back.functions_size(), 0);
  const std::string nodes = NodesOf(back);
  EXPECT_THAT(nodes, HasSubstr("Mul(t,h/k)->h/t\nAdd(h/t,x)->h\n"));
  EXPECT_THAT(nodes, HasSubstr("Mul(h,y/k)->y/t\nAdd(y/t,t)->y\n"));
  EXPECT_EQ(graph.ConstantScalar(graph.FindValue("h/k")), 3.0);
  EXPECT_EQ(graph.ConstantScalar(graph.FindValue("y/k")), 2.0);
  EXPECT_TRUE(Import(back).ok()) << Import(back).status();
}

TEST(Functions, CallsInCallsAbsentInputsAndSubgraphs) {
  const onnx::ModelProto model =
      ModelWith("agraph (bool c, float[2] x) => (float[2] y, float[2] z) { y, z = f.outer(c, x) }",
                R"(<domain: "f", opset_import: ["" : 17, "f" : 1]> outer (c, a) => (r, same) {
           q = f.limit(a)
           r = If(c) <then_branch = t () => (float[2] v) { u = f.limit(q)  v = Neg(u) },
                      else_branch = e () => (float[2] w) { w = Exp(a) }>
           same = Identity(a) }
         <domain: "f", opset_import: ["" : 17]> limit (a, low, high) => (c) { c = Clip(a, low, high) })");
  const Graph graph = Imported(model);
  for (const NodeId id : graph.nodes()) EXPECT_NE(graph.op(id), OpKind::kOpaque) << graph.Label(id);
  const std::string text = PrintGraph(graph);
  EXPECT_THAT(text, HasSubstr("clip"));
  EXPECT_THAT(text, HasSubstr("exp"));
  EXPECT_TRUE(Import(Exported(graph)).ok()) << Import(Exported(graph)).status();
}

TEST(Functions, AnOutputThatIsAnInput) {
  const Graph graph = Imported(ModelWith("agraph (float[2] x) => (float[2] y) { y = f.same(x) }",
                                         R"(<domain: "f", opset_import: ["" : 17]> same (a) => (a) { b = Neg(a) })"));
  EXPECT_EQ(NodesOf(Exported(graph)), "Neg(x)->y/b\nIdentity(x)->y\n");
}

TEST(Functions, WhatHasNoFormStays) {
  // The function's opset is not supported: the call stays, and the function with it.
  const onnx::ModelProto model = ModelWith("agraph (float[2] x) => (float[2] y) { y = f.g(x) }",
                                           R"(<domain: "f", opset_import: ["" : 3]> g (a) => (b) { b = Neg(a) })");
  const onnx::ModelProto back = Exported(Imported(model));
  EXPECT_EQ(NodesOf(back), "g(x)->y\n");
  EXPECT_EQ(back.functions_size(), 1);
}

TEST(Functions, TheDomainsOfInlinedNodesAreImported) {
  const Graph graph = Imported(
      ModelWith("agraph (float[2] x) => (float[2] y) { y = f.g(x) }",
                R"(<domain: "f", opset_import: ["" : 17, "com.acme" : 4]> g (a) => (b) { b = com.acme.Magic(a) })"));
  const onnx::ModelProto back = Exported(graph);
  ASSERT_EQ(back.opset_import_size(), 3);
  EXPECT_EQ(back.opset_import(2).domain(), "com.acme");
  EXPECT_EQ(back.opset_import(2).version(), 4);
}

TEST(Functions, CallsThatMultiplyAreRefused) {
  // 2^40 nodes out of 41 functions.
  std::string functions = R"(<domain: "f", opset_import: ["" : 17, "f" : 1]> f0 (a) => (b) { b = Neg(a) })";
  for (int i = 1; i <= 40; ++i) {
    const std::string callee = "f.f" + std::to_string(i - 1);
    functions += R"(<domain: "f", opset_import: ["" : 17, "f" : 1]> f)" + std::to_string(i) +
                 " (a) => (c) { b = " + callee + "(a)  c = " + callee + "(b) }";
  }
  const absl::Status status =
      Import(ModelWith("agraph (float[2] x) => (float[2] y) { y = f.f40(x) }", functions)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 1000000 nodes"));
}

}  // namespace
}  // namespace halftone::onnx_format
