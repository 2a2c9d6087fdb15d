// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/written_nodes.h"

#include <string>
#include <vector>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::HasSubstr;

onnx::NodeProto NodeOf(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  onnx::NodeProto node;
  node.set_op_type(op);
  for (std::string& name : inputs) node.add_input(std::move(name));
  for (std::string& name : outputs) node.add_output(std::move(name));
  return node;
}

// The message for a node that reads x and z of f32, i of s64; "" where it is allowed.
std::string Complaint(const onnx::NodeProto& node, int opset) {
  WrittenTypes types(nullptr);
  types.Set("x", DataType::kFloat32);
  types.Set("z", DataType::kFloat32);
  types.Set("i", DataType::kInt64);
  const absl::Status status = CheckWrittenNode(node, opset, types);
  EXPECT_TRUE(status.ok() || absl::IsInternal(status)) << status;
  return std::string(status.message());
}

TEST(WrittenNodes, OperatorsExistInTheOpset) {
  EXPECT_EQ(Complaint(NodeOf("Gelu", {"x"}, {"y"}), 20), "");
  EXPECT_EQ(Complaint(NodeOf("Gelu", {"x"}, {"y"}), 19),
            "the file would be invalid in opset 19: Gelu is no operator of it");
  EXPECT_EQ(Complaint(NodeOf("Scatter", {"x", "i", "z"}, {"y"}), 10), "");
  EXPECT_THAT(Complaint(NodeOf("Scatter", {"x", "i", "z"}, {"y"}), 11), HasSubstr("Scatter is no operator"));
  EXPECT_THAT(Complaint(NodeOf("ImageScaler", {"x"}, {"y"}), 7), HasSubstr("ImageScaler is no operator"));
}

TEST(WrittenNodes, InputsAndOutputsAreAsMany) {
  EXPECT_EQ(Complaint(NodeOf("Clip", {"x", "", "z"}, {"y"}), 11), "");
  EXPECT_THAT(Complaint(NodeOf("Clip", {"x", "", "z"}, {"y"}), 10), HasSubstr("has 3 inputs, need 1 to 1"));
  EXPECT_THAT(Complaint(NodeOf("Relu", {"x"}, {"y", "w"}), 13), HasSubstr("has 2 outputs, need 1 to 1"));
  EXPECT_THAT(Complaint(NodeOf("Add", {"", "x"}, {"y"}), 13), HasSubstr("lacks input 0 (A)"));
}

TEST(WrittenNodes, AttributesAreThoseOfTheOperator) {
  onnx::NodeProto node = NodeOf("Concat", {"x", "z"}, {"y"});
  EXPECT_THAT(Complaint(node, 13), HasSubstr("Concat lacks attribute 'axis'"));
  onnx::AttributeProto& axis = *node.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INTS);
  axis.add_ints(0);
  EXPECT_THAT(Complaint(node, 13), HasSubstr("wants attribute 'axis' of type INT, not INTS"));
  axis.set_type(onnx::AttributeProto::INT);
  axis.clear_ints();
  axis.set_i(0);
  EXPECT_EQ(Complaint(node, 13), "");
  axis.set_name("axes");
  EXPECT_THAT(Complaint(node, 13), HasSubstr("has no attribute 'axes'"));
}

TEST(WrittenNodes, TypesAreThoseOfTheOperator) {
  EXPECT_THAT(Complaint(NodeOf("Exp", {"i"}, {"y"}), 13), HasSubstr("takes no tensor(int64) as input"));
  EXPECT_THAT(Complaint(NodeOf("Add", {"x", "i"}, {"y"}), 13),
              HasSubstr("takes B as tensor(float) where it has tensor(int64)"));
  EXPECT_EQ(Complaint(NodeOf("Gather", {"x", "i"}, {"y"}), 13), "");
  EXPECT_EQ(Complaint(NodeOf("Add", {"x", "unknown"}, {"y"}), 13), "");
}

// What one node makes is known to those that read it; nested graphs see what is around them.
TEST(WrittenNodes, TypesAreFoundFromNodeToNode) {
  WrittenTypes types(nullptr);
  types.Set("x", DataType::kFloat32);
  ASSERT_TRUE(CheckWrittenNode(NodeOf("Shape", {"x"}, {"s"}), 13, types).ok());
  ASSERT_TRUE(CheckWrittenNode(NodeOf("Neg", {"x"}, {"n"}), 13, types).ok());
  WrittenTypes inside(&types);
  EXPECT_TRUE(CheckWrittenNode(NodeOf("Reshape", {"n", "s"}, {"r"}), 13, inside).ok());
  EXPECT_EQ(CheckWrittenNode(NodeOf("Exp", {"s"}, {"y"}), 13, inside).code(), absl::StatusCode::kInternal);
}

TEST(WrittenNodes, OnnxRuntimesOwnAreKnownByTheirRows) {
  EXPECT_EQ(Complaint(NodeOf("LayerNormalization", {"x", "z"}, {"y"}), 13), "");
  onnx::NodeProto node = NodeOf("QuickGelu", {"x"}, {"y"});
  node.set_domain("com.microsoft");
  EXPECT_EQ(Complaint(node, 13), "");
  node.set_op_type("QuickRelu");
  EXPECT_THAT(Complaint(node, 13), HasSubstr("QuickRelu is no operator that is written here"));
  node.set_domain("com.acme");
  EXPECT_EQ(Complaint(node, 13), "");
}

// The exporter asks before it gives any bytes away, in nested graphs too.
TEST(WrittenNodes, TheExporterAsks) {
  absl::StatusOr<Graph> graph = ParseGraph("graph (x: f32[3]) { y = exp(x)  return y }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  GraphEditor edit(*graph);
  for (const char* name : {"x", "y"}) edit.SetType(graph->FindValue(name), DataType::kInt32);
  const absl::Status status = ExportOnnx(*graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "node 'y': the file would be invalid in opset 17: Exp takes no tensor(int32) as input");
}

}  // namespace
}  // namespace halftone::onnx_format
