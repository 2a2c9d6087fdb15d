// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/opsets.h"

#include "formats/onnx/target_runtimes.h"
#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

// The graph with every f32 value of `type`.
Graph Lowered(Graph graph, DataType type = DataType::kBFloat16) {
  GraphEditor edit(graph);
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (graph.type(value) == DataType::kFloat32) edit.SetType(value, type);
    }
  }
  return graph;
}

std::string Refusal(const Graph& graph, const std::string& value) {
  return RefuseTypes(graph, graph.producer(graph.FindValue(value)), HighestOpsetOf(graph));
}

constexpr char kOpaque[] =
    "agraph (float[1,3,8,8] x, float[4,3,3,3] w) => (float y) { c = Conv(x, w)  r = Relu(c)  y = com.acme.Magic(r) }";

TEST(Opsets, ConvIsRaisedTo22) {
  const Graph graph = Lowered(Imported(
      Model(9, "agraph (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { c = Conv(x, w)  y = Relu(c) }")));
  EXPECT_EQ(HighestOpsetOf(graph).opset, 22);
  EXPECT_EQ(Refusal(graph, "c"), "");
  const onnx::ModelProto model = Exported(graph);
  EXPECT_EQ(model.opset_import(0).version(), 22);
  EXPECT_EQ(model.ir_version(), 10);
}

TEST(Opsets, OnlyAsFarAsItsNodesNeed) {
  const Graph graph =
      Lowered(Imported(Model(9, "agraph (float[3,4] x, float[4,2] w) => (float[3,2] y) { y = MatMul(x, w) }")));
  EXPECT_EQ(Exported(graph).opset_import(0).version(), 13);
}

TEST(Opsets, AnOpaqueNodePinsTheOpset) {
  const Graph graph = Lowered(Imported(Model(13, kOpaque)));
  EXPECT_EQ(HighestOpsetOf(graph).opset, 13);
  EXPECT_EQ(HighestOpsetOf(graph).why, "node 'y' (com.acme.Magic) is passed through unchanged");
  EXPECT_EQ(
      Refusal(graph, "c"),
      "ONNX's Conv takes bf16 since opset 22, the file has 13: node 'y' (com.acme.Magic) is passed through unchanged");
  EXPECT_EQ(Refusal(graph, "r"), "");
}

TEST(Opsets, BelowThirteenNothingIsBf16) {
  const Graph graph = Lowered(Imported(Model(12, kOpaque)));
  EXPECT_THAT(Refusal(graph, "r"), HasSubstr("Relu takes bf16 since opset 13, the file has 12"));
}

// f16 has been there from the start.
TEST(Opsets, Float16NeedsNoNewerOpset) {
  const Graph graph = Lowered(Imported(Model(9, kOpaque)), DataType::kFloat16);
  EXPECT_EQ(Refusal(graph, "c"), "");
  EXPECT_EQ(Refusal(graph, "r"), "");
}

TEST(Opsets, SomeOperatorsNeverTakeThem) {
  const std::string text = "graph format=onnx (x: TYPE[3]) { y = celu(x)  return y }";
  const auto of_type = [&](const std::string& type) {
    std::string copy = text;
    return Parsed(copy.replace(copy.find("TYPE"), 4, type));
  };
  EXPECT_EQ(Refusal(of_type("bf16"), "y"), "ONNX's Celu takes no bf16 up to opset 22");
  EXPECT_EQ(Refusal(of_type("f16"), "y"), "ONNX's Celu takes no f16 up to opset 22");
  EXPECT_EQ(Refusal(of_type("f32"), "y"), "");
}

TEST(Opsets, AnAttributeThatIsGonePinsToo) {
  Graph graph = Imported(
      Model(11,
            "agraph (float[1,1,2,3] x) => (float[1,1,4,6] y) <float[0] roi = {}, float[4] s = {1,1,2,2}> { y = "
            "Resize<coordinate_transformation_mode=\"tf_half_pixel_for_nn\", nearest_mode=\"floor\">(x, roi, s) }"));
  if (graph.op(graph.producer(graph.FindValue("y"))) != OpKind::kResize) GTEST_SKIP() << "the resize is opaque";
  EXPECT_EQ(HighestOpsetOf(graph).opset, 12);
  EXPECT_THAT(HighestOpsetOf(graph).why, HasSubstr("does not exist in newer opsets"));
}

// ---- Target runtimes.

TEST(TargetRuntimes, HaveNames) {
  for (int i = 0; i < kNumTargetRuntimes; ++i) {
    const TargetRuntime target_runtime = static_cast<TargetRuntime>(i);
    EXPECT_EQ(TargetRuntimeFromName(TargetRuntimeName(target_runtime)), target_runtime);
  }
  EXPECT_EQ(TargetRuntimeFromName("ONNX"), std::nullopt);
}

TEST(TargetRuntimes, OnnxRuntimeHasNoBf16ThatComputes) {
  const Graph graph = Parsed(
      "graph format=onnx (x: bf16[2,3], w: bf16[3,3]) { a = matmul(x, w)  b = relu(a)  c = matmul(b, w)  d = add(c, x) "
      " "
      "e = reshape(d, [-1])  return e }");
  const absl::Status status = OnnxLoadsIn(graph, TargetRuntime::kOnnxRuntime);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(
      status.message(),
      "ONNX Runtime's CPU provider (1.21) does not load the file: it has no bf16 kernel for 4 nodes: 'a' (MatMul), "
      "'b' (Relu), 'c' (MatMul), ...");
  EXPECT_TRUE(OnnxLoadsIn(graph, TargetRuntime::kAny).ok());
}

TEST(TargetRuntimes, OnnxRuntimeRunsFloat16AndMovesBf16) {
  EXPECT_TRUE(OnnxLoadsIn(Parsed("graph format=onnx (x: f16[2,3], w: f16[3,3]) { return y=matmul(x, w) }"),
                          TargetRuntime::kOnnxRuntime)
                  .ok());
  EXPECT_TRUE(
      OnnxLoadsIn(
          Parsed(
              "graph format=onnx (x: f32[2,3]) { w = const bf16[3,3]  v: f32[3,3] = cast(w)  return y=matmul(x, v) }"),
          TargetRuntime::kOnnxRuntime)
          .ok());
}

TEST(TargetRuntimes, RefuseWhatTheFormatAllows) {
  const Graph graph = Parsed("graph format=onnx (x: bf16[2,3], w: bf16[3,3]) { y = matmul(x, w)  return y }");
  const NodeId y = graph.producer(graph.FindValue("y"));
  EXPECT_EQ(OnnxFileTypes()(graph)(y), "");
  EXPECT_EQ(OnnxFileTypes(TargetRuntime::kOnnxRuntime)(graph)(y),
            "ONNX Runtime's CPU provider (1.21) has no bf16 MatMul");
}

}  // namespace
}  // namespace halftone::onnx_format
