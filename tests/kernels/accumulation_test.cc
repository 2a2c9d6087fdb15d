// Sums of bf16 are f32. Every op here adds 16 384 numbers of which none but a few would move a sum of bf16 that has
// grown: 512 x 2^-9 = 1, then 2^-9 each. In f32 that is 33; a sum of bf16, and 64 of them side by side, stop growing
// long before. What a sum of bf16 would give is computed, too: a kernel that had one could not pass.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

constexpr int64_t kTerms = 16384;
constexpr float kSmall = 0x1p-9f, kFirst = 512;
constexpr float kRelative = 1.0f / 64;  // of the answer: two roundings to bf16

struct Long {
  std::string_view name;
  std::string_view graph;  // $K: kTerms
  enum Fill { kOneLargeThenOnes, kConstant, kTwoAndFour } fill = kOneLargeThenOnes;
  float value = 1;  // of kConstant
};

// Weights are 2^-9; x is 512, then ones.
constexpr Long kProducts[] = {
    {"matmul", "graph (x: bf16[3,$K]) { w = const bf16[$K,7] uniform($S, $S)  return matmul(x, w) }"},
    {"matmul, one column", "graph (x: bf16[3,$K]) { w = const bf16[$K,1] uniform($S, $S)  return matmul(x, w) }"},
    {"matmul, f32 out",
     "graph (x: bf16[3,$K]) { w = const bf16[$K,7] uniform($S, $S)  y: f32[3,7] = matmul(x, w)  return y }"},
    {"matmul in math mode",
     "graph (x: f32[3,$K]) { w = const f32[$K,7] uniform($S, $S)  return matmul(x, w) {math_mode=\"bf16\"} }"},
    {"our own loop", "graph (x: bf16[16,$K]) { w = const bf16[$K,64] uniform($S, $S)  return matmul(x, w) }"},
    {"two activations",
     "graph (x: bf16[2,3,$K]) { w = const bf16[$K,2] uniform($S, $S)  v = relu(w)  return matmul(x, v) }"},
    {"gemm", "graph (x: bf16[3,$K]) { w = const bf16[7,$K] uniform($S, $S)  return gemm(x, w) {transpose_b=true} }"},
    {"einsum",
     "graph (x: bf16[3,$K]) { w = const bf16[$K,7] uniform($S, $S)  v = relu(w)  "
     "return einsum(x, v) {equation=\"ik,kj->ij\"} }"},
    {"conv",
     "graph (x: bf16[1,2,2,$K]) { w = const bf16[1,1,$K,16] uniform($S, $S)  "
     "return conv(x, w) {layout=\"NHWC\", weights_layout=\"HWIO\"} }"},
    {"conv with a large kernel",
     "graph (x: bf16[1,1,128,128]) { w = const bf16[16,1,128,128] uniform($S, $S)  "
     "return conv(x, w) }"},
    {"depthwise conv",
     "graph (x: bf16[1,16,1,$K]) { w = const bf16[16,1,1,$K] uniform($S, $S)  "
     "return conv(x, w) {group=16} }"},
    {"conv_transpose",
     "graph (x: bf16[1,$K,2,2]) { w = const bf16[$K,8,1,1] uniform($S, $S)  "
     "return conv_transpose(x, w) }"},
};

// The op's own sums.
constexpr Long kSums[] = {
    {"reduce_sum", "graph (x: bf16[3,$K]) { return reduce_sum(x, [1]) }", Long::kConstant},
    {"reduce_mean", "graph (x: bf16[3,$K]) { return reduce_mean(x, [1]) }", Long::kConstant},
    {"reduce_mean of images", "graph (x: bf16[1,16,128,128]) { return reduce_mean(x, [2, 3]) }", Long::kConstant},
    {"reduce_l1", "graph (x: bf16[3,$K]) { return reduce_l1(x, [1]) }", Long::kConstant},
    {"reduce_l2", "graph (x: bf16[3,$K]) { return reduce_l2(x, [1]) }", Long::kConstant},
    {"reduce_sum_square", "graph (x: bf16[3,$K]) { return reduce_sum_square(x, [1]) }", Long::kConstant},
    {"reduce_log_sum_exp", "graph (x: bf16[3,$K]) { return reduce_log_sum_exp(x, [1]) }", Long::kConstant, 0},
    {"l2_loss", "graph (x: bf16[$K]) { return l2_loss(x) }", Long::kConstant},
    {"cumsum", "graph (x: bf16[$K]) { return reduce_max(cum_sum(x, 0), [0]) }", Long::kConstant},
    {"global_average_pool", "graph (x: bf16[1,128,128,16]) { return global_average_pool(x) {layout=\"NHWC\"} }",
     Long::kConstant},
    {"average_pool", "graph (x: bf16[1,128,128,16]) { return average_pool(x) {layout=\"NHWC\", kernel=[128, 128]} }",
     Long::kConstant},
    {"average_pool with channels first", "graph (x: bf16[1,16,128,128]) { return average_pool(x) {kernel=[128, 128]} }",
     Long::kConstant},
    {"softmax", "graph (x: bf16[3,$K]) { return softmax(x) }", Long::kConstant},
    {"softmax with a scale", "graph (x: bf16[3,$K]) { return softmax(x) {scale=0.5} }", Long::kConstant},
    {"softmax, f32 out", "graph (x: bf16[3,$K]) { y: f32[3,$K] = softmax(x)  return y }", Long::kConstant},
    {"log_softmax", "graph (x: bf16[3,$K]) { return log_softmax(x) }", Long::kConstant},
    {"layer_norm",
     "graph (x: bf16[3,$K]) { s = const bf16[$K] uniform(1, 1)  o = const bf16[$K] uniform(0, 0)  "
     "return layer_norm(x, s, o) }",
     Long::kTwoAndFour},
    {"rms_norm", "graph (x: bf16[3,$K]) { s = const bf16[$K] uniform(1, 1)  return rms_norm(x, s) }",
     Long::kTwoAndFour},
    {"instance_norm",
     "graph (x: bf16[1,2,128,128]) { s = const bf16[2] uniform(1, 1)  o = const bf16[2] uniform(0, 0)  "
     "return instance_norm(x, s, o) }",
     Long::kTwoAndFour},
    {"instance_norm with channels last",
     "graph (x: bf16[1,128,128,16]) { s = const bf16[16] uniform(1, 1)  o = const bf16[16] uniform(0, 0)  "
     "return instance_norm(x, s, o) {layout=\"NHWC\"} }",
     Long::kTwoAndFour},
    {"group_norm",
     "graph (x: bf16[1,16,128,128]) { s = const bf16[16] uniform(1, 1)  o = const bf16[16] uniform(0, 0)  "
     "return group_norm(x, s, o) {num_groups=2} }",
     Long::kTwoAndFour},
    {"lp_norm", "graph (x: bf16[3,$K]) { return lp_norm(x) }", Long::kTwoAndFour},
    {"skip_layer_norm", "graph (x: bf16[2,3,$K]) { s = const bf16[$K] uniform(1, 1)  return skip_layer_norm(x, x, s) }",
     Long::kTwoAndFour},
    {"mean_variance_norm", "graph (x: bf16[1,2,128,128]) { return mean_variance_norm(x) }", Long::kTwoAndFour},
    {"attention", "graph (x: bf16[1,1,$K,4]) { q = const bf16[1,1,3,4]  return scaled_dot_product_attention(q, x, x) }",
     Long::kConstant},
};

std::vector<float> NumbersOf(const Long& c, int64_t count) {
  std::vector<float> numbers(count, c.value);
  for (int64_t i = 0; i < count; ++i) {
    if (c.fill == Long::kOneLargeThenOnes && i % kTerms == 0) numbers[i] = kFirst;
    if (c.fill == Long::kTwoAndFour) numbers[i] = i / 16 % 2 == 0 ? 2.0f : 4.0f;
  }
  return numbers;
}

void Check(const Long& c) {
  SCOPED_TRACE(c.name);
  const std::string text =
      absl::StrReplaceAll(std::string(c.graph), {{"$K", std::to_string(kTerms)}, {"$S", "0.001953125"}});
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const ValueId x = graph->output(graph->inputs()[0]);
  const std::vector<int64_t> dims = graph->shape(x).values();
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  const Tensor numbers = Tensor::Of<float>(dims, NumbersOf(c, count));
  const absl::StatusOr<Tensor> input = numbers.ConvertTo(graph->type(x));
  ASSERT_TRUE(input.ok()) << input.status();
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, {*input});
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const int threads : {1, 2}) {
    const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = threads});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run({&*input, 1});
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(reference::Compare((*actual)[0], (*expected)[0], kRelative, 1e-6f), "") << AllSteps(**plan);
  }
}

TEST(Accumulation, Products) {
  for (const Long& c : kProducts) Check(c);
}

TEST(Accumulation, Sums) {
  for (const Long& c : kSums) Check(c);
}

// The sums above in `lanes` accumulators of bf16, added up in f32.
float SumInBf16(float first, float rest, int lanes) {
  std::vector<float> sums(lanes, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    float& sum = sums[i % lanes];
    sum = FloatFromBFloat16(BFloat16FromFloat(sum + (i == 0 ? first : rest)));
  }
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}

TEST(Accumulation, SumsOfBf16WouldBeSeen) {
  const float product = kFirst * kSmall + (kTerms - 1) * kSmall;
  for (const int lanes : {1, 4, 16}) {
    EXPECT_LT(SumInBf16(kFirst * kSmall, kSmall, lanes), product * (1 - 4 * kRelative)) << lanes;
    EXPECT_LT(SumInBf16(1, 1, lanes), kTerms * (1 - 4 * kRelative)) << lanes;
  }
}

}  // namespace
}  // namespace halftone::testing
