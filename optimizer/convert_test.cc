// SPDX-License-Identifier: Apache-2.0
// Variants as graphs, before anything is written: which planner plans which graph, and what is said about each node.

#include "optimizer/convert.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/provenance.h"
#include "ir/text.h"
#include "optimizer/check_options.h"
#include "optimizer/explain.h"
#include "optimizer/plan_precision.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// conv, relu; pool; relu6, which Paddle's list has not; matmul, bias.
constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[2,3,7,5]) {
    w = const f32[6,3,3,3]
    b = const f32[6]
    c = conv(x, w, b) {pads=[1, 1, 1, 1]}
    r = relu(c)
    p = global_average_pool(r)
    f = flatten(p)
    s = relu6(f)
    v = const f32[6,4]
    d = const f32[4]
    m = matmul(s, v)
    y = add(m, d)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

class ConvertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.model.path = "model.onnx";
    options_.force = true;  // the same on every CPU
  }
  ConvertedGraph Lower(VariantKind kind, std::string_view text = kModel) {
    absl::StatusOr<Graph> graph = ParseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    EXPECT_TRUE(CheckOptions(options_).ok()) << CheckOptions(options_);
    const absl::StatusOr<OptimizedModel> model = OptimizeModel(*std::move(graph), *target_, options_);
    EXPECT_TRUE(model.ok()) << model.status();
    absl::StatusOr<ConvertedGraph> lowered = ConvertPrecision(kind, *model, *target_, options_);
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return lowered.ok() ? *std::move(lowered) : ConvertedGraph();
  }
  static const NodeDecision& Of(const ConvertedGraph& lowered, std::string_view name) {
    static const NodeDecision kNothing;
    for (const NodeDecision& decision : lowered.decisions) {
      if (decision.node == name) return decision;
    }
    ADD_FAILURE() << "no decision for " << name;
    return kNothing;
  }

  const std::unique_ptr<Target> target_ = MakeCpuTarget();
  OptimizeOptions options_;
};

TEST_F(ConvertTest, ListsPlansTheGraphAsImported) {
  const ConvertedGraph lowered = Lower(VariantKind::kBf16);
  EXPECT_THAT(lowered.summary, HasSubstr("nodes to bfloat16"));
  EXPECT_EQ(Of(lowered, "r").op, "conv");
  EXPECT_EQ(Of(lowered, "r").reason.rule, "lists.allow") << "the fused node has the reason of its contraction";
  EXPECT_EQ(Of(lowered, "r").precision, VariantKind::kBf16);
  EXPECT_EQ(ProvenanceOf(lowered.graph).planner, "lists");
}

TEST_F(ConvertTest, PlacementPlansTheFusedGraph) {
  options_.planner_kind = PlannerKind::kPlacement;
  const ConvertedGraph lowered = Lower(VariantKind::kBf16);
  EXPECT_THAT(lowered.summary, HasSubstr("marked 2 of 5 operators to bfloat16, 1 orphan back to float32"));
  EXPECT_EQ(Of(lowered, "r").reason.rule, "placement.marked");
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr("fused_conv2d"));
  EXPECT_EQ(Of(lowered, "s").reason.rule, "placement.not-listed");
  EXPECT_EQ(Of(lowered, "y").reason.rule, "placement.orphan");
  EXPECT_EQ(Of(lowered, "y").precision, VariantKind::kFp32);
  EXPECT_EQ(ProvenanceOf(lowered.graph).planner, "placement");
}

TEST_F(ConvertTest, EveryNodeIsExplained) {
  for (const PlannerKind planner : {PlannerKind::kLists, PlannerKind::kPlacement}) {
    for (const VariantKind kind : {VariantKind::kFp32, VariantKind::kBf16, VariantKind::kFp16}) {
      options_.planner_kind = planner;
      const ConvertedGraph lowered = Lower(kind);
      EXPECT_GE(lowered.decisions.size(), 5u);
      for (const NodeDecision& decision : lowered.decisions) {
        EXPECT_THAT(decision.reason.rule, HasSubstr(".")) << decision.node;
        EXPECT_FALSE(decision.reason.text.empty()) << decision.node;
      }
    }
  }
}

TEST_F(ConvertTest, CastsSayWhatStandsBeside) {
  const ConvertedGraph lowered = Lower(VariantKind::kBf16);
  bool found = false;
  for (const NodeDecision& decision : lowered.decisions) {
    if (decision.reason.rule != "conversion.cast") continue;
    found = true;  // down or up, by what the CPU's kernels write
    EXPECT_THAT(decision.reason.text, AnyOf(MatchesRegex("cast: '.+' is f32, '.+' reads bf16"),
                                            MatchesRegex("cast: '.+' is bf16, '.+' reads f32")))
        << decision.node;
  }
  EXPECT_TRUE(found || lowered.casts.planned > lowered.casts.in_file);
  EXPECT_GT(lowered.casts.planned, 0);
}

TEST_F(ConvertTest, RulesFindFusedNodesByTheNamesOfTheModel) {
  options_.planner_kind = PlannerKind::kPlacement;
  options_.rules.nodes = {{.name = "c", .min_precision = DataType::kFloat32}};
  const ConvertedGraph lowered = Lower(VariantKind::kBf16);
  EXPECT_EQ(Of(lowered, "r").reason.rule, "policy.min-precision");
  EXPECT_THAT(Of(lowered, "r").reason.text,
              HasSubstr("rule name=c of the policy: min-precision float32, planned bfloat16"));
  EXPECT_THAT(lowered.summary, HasSubstr("; the policy changed 2 nodes")) << "the pool follows";
}

TEST_F(ConvertTest, TheFirstLayerIsKeptWithWhatIsFusedIntoIt) {
  options_.rules.keep_first = true;
  const ConvertedGraph lowered = Lower(VariantKind::kBf16);
  EXPECT_EQ(Of(lowered, "r").op, "conv") << "still fused";
  EXPECT_EQ(Of(lowered, "r").reason.rule, "policy.first-layer");
  EXPECT_EQ(Of(lowered, "r").precision, VariantKind::kFp32);
}

TEST_F(ConvertTest, Float16IsWrittenEverywhere) {
  options_.force = false;
  for (const PlannerKind planner : {PlannerKind::kLists, PlannerKind::kPlacement}) {
    options_.planner_kind = planner;
    const ConvertedGraph lowered = Lower(VariantKind::kFp16);
    EXPECT_THAT(lowered.summary, HasSubstr("float16"));
    EXPECT_EQ(lowered.summary.find("bfloat16"), std::string::npos) << lowered.summary;
    bool halves = false;
    for (const NodeId id : lowered.graph.nodes()) {
      for (const ValueId value : lowered.graph.node(id).outputs) {
        halves = halves || (value.valid() && lowered.graph.type(value) == DataType::kFloat16);
        EXPECT_NE(lowered.graph.type(value), DataType::kBFloat16);
      }
    }
    EXPECT_TRUE(halves);
    EXPECT_EQ(lowered.not_measured.empty(), target_->IsNative(DataType::kFloat16));
    if (!lowered.not_measured.empty()) {
      EXPECT_THAT(lowered.not_measured, HasSubstr("not measured: this CPU has no float16 arithmetic"));
      EXPECT_THAT(lowered.warnings, Contains(HasSubstr("fp16: written, but not measured")));
    }
  }
}

TEST_F(ConvertTest, NestedGraphsAreExplained) {
  options_.planner_kind = PlannerKind::kPlacement;
  const ConvertedGraph lowered = Lower(VariantKind::kBf16, R"(
    graph format=onnx (x: f32[2,3], p: bool[]) {
      a = relu(x)
      y = if(p, a) {then=graph (u: f32[2,3]) { v = relu(u)  return v }, else=graph (u: f32[2,3]) { v = tanh(u)  return v }}
      return y
    } header {ir_version=8, opset=[17], opset_domains=[""]})");
  EXPECT_EQ(Of(lowered, "y").reason.rule, "placement.not-listed");
  std::set<std::string> nested;
  for (const NodeDecision& decision : lowered.decisions) {
    if (decision.reason.rule == "target.nested") nested.insert(decision.node);
  }
  EXPECT_EQ(nested, (std::set<std::string>{"y/then/v", "y/else/v"}));
}

TEST_F(ConvertTest, OptionsOfTheWrongPlanner) {
  const auto message = [this] { return std::string(CheckOptions(options_).message()); };
  options_.op_types = {"conv2d"};
  EXPECT_THAT(message(), HasSubstr("op_types needs planner placement"));
  options_.planner_kind = PlannerKind::kPlacement;
  EXPECT_EQ(message(), "");
  options_.op_types = {"conv3d"};
  EXPECT_THAT(message(), HasSubstr("conv3d is not on Paddle's list (paddle)"));
  options_.op_types.clear();
  options_.lists_version = "tensorflow";
  EXPECT_THAT(message(), HasSubstr("planner placement has paddle and paddle-2.x"));
  options_.planner_kind = PlannerKind::kLists;
  EXPECT_EQ(message(), "");
  options_.lists_version = "paddle";
  EXPECT_THAT(message(), HasSubstr("lists_version 'paddle': planner lists has tensorflow"));
  options_.lists_version.clear();
  options_.rules.nodes = {{.op = "Conv"}};
  EXPECT_THAT(message(), HasSubstr("give precision, min_precision or max_precision"));
  options_.rules.nodes.clear();
  options_.model.path = "model.pb";
  options_.target_runtime = TargetRuntime::kOnnxRuntime;
  EXPECT_THAT(message(),
              HasSubstr("target runtime onnxruntime does not load the model's format: it is a TensorFlow GraphDef"));
}

TEST(ReasonOf, PartsHaveTheReasonOfTheWhole) {
  const std::map<std::string, Reason> reasons = {{"a/b", {"lists.allow", "because"}}};
  EXPECT_EQ(ReasonOf("a/b", reasons).text, "because");
  EXPECT_EQ(ReasonOf("a/b/conv", reasons).text, "because");
  EXPECT_EQ(ReasonOf("a", reasons).rule, "conversion.made");
}

}  // namespace
}  // namespace halftone
