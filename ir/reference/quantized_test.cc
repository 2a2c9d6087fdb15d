// SPDX-License-Identifier: Apache-2.0
// Nodes that read and write integers that represent real numbers (ir/quantization.h).

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, {});
}

std::vector<double> Numbers(std::string_view text) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText(text);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
  return outputs.ok() ? (*outputs)[0].ToDoubles() : std::vector<double>{};
}

TEST(Quantized, SumOfTwoScales) {
  EXPECT_THAT(Numbers(R"(graph () {
                a: u8[4]{0.5, 128} = const u8[4] {128, 130, 0, 255}
                b: s8[4]{0.25, -1} = const s8[4] {-1, 3, 127, -128}
                y: f32[4] = add(a, b) return y })"),
              ElementsAre(0, 2, -32, 31.75));
}

TEST(Quantized, ResultsAreRoundedHalfToEvenAndSaturate) {
  EXPECT_THAT(Numbers(R"(graph () {
                a = const f32[6] {0.25, 0.75, 1.25, -1000, 1000, -0.25}
                y: u8[6]{0.5, 10} = relu6(a)
                return y })"),
              ElementsAre(10, 12, 12, 10, 22, 10));
  EXPECT_THAT(Numbers(R"(graph () {
                a = const f32[4] {0.25, 1000, -1000, nan}
                y: s8[4]{0.5, -2} = identity(a)
                return y })"),
              ElementsAre(-2, 127, -128, 0));
}

TEST(Quantized, MatMulWithWeightsOfAScaleAColumn) {
  EXPECT_THAT(Numbers(R"(graph () {
                x: u8[1,2]{0.5, 2} = const u8[1,2] {4, 1}
                w: s8[2,3]{[1.0, 0.5, 0.25], 0, axis=1} = const s8[2,3] {1, 2, 4, 3, 2, -8}
                b: s32[3]{0.5, 0} = const s32[3] {1, 2, -3}
                y: f32[1,3] = matmul(x, w, b)
                return y })"),
              ElementsAre(1 - 1.5 + 0.5, 1 - 0.5 + 1, 1 + 1 - 1.5));
}

// An op with inputs of two scales that only moves values.
TEST(Quantized, ConcatBringsItsInputsToOneScale) {
  EXPECT_THAT(Numbers(R"(graph () {
                a: u8[2]{0.5, 128} = const u8[2] {130, 127}
                b: u8[2]{0.1, 0} = const u8[2] {3, 255}
                y: u8[4]{0.2, 100} = concat(a, b, 0)
                return y })"),
              ElementsAre(105, 98, 102, 228));
}

TEST(Quantized, AnotherScaleByIdentity) {
  EXPECT_THAT(Numbers(R"(graph () {
                a: u8[3]{0.5, 128} = const u8[3] {130, 127, 255}
                y: s8[3]{1.0, 0} = identity(a)
                return y })"),
              ElementsAre(1, 0, 64));
}

TEST(Quantized, QuantizeAndDequantizePassIntegers) {
  EXPECT_THAT(Numbers(R"(graph () {
                a: u8[2]{0.5, 128} = const u8[2] {130, 127}
                y = dequantize_linear(a, 2.0, 120:u8)
                return y })"),
              ElementsAre(20, 14));
  EXPECT_THAT(Numbers(R"(graph () {
                a = const f32[2] {1.0, 0.5}
                y: u8[2]{0.5, 128} = quantize_linear(a, 0.25, 1:u8)
                return y })"),
              ElementsAre(5, 3));
}

TEST(Quantized, PoolsOfIntegers) {
  EXPECT_THAT(Numbers(R"(graph () {
                a: u8[1,1,4]{0.5, 128} = const u8[1,1,4] {130, 127, 0, 255}
                y: u8[1,1,2]{0.5, 128} = max_pool(a) {kernel=[2], strides=[2]}
                return y })"),
              ElementsAre(130, 255));
}

TEST(Quantized, ScalesThatDoNotFitAreErrors) {
  const absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: u8[?]{[0.5, 1], 0, axis=0}) { y: f32[?] = relu(x) return y }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(EvaluateGraph(*graph, {Tensor(DataType::kUInt8, {2})}).ok());
  const absl::Status status = EvaluateGraph(*graph, {Tensor(DataType::kUInt8, {3})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node 'y' (relu): quantization of input 0: 2 scales along axis 0 of [3], need 3"));
}

}  // namespace
}  // namespace halftone::reference
