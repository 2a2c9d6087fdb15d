// SPDX-License-Identifier: Apache-2.0
// Every case of the kernels again, with values that do not lie row-major: each kernel either takes the layout or asks
// for another one, and the numbers stay. Which kernel runs does not matter here.
//
//   forced   after each input and each result stands a copy into a layout (runtime/cpu/onednn/forced_layouts.h)
//   chosen   each input comes out of a convolution with a kernel of 1, in the layout that the convolution has chosen
#include <string>
#include <vector>

#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/cpu/onednn/forced_layouts.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

std::vector<std::string>& Files() {
  static std::vector<std::string> files;
  return files;
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kBFloat16 || type == DataType::kFloat16;
}

// `value` goes through `node` on its way to everyone who reads it.
void PutBehind(GraphEditor& edit, ValueId value, NodeId node) {
  edit.ReplaceUses(value, edit.graph().output(node));
  edit.SetInput(node, 0, value);
}

// Behind every value that is computed stands an identity.
Graph WithIdentities(Graph graph) {
  GraphEditor edit(graph);
  for (const NodeId node : graph.nodes()) {
    if (graph.op(node) == OpKind::kConstant) continue;
    for (const ValueId value : std::vector<ValueId>(graph.node(node).outputs)) {
      if (!value.valid() || graph.IsCaptured(value)) continue;
      const NodeId copy =
          edit.Add(OpKind::kIdentity, "", {kNoValue}, {.type = graph.type(value), .shape = graph.shape(value)});
      PutBehind(edit, value, copy);
    }
  }
  return graph;
}

Tensor Ones(DataType type, std::vector<int64_t> dims) {
  Tensor ones(DataType::kFloat32, std::move(dims));
  for (float& one : ones.mutable_data<float>()) one = 1;
  return *ones.ConvertTo(type);
}

// Inputs of floats come out of a depthwise convolution with ones; nullopt if there are none.
std::optional<Graph> WithConvolutions(Graph graph, bool channels_last) {
  GraphEditor edit(graph);
  for (const NodeId node : std::vector<NodeId>(graph.inputs())) {
    const ValueId value = graph.output(node);
    const Shape shape = graph.shape(value);
    if (!IsFloat(graph.type(value)) || !shape.fully_known() || shape.rank() < 3 || shape.rank() > 5) continue;
    const int64_t channels = shape.values()[channels_last ? shape.rank() - 1 : 1];
    std::vector<int64_t> weights(shape.rank(), 1);
    weights[0] = channels;
    Attributes attributes;
    if (channels_last) attributes.Set("layout", std::string("NHWC"));
    attributes.Set("group", channels);
    const ValueId ones = edit.AddConstant("", Ones(graph.type(value), weights));
    const NodeId conv = edit.Add(OpKind::kConv, "", {kNoValue, ones}, {.type = graph.type(value), .shape = shape},
                                 std::move(attributes));
    PutBehind(edit, value, conv);
  }
  if (edit.edits() == 0) return std::nullopt;
  return graph;
}

// A graph with what it must give.
struct Expected {
  Graph graph;
  std::vector<Tensor> inputs;
  OutputSets results;
  Tolerance tolerance;
};

absl::StatusOr<Expected> Evaluate(const Case& c, const std::string& type) {
  Expected expected;
  absl::StatusOr<Graph> graph = ParseGraph(c.TextWith(type));
  if (!graph.ok()) return graph.status();
  expected.graph = *std::move(graph);
  expected.inputs = reference::RandomInputs(expected.graph, /*seed=*/17);
  absl::StatusOr<OutputSets> results = ExpectedOutputs(expected.graph, expected.inputs);
  if (!results.ok()) return results.status();
  expected.results = *std::move(results);
  expected.tolerance = ToleranceOf(expected.graph, type);
  if (type == "bf16") expected.tolerance.absolute += c.bf16_error;
  return expected;
}

void Check(const Expected& expected, absl::StatusOr<std::unique_ptr<Plan>> plan) {
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int run = 0; run < 2; ++run) {  // the second run sees the first one's memory
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(expected.inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(CompareAny(*actual, expected.results, expected.tolerance), "") << "run " << run << "\n"
                                                                             << AllSteps(**plan);
  }
}

template <typename Body>
void ForEachCase(Body&& body) {
  ASSERT_FALSE(Files().empty()) << "give the .cases files as arguments";
  for (const std::string& path : Files()) {
    for (const Case& c : ReadCases(path)) {
      for (const std::string& type : c.types) {
        SCOPED_TRACE(c.Replay(type));
        const absl::StatusOr<Expected> expected = Evaluate(c, type);
        ASSERT_TRUE(expected.ok()) << expected.status();
        body(*expected);
      }
    }
  }
}

TEST(LayoutsTest, ForcedLayouts) {
  int laid_out = 0;
  for (const ForcedLayout layout : kForcedLayouts) {
    SCOPED_TRACE(Concat("layout: ", ForcedLayoutName(layout)));
    const std::unique_ptr<Backend> backend = MakeForcedLayoutBackend(layout);
    ForEachCase([&](const Expected& expected) {
      absl::StatusOr<std::unique_ptr<Plan>> plan =
          Plan::Compile(WithIdentities(expected.graph), {.threads = 1}, *backend);
      if (plan.ok()) {
        for (const StepInfo& step : (*plan)->steps()) laid_out += step.op == "identity" && step.kind != StepKind::kView;
      }
      Check(expected, std::move(plan));
    });
  }
  EXPECT_GT(laid_out, 5000);
}

TEST(LayoutsTest, LayoutsThatConvolutionsChoose) {
  int count = 0;
  for (const bool channels_last : {false, true}) {
    SCOPED_TRACE(channels_last ? "convolutions in NHWC" : "convolutions in NCHW");
    ForEachCase([&](const Expected& expected) {
      const std::optional<Graph> graph = WithConvolutions(expected.graph, channels_last);
      if (!graph.has_value()) return;
      ++count;
      Check(expected, CompilePlan(*graph, {.threads = 1}));
    });
  }
  EXPECT_GT(count, 300);
}

}  // namespace
}  // namespace halftone::testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) halftone::testing::Files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}
