// No fp32 rewrite needs a newer opset than the ops that it replaces: a model with an operator that is passed through
// unchanged cannot be written in a newer one.

#include <string>
#include <vector>

#include "base/status.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "formats/onnx/exporter.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

constexpr int64_t kOldest = 7;

// The opset of the graph's file; an error where ONNX cannot express the graph.
absl::StatusOr<int> OpsetOf(Graph graph, bool optimize) {
  GraphEditor edit(graph);
  edit.SetHeader("opset", std::vector<int64_t>{kOldest});
  edit.SetHeader("opset_domains", std::vector<std::string>{""});
  const PermissiveTarget target;
  PassContext context{.target = target};
  if (optimize) HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(graph, context));
  const Pipeline split = MakeExportPipeline(FileDialectOf(ModelFormat::kOnnx), FileTypesOf(ModelFormat::kOnnx));
  HALFTONE_RETURN_IF_ERROR(split.Run(graph, context));
  return OnnxOpset(graph);
}

TEST(OpsetOfRewrites, IsNoNewerThanThatOfTheModel) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  int compared = 0;
  for (const GoldenGraph& golden : *graphs) {
    const absl::StatusOr<int> before = OpsetOf(golden.graph, /*optimize=*/false);
    const absl::StatusOr<int> after = OpsetOf(golden.graph, /*optimize=*/true);
    if (!before.ok() || !after.ok()) continue;
    ++compared;
    EXPECT_LE(*after, *before) << golden.name << "\n" << PrintGraph(golden.graph);
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace halftone
