// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/saturation.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// In `near` large weights are neighbours, in `apart` they are not; `dw` adds no pairs.
constexpr char kNet[] = R"(graph (x: f32[1,4,3,3]) {
  w1 = const f32[2,4,1,1] {1, 1, 0.1, 0, 0.5, 0.25, 0, 0}
  w2 = const f32[2,2,1,1] {1, -1, 0.003, 1}
  w3 = const f32[2,1,2,2] {1, 1, 1, 1, 1, 1, 1, 1}
  near = conv(x, w1)
  apart = conv(near, w2)
  dw = conv(apart, w3) {group=2}
  return dw
})";

std::map<std::string, SaturationCheck> Checked(const QuantizeOptions& options, RewriteLog& log,
                                               Graph* result = nullptr) {
  const Graph graph = Parsed(kNet);
  ValueRanges ranges;
  for (const std::string name : {"x", "near", "apart"}) ranges.values[name] = {.min = -4, .max = 4};
  const PermissiveTarget target;
  PassContext context{.target = target, .log = &log};
  Pipeline pipeline("quantize");
  const std::vector<NodeId> nodes = graph.nodes();
  pipeline.Add<InsertQuantization>(ranges, std::set<NodeId>(nodes.begin(), nodes.end()), options);
  pipeline.Add<RemoveDeadNodes>();
  Graph quantized = graph;
  EXPECT_TRUE(pipeline.Run(quantized, context).ok());
  std::map<std::string, SaturationCheck> checks;
  for (const SaturationCheck& check : CheckSaturation(quantized)) checks[check.node] = check;
  if (result != nullptr) *result = quantized;
  return checks;
}

TEST(Saturation, ProvedFromTheWeights) {
  RewriteLog log;
  std::map<std::string, SaturationCheck> checks = Checked({}, log);
  ASSERT_EQ(checks.size(), 3);
  EXPECT_EQ(checks["near"].saturation, Saturation::kSixteenBits);
  EXPECT_EQ(checks["near"].most, 255 * (127 + 127));
  EXPECT_EQ(checks["apart"].saturation, Saturation::kCannot);
  EXPECT_EQ(checks["apart"].most, 255 * 127);
  EXPECT_EQ(checks["apart"].least, -255 * 127);
  EXPECT_EQ(checks["dw"].saturation, Saturation::kCannot);
  EXPECT_EQ(checks["dw"].most, 0);
}

TEST(Saturation, SevenBitsWhereItIsNotProved) {
  RewriteLog log;
  Graph quantized;
  std::map<std::string, SaturationCheck> checks = Checked({.reduce_range = true}, log, &quantized);
  EXPECT_EQ(checks["near"].saturation, Saturation::kSevenBits);
  EXPECT_EQ(checks["near"].most, 255 * (63 + 63));
  EXPECT_EQ(checks["apart"].saturation, Saturation::kCannot);  // as before
  EXPECT_EQ(checks["apart"].most, 255 * 127);
  std::map<std::string, std::string> said;
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.pass == "narrow-weights") said[entry.node] = entry.text;
  }
  ASSERT_EQ(said.size(), 1);
  EXPECT_THAT(said["near"], HasSubstr("could reach 64770"));
  const absl::StatusOr<std::string> difference = CompareOutputs(Parsed(kNet), quantized, /*seed=*/3, 0.1f);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "");
}

// Kernels read them as u8.
TEST(Saturation, SignedActivationsAreNothingElse) {
  RewriteLog log;
  std::map<std::string, SaturationCheck> checks =
      Checked({.activations = DataType::kInt8, .symmetric_activations = true}, log);
  EXPECT_EQ(checks["near"].saturation, Saturation::kSixteenBits);
  EXPECT_EQ(checks["apart"].saturation, Saturation::kCannot);
  EXPECT_EQ(checks["apart"].most, 255 * 127);
  EXPECT_EQ(checks["dw"].saturation, Saturation::kCannot);
}

std::map<std::string, SaturationCheck> CheckedText(std::string_view text) {
  std::map<std::string, SaturationCheck> checks;
  for (const SaturationCheck& check : CheckSaturation(Parsed(text))) checks[check.node] = check;
  return checks;
}

// As mode dynamic writes them. Pairs lie along the rows of the right operand's columns.
TEST(Saturation, ProductsOfIntegers) {
  const std::map<std::string, SaturationCheck> checks = CheckedText(R"(graph (x: f32[2,2]) {
  q, s, z = dynamic_quantize_linear(x)
  b = const s8[2,2] {127, 1, 1, 127}
  c = const s8[2,2] {127, 1, 127, 1}
  d = const s8[2,2] {63, -63, 63, -63}
  e = const u8[2,2] {255, 128, 255, 128}
  t = const f32[] {0.01}
  fits = matmul_integer(q, b, z)
  may = matmul_integer(q, c, z)
  narrow = matmul_integer_to_float(q, d, s, t, z)
  moved = matmul_integer_to_float(q, e, s, t, z)
  computed = matmul_integer(q, q, z, z)
  return fits, may, narrow, moved, computed
})");
  ASSERT_EQ(checks.size(), 4) << "the product of two activations has no weights";
  EXPECT_EQ(checks.at("fits").saturation, Saturation::kCannot);
  EXPECT_EQ(checks.at("fits").most, 255 * 128);
  EXPECT_EQ(checks.at("may").saturation, Saturation::kMay);
  EXPECT_EQ(checks.at("may").most, 255 * 254);
  EXPECT_EQ(checks.at("narrow").saturation, Saturation::kSevenBits);
  EXPECT_EQ(checks.at("narrow").least, -255 * 126);
  EXPECT_EQ(checks.at("moved").most, 255 * 254) << "u8 is s8 of 128 less";
}

TEST(Saturation, OfWideWeightsSomeHaveNoKernel) {
  const std::map<std::string, SaturationCheck> checks = CheckedText(R"(graph (x: u8[1,4,3,3], q: u8[3,4]) {
  n = dequantize_linear(x, 0.1)
  m = dequantize_linear(q, 0.1)
  a = const s8[2,4,1,1] uniform(100, 127)
  b = const s8[2,2,1,1] uniform(100, 127)
  c = const s8[4,2] uniform(100, 127)
  w = dequantize_linear(a, 0.1)
  g = dequantize_linear(b, 0.1)
  v = dequantize_linear(c, 0.1)
  one = conv(n, w)
  groups = conv(n, g) {group=2}
  product = matmul(m, v)
  return one, groups, product
})");
  EXPECT_EQ(checks.at("one").saturation, Saturation::kSixteenBits);
  EXPECT_EQ(checks.at("groups").saturation, Saturation::kMay);
  EXPECT_EQ(checks.at("product").saturation, Saturation::kSixteenBits);
}

TEST(Saturation, ConvolutionsOfIntegers) {
  const std::map<std::string, SaturationCheck> checks = CheckedText(R"(graph (x: u8[1,4,3,3], i: s8[1,4,3,3]) {
  w = const s8[2,4,1,1] {100, 0, 100, 0, 100, 0, 100, 0}
  apart = conv_integer(x, w)
  signed = conv_integer(i, w)
  return apart, signed
})");
  ASSERT_EQ(checks.size(), 2);
  EXPECT_EQ(checks.at("apart").saturation, Saturation::kCannot);
  EXPECT_EQ(checks.at("apart").most, 255 * 100);
  EXPECT_EQ(checks.at("signed").saturation, Saturation::kHalvesWeights);
  EXPECT_EQ(SaturationName(Saturation::kHalvesWeights), "s8 activations");
}

TEST(Saturation, OfRealNumbersThereIsNothingToSay) { EXPECT_TRUE(CheckSaturation(Parsed(kNet)).empty()); }

}  // namespace
}  // namespace halftone
