// SPDX-License-Identifier: Apache-2.0
#include "formats/formats.h"

#include <set>

#include "base/files.h"
#include "formats/dialects.h"
#include "formats/onnx/dialects.h"
#include "formats/tensorflow/dialects.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using testing::HasSubstr;

std::string OnnxBytes() {
  const absl::StatusOr<Graph> graph = ParseGraph("graph (x: f32[2]) { y = relu(x)  return y }");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return ExportModel(*graph).value();
}

TEST(Formats, NamesAndExtensions) {
  for (const ModelFormat format : {ModelFormat::kOnnx, ModelFormat::kGraphDef, ModelFormat::kGraphDefText}) {
    EXPECT_EQ(ModelFormatFromName(ModelFormatName(format)), format);
    EXPECT_EQ(ModelFormatOfPath(std::string("a/b") + std::string(ModelExtension(format))), format);
  }
  EXPECT_EQ(ModelFormatOfPath("model.h5"), std::nullopt);
  EXPECT_EQ(ModelFormatFromName("ONNX"), std::nullopt);
}

TEST(Formats, BytesWithoutAnExtension) {
  const absl::StatusOr<Graph> graph = ImportModelBytes(OnnxBytes(), "blob-1234");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(FormatOf(*graph), ModelFormat::kOnnx);
  const absl::Status status = ImportModelBytes("?", "blob-1234").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'blob-1234' is neither"));
}

TEST(Formats, NodesAreCountedAsTheFileHasThem) {
  const absl::StatusOr<int64_t> onnx = CountNodesOfFile(OnnxBytes(), ModelFormat::kOnnx);
  ASSERT_TRUE(onnx.ok()) << onnx.status();
  EXPECT_EQ(*onnx, 1);
  EXPECT_FALSE(CountNodesOfFile("?", ModelFormat::kOnnx).ok());
  // The pad of a depthwise convolution is a node of its own in a GraphDef; weights and pads are constants.
  const absl::StatusOr<Graph> graph = ParseGraph(
      "graph format=graphdef layout=channels_last (x: f32[1,5,4,3]) { w = const f32[3,3,3,1]  "
      "y = conv(x, w) {layout=\"NHWC\", weights_layout=\"HWCM\", group=3, pads=[1, 1, 1, 1]} name=\"y\"  return y }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const bool text : {false, true}) {
    const absl::StatusOr<std::string> bytes = ExportModel(*graph, {.as_text = text});
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const auto nodes = CountNodesOfFile(*bytes, text ? ModelFormat::kGraphDefText : ModelFormat::kGraphDef);
    ASSERT_TRUE(nodes.ok()) << nodes.status();
    EXPECT_EQ(*nodes, 2) << *bytes;
  }
}

TEST(Formats, ExplicitFormatWins) {
  EXPECT_TRUE(ImportModelBytes(OnnxBytes(), "model.pb", {.format = ModelFormat::kOnnx}).ok());
  EXPECT_FALSE(ImportModelBytes(OnnxBytes(), "model.pb").ok());
  EXPECT_FALSE(ImportModelBytes(OnnxBytes(), "model.onnx", {.outputs = {"y"}}).ok());
}

TEST(Formats, TheGraphRemembersItsFormatInItsHeader) {
  Graph graph = ParseGraph("graph (x: f32[2]) { y = relu(x) name=\"y\"  return y }").value();
  EXPECT_EQ(FormatOf(graph), std::nullopt);
  EXPECT_EQ(WrittenFormat(graph), ModelFormat::kOnnx);
  SetFormat(graph, ModelFormat::kGraphDef);
  EXPECT_EQ(FormatOf(graph), ModelFormat::kGraphDef);
  EXPECT_EQ(ModelFormatOfBytes(ExportModel(graph).value()), ModelFormat::kGraphDef);
  EXPECT_THAT(PrintGraph(graph), HasSubstr("graph format=graphdef ("));
}

TEST(Formats, TheTextFormIsKnownByThePath) {
  EXPECT_EQ(FormatOfFile(ModelFormat::kGraphDef, "a.pbtxt"), ModelFormat::kGraphDefText);
  EXPECT_EQ(FormatOfFile(ModelFormat::kGraphDef, "a.onnx"), ModelFormat::kGraphDef);
  EXPECT_EQ(FormatOfFile(ModelFormat::kOnnx, "a.pbtxt"), ModelFormat::kOnnx);
  EXPECT_EQ(FormatOfFile(ModelFormat::kOnnx, "a"), ModelFormat::kOnnx);
  EXPECT_TRUE(IsTextForm(ModelFormat::kGraphDefText));
  EXPECT_FALSE(IsTextForm(ModelFormat::kGraphDef));
}

TEST(Formats, OnnxRuntimeLoadsNoGraphDef) {
  Graph graph = ParseGraph("graph (x: f32[2]) { y = relu(x) name=\"y\"  return y }").value();
  EXPECT_EQ(LoadsIn(graph, TargetRuntime::kOnnxRuntime), absl::OkStatus());
  SetFormat(graph, ModelFormat::kGraphDef);
  EXPECT_EQ(LoadsIn(graph, TargetRuntime::kOnnxRuntime).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Dialects, OfFormats) {
  EXPECT_EQ(&FileDialectOf(ModelFormat::kOnnx), &OnnxDialect());
  EXPECT_EQ(&FileDialectOf(ModelFormat::kGraphDefText, Dialect::kItex), &ItexDialect());
  EXPECT_EQ(CheckDialect(Dialect::kOnnxRuntime, ModelFormat::kOnnx), absl::OkStatus());
  EXPECT_THAT(std::string(CheckDialect(Dialect::kItex, ModelFormat::kOnnx).message()),
              HasSubstr("dialect 'itex': the model is ONNX, whose dialects are 'portable', 'onnxruntime'"));
  std::set<std::string_view> names;
  for (const FileDialect* file : AllFileDialects()) EXPECT_TRUE(names.insert(file->name).second) << file->name;
  EXPECT_EQ(names, (std::set<std::string_view>{"onnx", "onnxruntime", "graphdef", "tensorflow", "itex"}));
  for (int i = 0; i < kNumDialects; ++i)
    EXPECT_EQ(DialectFromName(DialectName(static_cast<Dialect>(i))), static_cast<Dialect>(i));
}

TEST(Formats, Files) {
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/m.onnx";
  EXPECT_EQ(ImportModel(path).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(path, OnnxBytes()).ok());
  EXPECT_TRUE(ImportModel(path).ok());
  ASSERT_TRUE(WriteFileAtomically(path, "").ok());
  EXPECT_THAT(std::string(ImportModel(path).status().message()), HasSubstr(path));
}

}  // namespace
}  // namespace halftone
