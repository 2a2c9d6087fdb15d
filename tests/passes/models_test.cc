// SPDX-License-Identifier: Apache-2.0
// Real models through all pipelines, every pass checked against the reference. They lie outside the repository: the
// folder is $HALFTONE_SHARED; without it these tests are skipped.

#include <cstdlib>
#include <string>

#include "formats/dialects.h"
#include "formats/formats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/shape_inference.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"

namespace halftone {
namespace {

struct Model {
  const char* path;
  int contractions;  // that the fused graph has
  int others;        // nodes that compute beside them: more would mean that a fusion was lost
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.path; }

class Models : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("HALFTONE_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "HALFTONE_SHARED is not set: no real models";
    const absl::StatusOr<Graph> graph = ImportModel(std::string(shared) + "/data/models/" + GetParam().path);
    ASSERT_TRUE(graph.ok()) << graph.status();
    imported_ = *graph;
    GraphEditor edit(imported_);
    const absl::Status status = Specialize(edit, {{"N", 1}}, /*batch=*/1);
    ASSERT_TRUE(status.ok()) << status;
  }
  Graph imported_;
  PermissiveTarget target_;
};

TEST_P(Models, Fp32KeepsItsAnswersThroughEveryPass) {
  Graph graph = imported_;
  PassContext context{.target = target_, .equivalence = {.enabled = true}};
  absl::Status status = MakeOptimizePipeline().Run(graph, context);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(context.notes, testing::IsEmpty());
  int contractions = 0, others = 0;
  for (const NodeId id : graph.nodes()) {
    const OpGroup group = Info(graph.op(id)).group;
    contractions += group == OpGroup::kContraction ? 1 : 0;
    others += group == OpGroup::kBinary || group == OpGroup::kUnary || group == OpGroup::kNormalize ? 1 : 0;
  }
  EXPECT_EQ(contractions, GetParam().contractions);
  EXPECT_EQ(others, GetParam().others);
  status = MakeExportPipeline(FileDialectOf(graph)).Run(graph, context);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(Models, BFloat16StaysNear) {
  const absl::StatusOr<ListsPlan> lists = PlanByLists(imported_, {.imported_from = TensorFlowDialectOf(imported_)});
  ASSERT_TRUE(lists.ok()) << lists.status();
  EXPECT_GT(lists->summary.marked, 0);
  Graph graph = imported_;
  PassContext context{.target = target_, .plan = &lists->plan};
  ASSERT_TRUE(MakeOptimizePipeline().Run(graph, context).ok());
  ASSERT_TRUE(MakePrecisionPipeline(lists->plan).Run(graph, context).ok());
  ASSERT_TRUE(MakeExportPipeline(FileDialectOf(imported_)).Run(graph, context).ok());
  const absl::StatusOr<std::string> difference = CompareOutputs(imported_, graph, /*seed=*/3, /*tolerance=*/0.1f);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "");
}

INSTANTIATE_TEST_SUITE_P(Shared, Models,
                         testing::Values(Model{"mnist/mnist_cnn.onnx", 3, 0}, Model{"mnist/mnist_fc.pb", 3, 0},
                                         Model{"audio/DS_CNN_S_mfcc.pb", 10, 1}, Model{"audio/CNN_S_mfcc.pb", 5, 1}));

}  // namespace
}  // namespace halftone
