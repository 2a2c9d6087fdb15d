// SPDX-License-Identifier: Apache-2.0
// Real GraphDefs after the passes: fused and lowered to bf16 as TensorFlow's lists say, then written in each dialect.
// TensorFlow's registry, with the dialect's own ops, must accept the file, the importer must read it, and its inputs
// and outputs must be those of the model.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/status.h"
#include "formats/dialects.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

constexpr std::string_view kModels[] = {
    "imagenet/mobilenet_v2_fp32_dequantized",
    "imagenet/squeezenet_fp32_from_fp16",
    "imagenet/tiny_darknet_imagenet",
    "mnist/mnist_fc",
    "superres/ESPCN_x2",
    "superres/FSRCNN_x2",
    "audio/DS_CNN_S_mfcc",
    "audio/CNN_S_mfcc",
    "audio/GRU_S_mfcc",
    "audio/LSTM_S_mfcc",
    "rnn/mnist_lstm",
    "rnn/mnist_gru",
};

// Small enough for the reference evaluator.
constexpr std::string_view kExecuted[] = {"mnist/mnist_fc", "audio/DS_CNN_S_mfcc", "audio/CNN_S_mfcc"};

// The outputs for seeded inputs, with batch 2 where the batch dimension is dynamic.
absl::StatusOr<std::vector<Tensor>> Outputs(Graph graph) {
  GraphEditor edit(graph);
  HALFTONE_RETURN_IF_ERROR(Specialize(edit, {}, /*batch=*/2));
  return reference::EvaluateGraph(graph, reference::RandomInputs(graph, /*seed=*/7));
}

class OptimizedGraphDef : public ::testing::TestWithParam<std::string_view> {};

TEST_P(OptimizedGraphDef, IsAcceptedByTheRegistry) {
  const auto path = testing::SharedData("models/" + std::string(GetParam()) + ".pb");
  const auto registry_path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value() || !registry_path.has_value())
    GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with this model";
  const auto registry = testing::ReadRegistry(*registry_path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  const absl::StatusOr<Graph> imported = ImportGraphDef(*ReadFile(*path), /*is_text=*/false);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const absl::StatusOr<ListsPlan> plan = PlanByLists(*imported, {.imported_from = TensorFlowDialectOf(*imported)});
  ASSERT_TRUE(plan.ok()) << plan.status();

  tf::OpList with_tensorflow = *registry, with_itex = *registry;
  with_tensorflow.MergeFrom(testing::InternalOps(testing::InternalOpsOf::kTensorFlow));
  with_itex.MergeFrom(testing::InternalOps(testing::InternalOpsOf::kItex));
  const std::pair<Dialect, const tf::OpList&> dialects[] = {
      {Dialect::kPortable, *registry}, {Dialect::kTensorFlow, with_tensorflow}, {Dialect::kItex, with_itex}};

  const PermissiveTarget target;
  for (int run = 0; run < 6; ++run) {
    const auto& [dialect, known] = dialects[run / 2];
    const bool lowered = run % 2 == 1;
    SCOPED_TRACE(std::string(DialectName(dialect)) + (lowered ? ", bf16" : ", fp32"));
    Graph graph = *imported;
    PassContext context{.target = target};
    if (lowered) context.plan = &plan->plan;
    ASSERT_EQ(MakeOptimizePipeline().Run(graph, context), absl::OkStatus());
    if (lowered) {
      ASSERT_EQ(MakePrecisionPipeline(plan->plan).Run(graph, context), absl::OkStatus());
    }
    ASSERT_EQ(MakeExportPipeline(FileDialectOf(ModelFormat::kGraphDef, dialect)).Run(graph, context), absl::OkStatus());
    const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    tf::GraphDef def;
    ASSERT_TRUE(def.ParseFromString(*bytes));
    EXPECT_EQ(testing::RegistryViolations(def, known), std::vector<std::string>());
    if (GetParam().starts_with("imagenet/")) {
      EXPECT_EQ(std::any_of(def.node().begin(), def.node().end(),
                            [](const tf::NodeDef& node) { return IsFusedTensorFlowOp(node.op()); }),
                dialect != Dialect::kPortable);
    }
    if (lowered) {
      EXPECT_NE(def.ShortDebugString().find("DT_BFLOAT16"), std::string::npos);
    }

    GraphDefOptions options;
    for (const GraphOutput& output : imported->outputs()) options.outputs.push_back(output.name);
    const absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, options);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(again->inputs().size(), imported->inputs().size());
    for (size_t i = 0; i < again->inputs().size(); ++i) {
      EXPECT_EQ(again->node(again->inputs()[i]).name, imported->node(imported->inputs()[i]).name);
    }
    for (size_t i = 0; i < again->outputs().size(); ++i) {
      EXPECT_EQ(again->type(again->outputs()[i].value), imported->type(imported->outputs()[i].value));
    }
    if (std::find(std::begin(kExecuted), std::end(kExecuted), GetParam()) == std::end(kExecuted)) continue;
    const absl::StatusOr<std::vector<Tensor>> before = Outputs(*imported), after = Outputs(*again);
    ASSERT_TRUE(before.ok()) << before.status();
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_EQ(before->size(), after->size());
    const float tolerance = lowered ? 0.05f : 1e-5f;
    for (size_t i = 0; i < before->size(); ++i) {
      EXPECT_EQ(reference::Compare((*after)[i], (*before)[i], tolerance, tolerance), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OptimizedGraphDef, ::testing::ValuesIn(kModels), [](const auto& info) {
  std::string name(info.param.substr(info.param.find('/') + 1));
  return name;
});

}  // namespace
}  // namespace halftone
