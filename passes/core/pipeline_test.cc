// SPDX-License-Identifier: Apache-2.0
// What the framework does for every pass.

#include "passes/core/pipeline.h"

#include <string>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

Graph TwoLayers() {
  return Parse(R"(graph (x: f32[2,3]) { w = const f32[3,5]  v = const f32[5,4]
                    a = relu(matmul(x, w)) name="first"  y = relu(matmul(a, v)) name="second"  return y })");
}

int CountOf(const Graph& graph, OpKind op) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += graph.op(id) == op ? 1 : 0;
  return count;
}

// A pass made of one function.
class FunctionPass final : public Pass {
 public:
  using Function = std::function<absl::Status(GraphEditor&)>;
  explicit FunctionPass(Function function) : function_(std::move(function)) {}
  std::string_view name() const override { return "test-pass"; }
  absl::Status Run(GraphEditor& edit, PassContext&) const override { return function_(edit); }

 private:
  Function function_;
};

Pipeline PipelineOf(FunctionPass::Function function) {
  Pipeline p("test");
  p.Add<FunctionPass>(std::move(function));
  return p;
}

NodeId FirstOf(const Graph& graph, OpKind op) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == op) return id;
  }
  return kNoNode;
}

TEST(Pipeline, AnInvalidResultIsInternalAndNamesThePass) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph graph = TwoLayers();
  const absl::Status status = PipelineOf([](GraphEditor& edit) {
                                edit.SetInputs(FirstOf(edit.graph(), OpKind::kRelu), {});
                                return absl::OkStatus();
                              }).Run(graph, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("pass 'test-pass': made a graph that is not valid"));
}

TEST(Pipeline, EquivalenceNamesThePassThatChangedAnOutput) {
  const PermissiveTarget target;
  PassContext context{.target = target, .equivalence = {.enabled = true}};
  Graph graph = TwoLayers();
  const absl::Status status = PipelineOf([](GraphEditor& edit) {
                                edit.SetOp(FirstOf(edit.graph(), OpKind::kRelu), OpKind::kTanh);
                                return absl::OkStatus();
                              }).Run(graph, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("pass 'test-pass': changed an output"), HasSubstr("output 'y'")));

  Graph good = TwoLayers();
  EXPECT_TRUE(MakeOptimizePipeline().Run(good, context).ok());
}

TEST(Pipeline, EquivalenceSaysWhenItCouldNotCheck) {
  const PermissiveTarget target;
  PassContext context{.target = target, .equivalence = {.enabled = true}};
  Graph graph = Parse("graph (x: f32[*]) { return y=relu(identity(x)) }");
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  ASSERT_EQ(context.notes.size(), 1u);
  EXPECT_THAT(context.notes[0], HasSubstr("outputs were not checked: the rank of input 'x' is not known"));
}

TEST(Pipeline, EquivalenceBindsFreeDimensions) {
  const PermissiveTarget target;
  PassContext context{.target = target, .equivalence = {.enabled = true}};
  Graph graph = Parse("graph (x: f32[N,?,3], r: f32[N,?,5]) { w = const f32[3,5]  return y=add(matmul(x, w), r) }");
  const absl::Status status = PipelineOf([](GraphEditor& edit) {
                                edit.SetOp(FirstOf(edit.graph(), OpKind::kAdd), OpKind::kSub);
                                return absl::OkStatus();
                              }).Run(graph, context);
  EXPECT_TRUE(context.notes.empty());
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("with inputs of [1,"));
}

TEST(Pipeline, AFixedPointThatDoesNotSettleIsAnError) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<FunctionPass>([](GraphEditor& edit) {
    const NodeId relu = FirstOf(edit.graph(), OpKind::kRelu);
    edit.SetName(relu, edit.graph().node(relu).name + "x");
    return absl::OkStatus();
  }));
  Pipeline p("test");
  p.AddFixedPoint("for-ever", std::move(passes));
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph graph = TwoLayers();
  const absl::Status status = p.Run(graph, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("'for-ever' did not settle within 64 rounds; 'test-pass' was still editing"));
}

TEST(Pipeline, InterruptionIsAskedBetweenPasses) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  context.interrupted = [] { return absl::CancelledError("the client left"); };
  Graph graph = TwoLayers();
  EXPECT_EQ(MakeOptimizePipeline().Run(graph, context).code(), absl::StatusCode::kCancelled);
}

TEST(Pipeline, ASkippedRuleDoesNotRun) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  context.debug.skip = {"fuse-act*"};
  Graph graph = TwoLayers();
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  EXPECT_EQ(CountOf(graph, OpKind::kRelu), 2);
}

TEST(Pipeline, FuelStopsARuleAfterItsMatches) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  context.debug.fuel = {{"fuse-activation", 1}};
  Graph graph = TwoLayers();
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  EXPECT_EQ(CountOf(graph, OpKind::kRelu), 1);
  EXPECT_TRUE(graph.FindNode("first").valid());
  EXPECT_EQ(graph.op(graph.FindNode("first")),
            OpKind::kMatMul);  // the first match in topological order, under its name
}

TEST(Pipeline, TheLogHasAnEquationForEachChangeAndAReasonForEachRefusal) {
  const PermissiveTarget target;
  RewriteLog log;
  PassContext context{.target = target, .log = &log};
  Graph graph = Parse(R"(graph (x: f32[2,3]) { w = const f32[3,5]  v = const f32[5,4]
      m = matmul(x, w)  a = relu(m) name="first"  y = relu(matmul(a, v)) name="second"  return y, m })");
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  ASSERT_EQ(log.entries().size(), 2u);
  EXPECT_TRUE(log.entries()[0].applied);
  EXPECT_EQ(log.entries()[0].pass, "fuse-activation");
  EXPECT_EQ(log.entries()[0].node, "second");
  EXPECT_FALSE(log.entries()[1].applied);  // in the round after the last change
  EXPECT_EQ(log.entries()[1].node, "first");
  EXPECT_EQ(log.entries()[1].text, "'m' is an output of the graph");
}

TEST(Pipeline, ControlEdgesMoveToTheFusedNodeAndTheLogSaysSo) {
  const PermissiveTarget target;
  RewriteLog log;
  PassContext context{.target = target, .log = &log};
  Graph graph = Parse(R"(graph layout=channels_last (x: f32[2,3]) { w = const f32[3,5]  i = relu(x) name="init"
      m = matmul(x, w) name="m" after("init")  z = tanh(x) name="z" after("m")  y = relu(m) name="y"  return y, z, i })");
  ASSERT_TRUE(MakePipelineByName("fuse-activation")->Run(graph, context).ok());
  ASSERT_EQ(log.entries().size(), 3u);
  EXPECT_FALSE(log.entries()[0].remark);
  EXPECT_EQ(log.entries()[1].text, "control input '^init' moved to 'y'");
  EXPECT_EQ(log.entries()[2].text, "control input '^m' of 'z' is '^y' now");
  EXPECT_TRUE(log.entries()[2].remark);
  const NodeId y = graph.FindNode("y");
  EXPECT_EQ(graph.op(y), OpKind::kMatMul);
  EXPECT_EQ(graph.node(y).control_inputs, std::vector<NodeId>{graph.FindNode("init")});
  EXPECT_EQ(graph.control_users(y), std::vector<NodeId>{graph.FindNode("z")});
}

// In a long graph rules visit only what changed, and still find everything: each fusion makes the next one possible.
TEST(Pipeline, ALargeGraphSettlesAndIsVerified) {
  Graph graph;
  GraphEditor edit(graph);
  ValueId at = edit.AddInput("x", DataType::kFloat32, Shape::Of({2, 3}));
  const ValueId w = edit.AddConstant("w", Tensor(DataType::kFloat32, {3, 3}));
  const ValueId b = edit.AddConstant("b", Tensor(DataType::kFloat32, {3}));
  const ValueSpec spec{DataType::kFloat32, Shape::Of({2, 3}), ""};
  for (int i = 0; i < 3000; ++i) {
    at = graph.output(edit.Add(OpKind::kIdentity, "", {at}, spec));
    at = graph.output(edit.Add(OpKind::kMatMul, "", {at, w}, spec));
    at = graph.output(edit.Add(OpKind::kAdd, "", {at, b}, spec));
    at = graph.output(edit.Add(OpKind::kRelu, "", {at}, spec));
  }
  edit.SetValueName(at, "y");
  edit.AddGraphOutput("y", at);
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  EXPECT_TRUE(context.half_verified);
  EXPECT_EQ(graph.num_nodes(), 3000 + 3);
  EXPECT_EQ(CountOf(graph, OpKind::kMatMul), 3000);
}

TEST(Pipeline, DumpsAndTheReproducerOfAFailureParse) {
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  const PermissiveTarget target;
  PassContext context{.target = target};
  context.debug.dump_dir = folder->path();
  Graph graph = TwoLayers();
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  EXPECT_TRUE(ReadFile(folder->path() + "/01-fuse-activation.before.graph").ok());
  EXPECT_TRUE(ReadFile(folder->path() + "/01-fuse-activation.after.graph").ok());

  const absl::Status status =
      PipelineOf([](GraphEditor&) { return absl::InternalError("two\nlines"); }).Run(graph, context);
  ASSERT_FALSE(status.ok());
  const absl::StatusOr<std::string> reproducer = ReadFile(folder->path() + "/failure.graph");
  ASSERT_TRUE(reproducer.ok());
  EXPECT_THAT(*reproducer, AllOf(HasSubstr("# pass: test-pass"), HasSubstr("# failure: two\n# lines")));
  EXPECT_TRUE(ParseGraph(*reproducer).ok());
}

TEST(Pipeline, NoWorkMeansNoEdits) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph graph = Parse("graph (x: f32[2,3]) { return y=softmax(x) }");
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  for (const PassRun& run : context.runs) EXPECT_EQ(run.edits, 0) << run.name;
}

TEST(Pipelines, AnUnknownNameListsTheKnownOnes) {
  const absl::StatusOr<Pipeline> p = MakePipelineByName("fuse-everything");
  EXPECT_EQ(p.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(p.status().message()), HasSubstr("fuse-conv-bias"));
  for (const std::string_view name : PipelineNames()) EXPECT_TRUE(MakePipelineByName(name).ok()) << name;
}

}  // namespace
}  // namespace halftone
