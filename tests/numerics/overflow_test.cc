// SPDX-License-Identifier: Apache-2.0
// What is too large is infinity in products of bf16, as in f32, and an infinity that is read stays one. One exception,
// told in docs/reference/numerics.md: oneDNN's convolutions of an odd number of channels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = 0x1p127f;

// Weights are 16, so that all outputs are infinity, of kHuge and of infinity.
struct Row {
  std::string_view name;
  std::string_view text;
  bool odd_depth = false;  // of a product
};
constexpr Row kRows[] = {
    {"matmul, one deep", "graph (x: bf16[3,1]) { w = fill([1,16], 16:bf16)  return matmul(x, w) }", true},
    {"matmul, odd", "graph (x: bf16[3,5]) { w = fill([5,16], 16:bf16)  return matmul(x, w) }", true},
    {"matmul", "graph (x: bf16[3,32]) { w = fill([32,7], 16:bf16)  return matmul(x, w) }"},
    {"gemm", "graph (x: bf16[3,33]) { w = fill([7,33], 16:bf16)  return gemm(x, w) {transpose_b=true} }", true},
    {"conv, kernel 1", "graph (x: bf16[1,32,4,5]) { w = fill([16,32,1,1], 16:bf16)  return conv(x, w) }"},
    {"conv, kernel 3", "graph (x: bf16[1,16,4,5]) { w = fill([16,16,3,3], 16:bf16)  return conv(x, w) }"},
    {"conv, depthwise", "graph (x: bf16[1,16,4,5]) { w = fill([16,1,3,3], 16:bf16)  return conv(x, w) {group=16} }"},
    {"conv_transpose", "graph (x: bf16[1,16,2,2]) { w = fill([16,4,1,1], 16:bf16)  return conv_transpose(x, w) }"},
};
constexpr Row kOdd[] = {
    {"one channel", "graph (x: bf16[1,1,4,5]) { w = fill([16,1,1,1], 16:bf16)  return conv(x, w) }"},
    {"three channels", "graph (x: bf16[1,3,4,5]) { w = fill([16,3,1,1], 16:bf16)  return conv(x, w) }"},
    {"kernel 3, 17 channels", "graph (x: bf16[1,17,4,5]) { w = fill([16,17,3,3], 16:bf16)  return conv(x, w) }"},
};

std::vector<double> OutputsOf(std::string_view text, float number) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const ValueId x = graph->output(graph->inputs()[0]);
  Tensor numbers(DataType::kFloat32, graph->shape(x).values());
  std::fill_n(numbers.mutable_data<float>().data(), numbers.num_elements(), number);
  const std::vector<Tensor> inputs = {*numbers.ConvertTo(graph->type(x))};
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = 1});
  EXPECT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<std::vector<Tensor>> outputs = (*plan)->Run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return (*outputs)[0].ToDoubles();
}

TEST(Overflow, ProductsOfHugeNumbersAreInfinite) {
  for (const std::span<const Row> rows : {std::span<const Row>(kRows), std::span<const Row>(kOdd)}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.name);
      for (const double y : OutputsOf(row.text, kHuge)) ASSERT_EQ(y, kInfinity);
    }
  }
}

TEST(Overflow, InfinitiesStay) {
  // What oneDNN does with AVX-512 in the place of the bf16 instructions multiplies pairs, too: the last one with 0.
  const bool pairs = !DescribeCpu().native_bf16 && DescribeCpu().isa.starts_with("avx512");
  for (const Row& row : kRows) {
    if (pairs && row.odd_depth) continue;
    SCOPED_TRACE(row.name);
    for (const double y : OutputsOf(row.text, kInfinity)) ASSERT_EQ(y, kInfinity);
  }
}

// The bf16 instructions multiply pairs of channels: beside the last of an odd number lies the next pixel, whose weight
// is 0, and infinity times 0 is none. Emulated in f32, nothing is paired; tiles of AMX are filled up with zeros.
TEST(Overflow, AnOddLastChannelIsPairedWithTheNextPixel) {
  const bool paired = DescribeCpu().native_bf16 && !DescribeCpu().tiles;
  for (const Row& row : kOdd) {
    SCOPED_TRACE(row.name);
    const std::vector<double> numbers = OutputsOf(row.text, kInfinity);
    EXPECT_EQ(std::any_of(numbers.begin(), numbers.end(), [](double y) { return std::isnan(y); }), paired);
  }
}

}  // namespace
}  // namespace halftone::testing
