// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/type_limits.h"

#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

std::string Refusal(const std::string& text, const std::string& node) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return GraphDefFileTypes()(*graph)(graph->FindNode(node));
}

TEST(GraphDefTypeLimits, NamesTheOpAndTheType) {
  EXPECT_EQ(
      Refusal(
          R"(graph format=graphdef layout=channels_last (a: bf16[3], b: bf16[3]) { y = div_no_nan(a, b) name="y"  return y })",
          "y"),
      "TensorFlow's DivNoNan takes no bf16");
  EXPECT_EQ(
      Refusal(
          R"(graph format=graphdef layout=channels_last (a: f16[3], b: f16[3]) { y = div_no_nan(a, b) name="y"  return y })",
          "y"),
      "");
  EXPECT_EQ(
      Refusal(
          R"(graph format=graphdef layout=channels_last (a: f32[3], b: f32[3]) { y = div_no_nan(a, b) name="y"  return y })",
          "y"),
      "");
  EXPECT_EQ(
      Refusal(
          R"(graph format=graphdef layout=channels_last (a: bf16[3], b: bf16[3]) { y = add "AddV2" (a, b) name="y"  return y })",
          "y"),
      "");
}

// The spelling says which op of TensorFlow it is.
TEST(GraphDefTypeLimits, GoesByTheSpelling) {
  const auto graph = [](const std::string& type, const std::string& spelling) {
    return "graph format=graphdef layout=channels_last (x: " + type +
           "[2,4,4,3]) { s = const f32[3]  o = const f32[3]  m = const f32[3]  v = const f32[3]  "
           "y = batch_norm \"" +
           spelling + "\" (x, s, o, m, v) {layout=\"NHWC\"} name=\"y\"  return y }";
  };
  EXPECT_EQ(Refusal(graph("bf16", "FusedBatchNormV3"), "y"), "");
  EXPECT_EQ(Refusal(graph("f16", "FusedBatchNormV2"), "y"), "");
}

// Ports that are f32 whatever the others are.
TEST(GraphDefTypeLimits, SeesPortsOfFixedType) {
  EXPECT_EQ(
      Refusal(
          R"(graph format=graphdef layout=channels_last (x: bf16[2,3], l: bf16[], h: bf16[]) { y = fake_quant "FakeQuantWithMinMaxVars" (x, l, h) name="y"  return y })",
          "y"),
      "TensorFlow's FakeQuantWithMinMaxVars takes no bf16");
}

}  // namespace
}  // namespace halftone
