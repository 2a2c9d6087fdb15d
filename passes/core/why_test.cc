// SPDX-License-Identifier: Apache-2.0
// The reasons of the rules, with names and values.

#include "passes/core/why.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The printed reasons for the optimized graph.
std::string Why(std::string_view text, std::string_view glob) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const PermissiveTarget target;
  PassContext context{.target = target};
  const Pipeline pipeline = MakeOptimizePipeline();
  EXPECT_TRUE(pipeline.Run(*graph, context).ok());
  return PrintReasons(ExplainNodes(pipeline, *graph, glob, context));
}

constexpr char kTwoBatches[] = R"(graph (x: f32[N,8,6,6], r: f32[M,4,6,6]) {
    w = const f32[4,8,1,1]  c = conv(x, w)  add_3 = add(c, r)  return add_3 })";

TEST(Why, AShapeThatIsNotKnown) {
  EXPECT_THAT(
      Why(kTwoBatches, "fuse-residual"),
      AllOf(HasSubstr("'add_3' (add)\n"),
            HasSubstr("  kept fuse-residual                    the operands are not known to have the same shape: "
                      "'c' f32[N,4,6,6] and 'r' f32[M,4,6,6]\n")));
}

TEST(Why, OneNodeAndEveryRuleThatLooksAtIt) {
  const std::string why = Why(kTwoBatches, "add_3");
  EXPECT_THAT(why, AllOf(HasSubstr("kept fuse-residual"), HasSubstr("no   fuse-conv-bias"),
                         HasSubstr("no   fuse-matmul-bias")));
  EXPECT_LT(why.find("kept"), why.find("no   ")) << "what nearly matched comes first";
  EXPECT_THAT(why, Not(HasSubstr("(conv)")));
  EXPECT_EQ(Why(kTwoBatches, "fuse-nothing"), "");
}

TEST(Why, TheDriversReasonsNameWhoAndWhere) {
  EXPECT_THAT(
      Why(R"(graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  y = relu(m)  z = exp(m)  return y, z })",
          "fuse-activation"),
      HasSubstr("'m' has another user: 'z'"));
  EXPECT_THAT(Why(R"(graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  y = relu(m)  return y, out=m })",
                  "fuse-activation"),
              HasSubstr("'m' is an output of the graph ('out')"));
  EXPECT_THAT(
      Why(R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w) name="m" device="/cpu:0"
                     y = relu(m) name="y" device="/gpu:0"  return y })",
          "y"),
      HasSubstr("'m' is on another device ('/cpu:0') than 'y' ('/gpu:0')"));
  EXPECT_THAT(
      Why(R"(graph layout=channels_last (x: f32[2,3]) { i = tanh(x) name="i"  d = identity(x) name="d" after("i")
                     y = relu(d) name="y"  return y, i })",
          "d"),
      HasSubstr("'d' has control edges: it runs after 'i'"));
}

TEST(Why, InsideNestedGraphs) {
  EXPECT_THAT(
      Why(R"(graph (x: f32[2,3]) {
      y = loop(3, _, x) {body=graph (i: s64[], c: bool[], s: f32[2,3]) {
        w = const f32[3,3]  m = matmul(s, w)  a = relu(m)  b = add(a, m)  return c, b }}
      return y })",
          "*/a"),
      AllOf(HasSubstr("'y/body/a' (relu)"), HasSubstr("kept fuse-activation"), HasSubstr("'m' has another user: 'b'")));
}

}  // namespace
}  // namespace halftone
