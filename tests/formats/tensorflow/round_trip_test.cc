// SPDX-License-Identifier: Apache-2.0
// Every real GraphDef: read and written again, node by node the same NodeDef; also through the text form of the graph.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "tests/formats/tensorflow/graph_difference.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

constexpr std::string_view kFolders[] = {"imagenet", "mnist", "superres", "audio", "rnn"};

std::vector<std::string> AllModels() {
  std::vector<std::string> paths;
  for (const std::string_view folder : kFolders) {
    const auto path = testing::SharedData("models/" + std::string(folder));
    if (!path.has_value()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(*path)) {
      if (entry.path().extension() == ".pb") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

tf::GraphDef Parse(const std::string& bytes) {
  tf::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(bytes));
  return graph;
}

class RoundTripTest : public ::testing::Test {
 protected:
  void SetUp() override {
    models_ = AllModels();
    if (models_.empty()) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with models";
    EXPECT_EQ(models_.size(), 12u);
  }
  std::vector<std::string> models_;
};

TEST_F(RoundTripTest, GivesTheSameNodes) {
  for (const std::string& path : models_) {
    SCOPED_TRACE(path);
    const std::string bytes = *ReadFile(path);
    const absl::StatusOr<Graph> graph = ImportGraphDef(bytes, /*is_text=*/false);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const absl::StatusOr<std::string> back = ExportGraphDef(*graph, /*as_text=*/false);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(Difference(Parse(bytes), Parse(*back)), "");
  }
}

TEST_F(RoundTripTest, GivesTheSameNodesThroughPbtxt) {
  for (const std::string& path : models_) {
    SCOPED_TRACE(path);
    const std::string bytes = *ReadFile(path);
    const absl::StatusOr<std::string> text =
        ExportGraphDef(*ImportGraphDef(bytes, /*is_text=*/false), /*as_text=*/true);
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<Graph> graph = ImportGraphDef(*text, /*is_text=*/true);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(Difference(Parse(bytes), Parse(*ExportGraphDef(*graph, /*as_text=*/false))), "");
  }
}

TEST_F(RoundTripTest, GivesTheSameNodesThroughTheTextForm) {
  for (const std::string& path : models_) {
    SCOPED_TRACE(path);
    const std::string bytes = *ReadFile(path);
    const std::string text = PrintGraph(*ImportGraphDef(bytes, /*is_text=*/false), {.with_weights = true});
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const absl::StatusOr<std::string> back = ExportGraphDef(*graph, /*as_text=*/false);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(Difference(Parse(bytes), Parse(*back)), "");
  }
}

TEST_F(RoundTripTest, OnlyLoopsAndRareOpsAreOpaque) {
  const std::vector<std::string> clean = {"imagenet/", "mnist/", "superres/", "DS_CNN_S_mfcc", "/CNN_S_mfcc"};
  for (const std::string& path : models_) {
    const bool must_be_clean = std::any_of(
        clean.begin(), clean.end(), [&](const std::string& part) { return path.find(part) != std::string::npos; });
    if (!must_be_clean) continue;
    const absl::StatusOr<Graph> graph = ImportGraphDef(*ReadFile(path), /*is_text=*/false);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const NodeId id : graph->nodes())
      EXPECT_NE(graph->op(id), OpKind::kOpaque) << path << ": " << graph->Label(id);
    EXPECT_EQ(graph->outputs().size(), 1u) << path;
    EXPECT_EQ(graph->inputs().size(), 1u) << path;
  }
}

TEST_F(RoundTripTest, TheRegistryAcceptsWhatIsWritten) {
  const auto registry_path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!registry_path.has_value()) GTEST_SKIP() << "there is no tensorflow_ops.pbtxt";
  const auto registry = testing::ReadRegistry(*registry_path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  for (const std::string& path : models_) {
    const tf::GraphDef graph =
        Parse(*ExportGraphDef(*ImportGraphDef(*ReadFile(path), /*is_text=*/false), /*as_text=*/false));
    EXPECT_EQ(testing::RegistryViolations(graph, *registry), std::vector<std::string>()) << path;
  }
}

}  // namespace
}  // namespace halftone
