// SPDX-License-Identifier: Apache-2.0
// Passes inside nested graphs: reasons, fuel, equivalence, shapes.

#include "passes/core/nested_run.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/nested.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLoop[] = R"(graph (x: f32[2,3]) {
    h = tanh(x)
    y = loop(3, _, h, x) {body=graph (i: s64[], c: bool[], s: f32[2,3], x: f32[2,3]) {
      a = identity(s)
      b = add(a, identity(x))
      return c, b
    }} captures("")
    return y
  })";

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

int NodesInBody(const Graph& graph) {
  const NodeId loop = graph.producer(graph.FindValue("y"));
  return NestedGraph(graph.node(loop), "body")->num_nodes();
}

class NestedRun : public testing::Test {
 protected:
  absl::Status Run(std::string_view pipeline) {
    static constexpr FileDialect kFile = {.name = "file"};
    static constexpr const FileDialect* kDialects[] = {&kFile};
    const absl::StatusOr<Pipeline> p = MakePipelineByName(pipeline, {.dialects = kDialects});
    return p.ok() ? p->Run(graph_, context_) : p.status();
  }

  Graph graph_ = Parse(kLoop);
  PermissiveTarget target_;
  RewriteLog log_;
  PassContext context_{.target = target_, .log = &log_, .equivalence = {.enabled = true}};
};

TEST_F(NestedRun, RulesRunInsideAndSayWhere) {
  ASSERT_TRUE(Run("remove-identity").ok());
  EXPECT_EQ(NodesInBody(graph_), 5);  // four inputs and the add
  EXPECT_TRUE(context_.notes.empty()) << context_.notes[0];
  ASSERT_EQ(log_.entries().size(), 2u);
  EXPECT_EQ(log_.entries()[0].node, "y/body/a");
  EXPECT_EQ(log_.entries()[0].origin, graph_.node(graph_.producer(graph_.FindValue("y"))).origin);
  EXPECT_EQ(context_.runs[0].matches, 2);
  EXPECT_GT(context_.runs[0].edits, 0);
}

TEST_F(NestedRun, FuelIsOneAccount) {
  context_.debug.fuel = {{"remove-identity", 1}};
  ASSERT_TRUE(Run("remove-identity").ok());
  EXPECT_EQ(log_.entries().size(), 1u);
  EXPECT_EQ(NodesInBody(graph_), 6);
}

TEST_F(NestedRun, TheWholeOptimizerKeepsTheOutputs) {
  ASSERT_TRUE(Run("optimize").ok());
  EXPECT_TRUE(context_.notes.empty());
  ASSERT_TRUE(Run("export-file").ok());
  EXPECT_THAT(PrintGraph(graph_), Not(HasSubstr("identity")));
}

TEST_F(NestedRun, ShapesFollowTheSymbolsOutside) {
  graph_ = Parse(R"(graph (x: f32[?,3]) {
      y = loop(3, _, x) {body=graph (i: s64[], c: bool[], s: f32[?,?]) { b = exp(s)  return c, b }}
      return y
    })");
  context_.equivalence.enabled = false;
  ASSERT_TRUE(Run("optimize").ok());
  const Graph& body = *NestedGraph(graph_.node(graph_.producer(graph_.FindValue("y"))), "body");
  EXPECT_EQ(body.shape(body.FindValue("b")).ToString(), "[?,3]");  // without the optimizer's internal names
}

// A pass that breaks a nested graph is reported like one that breaks the graph.
TEST_F(NestedRun, ErrorsInsideNameTheNode) {
  class Breaks final : public Pass {
   public:
    std::string_view name() const override { return "breaks"; }
    absl::Status Run(GraphEditor& edit, PassContext&) const override {
      const NodeId add = edit.graph().FindNode("b");
      if (add.valid()) edit.SetInputs(add, {});
      return absl::OkStatus();
    }
  };
  Pipeline p("test");
  p.Add<Breaks>();
  const absl::Status status = p.Run(graph_, context_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'y' attribute 'body': node 'b' (add): has 0 inputs"));
}

}  // namespace
}  // namespace halftone
