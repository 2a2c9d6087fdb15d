// SPDX-License-Identifier: Apache-2.0
// A rule that is wrong on purpose is named, its reproducer shows it again, and what is left of it after reducing is
// small.

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/core/reproducer.h"
#include "passes/fusion/contraction.h"
#include "passes/pipelines.h"
#include "tools/graph_reduce/reduce.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// sub(a, b) => sub(b, a), which is wrong; of an addition it is right.
class SwapOperands final : public RewriteRule {
 public:
  explicit SwapOperands(OpKind op, float tolerance) : op_(op), tolerance_(tolerance) {}
  std::string_view name() const override { return "swap-operands"; }
  std::string_view equation() const override { return "op(a, b) => op(b, a)"; }
  float tolerance() const override { return tolerance_; }
  OpSet root() const override { return op_; }
  FindResult Find(const Graph& g, NodeId id, const Target&) const override {
    if (g.node(id).spelling == "swapped") return No("it is swapped already");
    return Match({id});
  }
  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [a, b] = edit.graph().inputs<2>(m.root());
    edit.SetInputs(m.root(), {b, a});
    edit.SetSpelling(m.root(), "swapped");
    return absl::OkStatus();
  }

 private:
  const OpKind op_;
  const float tolerance_;
};

// x * (1 + 1e-5): right within rounding, wrong for a rule that says bit-exact.
class Nudge final : public RewriteRule {
 public:
  explicit Nudge(float tolerance) : tolerance_(tolerance) {}
  std::string_view name() const override { return "nudge"; }
  std::string_view equation() const override { return "relu(x) => relu(x) * 1.00001"; }
  float tolerance() const override { return tolerance_; }
  OpSet root() const override { return OpKind::kRelu; }
  FindResult Find(const Graph& g, NodeId id, const Target&) const override {
    return g.node(id).spelling.empty() ? FindResult(Match({id})) : No("done");
  }
  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    edit.SetSpelling(m.root(), "nudged");
    Node mul;
    mul.op = OpKind::kMul;
    mul.inputs = {g.input(m.root(), 0), edit.AddConstant("", Tensor::Scalar(1.00001f))};
    const ValueId x = g.input(m.root(), 0);
    const NodeId nudged = edit.AddNode(std::move(mul), {{g.type(x), g.shape(x), ""}});
    edit.SetInput(m.root(), 0, g.output(nudged));
    return absl::OkStatus();
  }

 private:
  const float tolerance_;
};

Pipeline Of(std::unique_ptr<RewriteRule> rule) {
  Rules rules;
  rules.push_back(std::move(rule));
  Pipeline p("test");
  p.AddFixedPoint("rules", std::move(rules));
  return p;
}

constexpr char kNet[] = R"(graph format=onnx (x: f32[N,3,8,8], t: f32[N,?]) {
  w = const f32[16,3,3,3]  b = const f32[16]  v = const f32[16,160]  u = const f32[160,700]
  c = relu(conv(x, w, b) {pads=[1, 1, 1, 1]})
  p = reduce_mean(c, [2, 3]) {keepdims=false}
  h = tanh(matmul(p, v))
  d = sub(matmul(h, u), reduce_mean(t, [1]) {keepdims=true}) name="difference"
  y = softmax(relu(d))
  return y, e=exp(h), s=sigmoid(c) })";

Graph Net() {
  absl::StatusOr<Graph> graph = ParseGraph(kNet);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

int Computing(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += Info(graph.op(id)).group != OpGroup::kSource ? 1 : 0;
  return count;
}

class WrongRule : public testing::Test {
 protected:
  absl::Status Run(const Pipeline& pipeline, uint64_t seed = 5) {
    context_.equivalence = {.enabled = true, .seed = seed};
    Graph graph = Net();
    return pipeline.Run(graph, context_);
  }
  PermissiveTarget target_;
  PassContext context_{.target = target_};
};

TEST_F(WrongRule, IsNamedReproducedAndReduced) {
  const Pipeline pipeline = Of(std::make_unique<SwapOperands>(OpKind::kSub, kRounding));
  const absl::Status failure = Run(pipeline);
  EXPECT_EQ(failure.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(failure.message()),
              AllOf(HasSubstr("pass 'swap-operands': changed an output beyond what it declares"), HasSubstr("seed 5"),
                    HasSubstr("with inputs of [1,3,8,8], [1,3]"), HasSubstr("output 'y'")));

  EXPECT_EQ(ReproducerOf(failure), context_.reproducer) << "the error takes it along";
  const absl::StatusOr<Reproducer> read = ReadReproducer(context_.reproducer);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->pass, "swap-operands");
  EXPECT_EQ(read->pipeline, "test");
  EXPECT_EQ(read->seed, 5u);
  EXPECT_LT(context_.reproducer.size(), 4000u) << "the weights are not needed";  // 450 KB with them
  const absl::Status again = Rerun(*read, pipeline, target_);
  EXPECT_TRUE(SameFailure(again, failure)) << again;

  Reproducer small = *read;
  int successes = 0;
  small.graph = Reduce(read->graph,
                       [&](const Reduction& r) {
                         Reproducer tried = *read;
                         tried.graph = r.graph;
                         return SameFailure(Rerun(tried, pipeline, target_), failure);
                       },
                       {.progress = [&](const std::string&) { ++successes; }})
                    .graph;
  EXPECT_GT(successes, 3);
  EXPECT_EQ(Computing(small.graph), 1) << PrintGraph(small.graph);  // the subtraction
  const absl::StatusOr<Reproducer> last = ReadReproducer(PrintReproducer(small));
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_TRUE(SameFailure(Rerun(*last, pipeline, target_), failure));
}

TEST_F(WrongRule, TheSameRuleIsRightWhereItMayBe) {
  EXPECT_TRUE(Run(Of(std::make_unique<SwapOperands>(OpKind::kAdd, kBitExact))).ok());
  EXPECT_EQ(context_.reproducer, "");
}

TEST_F(WrongRule, IsJudgedByWhatItDeclares) {
  EXPECT_TRUE(Run(Of(std::make_unique<Nudge>(kRounding))).ok());
  const absl::Status status = Run(Of(std::make_unique<Nudge>(kBitExact)));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass 'nudge': changed an output beyond what it declares (bit-exact; seed 5)"));
}

TEST_F(WrongRule, WeightsThatTheFailureNeedsAreInTheReproducer) {
  // The outputs differ only with the original weight: filled from its name it is not constant.
  absl::StatusOr<Graph> graph =
      ParseGraph(R"(graph (x: f32[2,9000]) { w = const f32[9000]  return y=sub(x, mul(w, x)) })");
  ASSERT_TRUE(graph.ok());
  GraphEditor edit(*graph);
  Tensor zeros(DataType::kFloat32, {9000});
  const NodeId w = graph->FindNode("w").valid() ? graph->FindNode("w") : graph->producer(graph->FindValue("w"));
  edit.SetAttribute(w, "value", zeros);

  // Wrong only where everything is zero.
  class DropZeros final : public RewriteRule {
   public:
    std::string_view name() const override { return "drop-zeros"; }
    std::string_view equation() const override { return "x - 0 => 0 - x"; }
    OpSet root() const override { return OpKind::kMul; }
    FindResult Find(const Graph& g, NodeId id, const Target&) const override {
      const Tensor* tensor = g.ConstantTensor(g.input(id, 0));
      if (tensor == nullptr || tensor->ToFloats()[0] != 0) return No("it is not zero");
      return Match({id}, {g.input(id, 1)});
    }
    absl::Status Apply(const Match& m, GraphEditor& edit) const override { return Bypass(m, m.value(0), edit); }
  };
  const Pipeline pipeline = Of(std::make_unique<DropZeros>());
  context_.equivalence = {.enabled = true};
  const absl::Status failure = pipeline.Run(*graph, context_);
  EXPECT_EQ(failure.code(), absl::StatusCode::kInternal);
  const absl::StatusOr<Reproducer> read = ReadReproducer(context_.reproducer);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(SameFailure(Rerun(*read, pipeline, target_), failure));
}

}  // namespace
}  // namespace halftone
