// SPDX-License-Identifier: Apache-2.0
// What a pass of the optimizer leaves is a model like any other: every graph of the golden files and real models,
// written in their format and read back after every pass and every rule, answer as before.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "gtest/gtest.h"
#include "ir/nested.h"
#include "ir/shape_inference.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

constexpr uint64_t kInputs = 7;

bool HasOpaque(const Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.op(id) == OpKind::kOpaque; });
}

// A GraphDef does not say which its outputs are: they are asked for by name.
void NameOutputs(Graph& graph) {
  GraphEditor edit(graph);
  for (const GraphOutput& output : std::vector<GraphOutput>(graph.outputs())) {
    const NodeId id = graph.producer(output.value);
    if (!graph.node(id).name.empty()) continue;
    std::string name = Concat("output", id.index);
    while (graph.HasName(name)) name += "_";
    edit.SetName(id, name);
  }
}

// UNIMPLEMENTED where the format has no word for something in it; any other error is a finding.
absl::Status ThroughFile(Graph& graph) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(FileDialectOf(graph)).Run(graph, context));
  const ModelFormat format = WrittenFormat(graph);
  if (format == ModelFormat::kGraphDef) NameOutputs(graph);
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  const std::vector<GraphOutput> outputs = graph.outputs();
  ImportOptions options{.format = format};
  for (const GraphOutput& output : outputs) {
    options.outputs.push_back(Concat(graph.producer_node(output.value).name, ":", graph.value(output.value).port));
  }
  if (format == ModelFormat::kOnnx) options.outputs.clear();
  const absl::StatusOr<Graph> again = ImportModelBytes(bytes, "written", options);
  if (!again.ok()) return absl::InternalError(Concat("import: ", again.status().message()));
  if (HasOpaque(*again)) return absl::UnimplementedError("something is read back as an opaque node");
  if (again->inputs().size() != graph.inputs().size() || again->outputs().size() != outputs.size()) {
    return absl::InternalError(Concat(again->inputs().size(), " inputs and ", again->outputs().size(), " outputs"));
  }
  std::vector<GraphOutput> named = again->outputs();
  for (size_t i = 0; i < named.size(); ++i) named[i].name = outputs[i].name;
  graph = *again;
  GraphEditor(graph).SetGraphOutputs(std::move(named));
  return absl::OkStatus();
}

struct Result {
  std::string problem;  // "" if all is well
  std::string cannot;   // why the graph cannot go through a file
};

Result RunThroughFiles(Graph in) {
  Graph graph = in;
  const bool any = !FormatOf(in).has_value();  // then either format will do, if one can hold it
  if (any) SetFormat(graph, ModelFormat::kOnnx);
  absl::Status first = ThroughFile(graph);
  if (any && !first.ok()) {
    graph = in;
    SetFormat(graph, ModelFormat::kGraphDef);
    if (ThroughFile(graph).ok()) first = absl::OkStatus();
  }
  if (!first.ok()) {
    const std::string why(first.message());
    return any || absl::IsUnimplemented(first) ? Result{"", why} : Result{why, ""};
  }
  in = graph;  // a file may say less than a text: what was read is the model
  int step = 0;
  const PermissiveTarget target;
  PassContext context{.target = target};
  context.after_pass = [&](Graph& g) { return Annotate(ThroughFile(g), AbslView(Concat("after edit ", ++step))); };
  if (const absl::Status status = MakeOptimizePipeline().Run(graph, context); !status.ok()) {
    return {std::string(status.message()), ""};  // what could be written before must be so after, in whatever words
  }
  const absl::StatusOr<std::string> moved = CompareOutputs(in, graph, kInputs, AllowedDifference(kRounding, in, graph));
  return {moved.ok() ? *moved : std::string(moved.status().message()), ""};
}

TEST(ThroughFiles, EveryGraphOfTheGoldenFiles) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  int through = 0;
  std::map<std::string, int> cannot;
  for (const GoldenGraph& golden : *graphs) {
    const Result result = RunThroughFiles(golden.graph);
    EXPECT_EQ(result.problem, "") << golden.name;
    if (!result.cannot.empty()) {
      std::printf("not through a file: %s: %s\n", golden.name.c_str(), result.cannot.c_str());
    } else {
      ++through;
    }
  }
  std::printf("%d of %zu graphs went through files after every pass\n", through, graphs->size());
  EXPECT_GT(through * 10, static_cast<int>(graphs->size()) * 8);
}

class ModelsThroughFiles : public testing::TestWithParam<const char*> {};

TEST_P(ModelsThroughFiles, KeepTheirOutputs) {
  const char* shared = std::getenv("HALFTONE_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "HALFTONE_SHARED is not set: no real models";
  absl::StatusOr<Graph> graph = ImportModel(std::string(shared) + "/data/models/" + GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  GraphEditor edit(*graph);
  ASSERT_TRUE(Specialize(edit, {{"N", 1}}, /*batch=*/1).ok());
  const Result result = RunThroughFiles(*graph);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.cannot, "");
}

INSTANTIATE_TEST_SUITE_P(Shared, ModelsThroughFiles,
                         testing::Values("mnist/mnist_cnn.onnx", "mnist/mnist_fc.pb", "audio/DS_CNN_S_mfcc.pb",
                                         "audio/CNN_S_mfcc.pb"));

}  // namespace
}  // namespace halftone
