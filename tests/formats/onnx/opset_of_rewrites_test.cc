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

// Whether the graph can be an ONNX file of fp32. Types below f32 may need a newer opset: where the file is held in an
// older one, such nodes are written in f32 (passes/export/widen_types.h).
bool IsOnnxOfFp32(const Graph& graph) {
  const std::string format = graph.header().String(kHeaderFormat, "");
  if (!format.empty() && format != FileDialectOf(ModelFormat::kOnnx).name) return false;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId output : graph.node(id).outputs) {
      if (output.valid() && (graph.type(output) == DataType::kBFloat16 || graph.type(output) == DataType::kFloat16))
        return false;
    }
  }
  return true;
}

TEST(OpsetOfRewrites, IsNoNewerThanThatOfTheModel) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  int compared = 0;
  for (const GoldenGraph& golden : *graphs) {
    if (!IsOnnxOfFp32(golden.graph)) continue;
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
