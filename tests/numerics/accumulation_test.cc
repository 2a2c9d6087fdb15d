// SPDX-License-Identifier: Apache-2.0
// Sums of bf16 numbers are made in f32, whatever the kernel, and by the reference functions. What tells: far more ones
// than the 256 at which a sum of bf16 ends (257 has no bf16, and the tie goes to even), so that dozens of such sums
// side by side end, too; and before the ones a number that swallows blocks of 256 of them, each added up in f32,
// where the sum of the blocks is bf16. And a result is rounded once, after bias and residual: 257 - 256 is 1.
#include <cmath>
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

constexpr float kLarge = 131072;  // half of its last bit in bf16 are 512 ones
constexpr int kTerms = 16384;

// Every input is ones, but:
struct Fill {
  int turns = 0;       // 0 and 2 in turns of so many elements
  bool large = false;  // of the first input: every kTerms-th element, from the first on, is kLarge
};
constexpr Fill kTurns = {.turns = 1};
constexpr Fill kLargeFirst = {.large = true};

struct Row {
  std::string_view name;
  std::string_view text;
  double expected;  // every element of every output; of turns: where the input is 2, elsewhere the opposite
  double error = 0;
  Fill fill = {};
};

constexpr double kSwallowed = kLarge + kTerms - 1;  // what is lost otherwise is 12 % of it

constexpr Row kRows[] = {
    {"matmul, constant weights", "graph (x: bf16[3,32768]) { w = fill([32768,16], 1:bf16)  return matmul(x, w) }",
     32768},
    {"matmul of one row", "graph (x: bf16[1,32768]) { w = fill([32768,48], 1:bf16)  return matmul(x, w) }", 32768},
    {"matmul, two activations", "graph (x: bf16[5,32768], y: bf16[32768,7]) { return matmul(x, y) }", 32768},
    {"matmul in batches", "graph (x: bf16[2,3,16384], y: bf16[2,16384,5]) { return matmul(x, y) }", 16384},
    {"gemm", "graph (x: bf16[3,32768]) { w = fill([16,32768], 1:bf16)  return gemm(x, w) {transpose_b=true} }", 32768},
    {"einsum", "graph (x: bf16[3,32768], y: bf16[5,32768]) { return einsum(x, y) {equation=\"ij,kj->ik\"} }", 32768},
    {"conv", "graph (x: bf16[1,2048,5,5]) { w = fill([16,2048,3,3], 1:bf16)  return conv(x, w) }", 18432},
    {"conv, kernel 1", "graph (x: bf16[1,16384,3,3]) { w = fill([16,16384,1,1], 1:bf16)  return conv(x, w) }", 16384},
    {"conv, depthwise", "graph (x: bf16[1,16,33,33]) { w = fill([16,1,32,32], 1:bf16)  return conv(x, w) {group=16} }",
     1024},
    {"conv, grouped", "graph (x: bf16[1,4096,4,4]) { w = fill([8,2048,3,3], 1:bf16)  return conv(x, w) {group=2} }",
     18432},
    {"conv, weights that are no constant", "graph (x: bf16[1,2048,4,4], w: bf16[5,2048,3,3]) { return conv(x, w) }",
     18432},
    {"conv_transpose", "graph (x: bf16[1,16384,2,2]) { w = fill([16384,4,1,1], 1:bf16)  return conv_transpose(x, w) }",
     16384},
    {"matmul, one column", "graph (x: bf16[3,16384]) { w = fill([16384,1], 1:bf16)  return matmul(x, w) }", kSwallowed,
     0.01, kLargeFirst},
    {"matmul, f32 out",
     "graph (x: bf16[3,16384]) { w = fill([16384,7], 1:bf16)  y: f32[3,7] = matmul(x, w)  return y }", kSwallowed, 0,
     kLargeFirst},
    {"matmul in math mode",
     "graph (x: f32[3,16384]) { w = fill([16384,7], 1:f32)  return matmul(x, w) {math_mode=\"bf16\"} }", kSwallowed, 0,
     kLargeFirst},
    {"matmul, many rows and columns", "graph (x: bf16[16,16384]) { w = fill([16384,64], 1:bf16)  return matmul(x, w) }",
     kSwallowed, 0.01, kLargeFirst},
    {"matmul, two activations, a large one", "graph (x: bf16[2,3,16384], y: bf16[16384,2]) { return matmul(x, y) }",
     kSwallowed, 0.01, kLargeFirst},
    {"gemm, a large one",
     "graph (x: bf16[3,16384]) { w = fill([7,16384], 1:bf16)  return gemm(x, w) {transpose_b=true} }", kSwallowed, 0.01,
     kLargeFirst},
    {"einsum, a large one",
     "graph (x: bf16[3,16384], y: bf16[16384,7]) { return einsum(x, y) {equation=\"ik,kj->ij\"} }", kSwallowed, 0.01,
     kLargeFirst},
    {"conv, channels last",
     "graph (x: bf16[1,2,2,16384]) { w = fill([1,1,16384,16], 1:bf16)  "
     "return conv(x, w) {layout=\"NHWC\", weights_layout=\"HWIO\"} }",
     kSwallowed, 0.01, kLargeFirst},
    {"conv, a large kernel", "graph (x: bf16[1,1,128,128]) { w = fill([16,1,128,128], 1:bf16)  return conv(x, w) }",
     kSwallowed, 0.01, kLargeFirst},
    {"conv, depthwise, a long kernel",
     "graph (x: bf16[1,16,1,16384]) { w = fill([16,1,1,16384], 1:bf16)  return conv(x, w) {group=16} }", kSwallowed,
     0.01, kLargeFirst},
    {"reduce_sum of rows", "graph (x: bf16[3,32768]) { return reduce_sum(x, [1]) }", 32768},
    {"reduce_sum of columns", "graph (x: bf16[32768,3]) { return reduce_sum(x, [0]) }", 32768},
    {"reduce_sum of all", "graph (x: bf16[256,128]) { return reduce_sum(x) }", 32768},
    {"reduce_mean", "graph (x: bf16[3,32768]) { return reduce_mean(x, [1]) }", 1},
    {"reduce_l1, reduce_sum_square", "graph (x: bf16[3,32768]) { return reduce_l1(x, [1]), reduce_sum_square(x, [1]) }",
     32768},
    {"reduce_sum, a large one", "graph (x: bf16[3,16384]) { return reduce_sum(x, [1]) }", kSwallowed, 0.01,
     kLargeFirst},
    {"reduce_l1, a large one", "graph (x: bf16[3,16384]) { return reduce_l1(x, [1]) }", kSwallowed, 0.01, kLargeFirst},
    {"reduce_mean of images", "graph (x: bf16[1,16,128,128]) { return reduce_mean(x, [2, 3]) }", kSwallowed / kTerms,
     0.01, kLargeFirst},
    {"reduce_l2", "graph (x: bf16[3,16384]) { return reduce_l2(x, [1]) }", 128},
    {"reduce_log_sum_exp", "graph (x: bf16[3,32768]) { return reduce_log_sum_exp(x, [1]) }", 11.39721, 0.01},
    {"l2_loss", "graph (x: bf16[32768]) { return l2_loss(x) }", 16384},
    {"cum_sum", "graph (x: bf16[16384]) { return reduce_max(cum_sum(x, 0), [0]) }", kSwallowed, 0.01, kLargeFirst},
    {"average_pool", "graph (x: bf16[1,16,33,33]) { return average_pool(x) {kernel=[32,32]} }", 1},
    {"global_average_pool", "graph (x: bf16[2,16,128,128]) { return global_average_pool(x) }", 1},
    {"global_average_pool, channels last",
     "graph (x: bf16[2,128,128,16]) { return global_average_pool(x) {layout=\"NHWC\"} }", 1},
    {"average_pool, channels last",
     "graph (x: bf16[1,128,128,16]) { return average_pool(x) {layout=\"NHWC\", kernel=[128, 128]} }", 1},
    {"average_pool of images", "graph (x: bf16[1,16,128,128]) { return average_pool(x) {kernel=[128, 128]} }",
     kSwallowed / kTerms, 0.01, kLargeFirst},
    {"global_average_pool of images", "graph (x: bf16[1,16,128,128]) { return global_average_pool(x) }",
     kSwallowed / kTerms, 0.01, kLargeFirst},
    {"softmax", "graph (x: bf16[3,32768]) { return softmax(x) }", 1.0 / 32768, 0.005},
    {"softmax with a scale", "graph (x: bf16[3,32768]) { return softmax(x) {scale=0.5} }", 1.0 / 32768, 0.005},
    {"softmax, f32 out", "graph (x: bf16[3,32768]) { y: f32[3,32768] = softmax(x)  return y }", 1.0 / 32768, 0.005},
    {"log_softmax", "graph (x: bf16[3,32768]) { return log_softmax(x) }", -10.39721, 0.005},
    {"lp_norm", "graph (x: bf16[3,16384]) { return lp_norm(x) }", 1.0 / 128, 0.005},
    {"scaled_dot_product_attention",
     "graph (q: bf16[1,2,64,16], k: bf16[1,2,4096,16], v: bf16[1,2,4096,16]) { return scaled_dot_product_attention(q, "
     "k, v) }",
     1, 0.01},
    {"scaled_dot_product_attention, many keys",
     "graph (q: bf16[1,1,3,4], k: bf16[1,1,16384,4], v: bf16[1,1,16384,4]) { "
     "return scaled_dot_product_attention(q, k, v) }",
     1, 0.01},
    {"rnn",
     "graph (x: bf16[1,1,4096]) { w = fill([1,16,4096], 0.000244140625:bf16)  r = fill([1,16,16], 0:bf16)  "
     "_, h = rnn(x, w, r)  return h }",
     0.76159, 0.01},
    {"gru: z = sigmoid(1), h = (1 - z) tanh(1)",
     "graph (x: bf16[1,1,4096]) { w = fill([1,48,4096], 0.000244140625:bf16)  r = fill([1,48,16], 0:bf16)  "
     "_, h = gru(x, w, r)  return h }",
     0.20482, 0.01},
    {"lstm: c = sigmoid(1) tanh(1), h = sigmoid(1) tanh(c)",
     "graph (x: bf16[1,1,4096]) { w = fill([1,64,4096], 0.000244140625:bf16)  r = fill([1,64,16], 0:bf16)  "
     "_, h, _ = lstm(x, w, r)  return h }",
     0.36959, 0.01},
    {"layer_norm", "graph (x: bf16[3,32768]) { s = fill([32768], 1:bf16)  return layer_norm(x, s) }", 1, 0.005, kTurns},
    {"rms_norm: of 0 and 2",
     "graph (x: bf16[3,32768]) { s = fill([32768], 1:bf16)  return sub(mul(rms_norm(x, s), 1.4142135:bf16), 1:bf16) }",
     1, 0.02, kTurns},
    {"instance_norm",
     "graph (x: bf16[1,2,128,128]) { s = fill([2], 1:bf16)  o = fill([2], 0:bf16)  return instance_norm(x, s, o) }", 1,
     0.005, kTurns},
    {"instance_norm, channels last",
     "graph (x: bf16[1,128,128,16]) { s = fill([16], 1:bf16)  o = fill([16], 0:bf16)  "
     "return instance_norm(x, s, o) {layout=\"NHWC\"} }",
     1,
     0.005,
     {.turns = 16}},
    {"group_norm",
     "graph (x: bf16[1,16,128,128]) { s = fill([16], 1:bf16)  o = fill([16], 0:bf16)  "
     "return group_norm(x, s, o) {num_groups=2} }",
     1, 0.005, kTurns},
    {"skip_layer_norm", "graph (x: bf16[2,3,16384]) { s = fill([16384], 1:bf16)  return skip_layer_norm(x, x, s) }", 1,
     0.005, kTurns},
    {"mean_variance_norm", "graph (x: bf16[1,2,128,128]) { return mean_variance_norm(x) }", 1, 0.005, kTurns},
    // One rounding, at the end.
    {"matmul + bias",
     "graph (x: bf16[3,257]) { w = fill([257,16], 1:bf16)  b = fill([16], -256:bf16)  return matmul(x, w, b) }", 1},
    {"gemm + bias",
     "graph (x: bf16[3,257]) { w = fill([257,16], 1:bf16)  b = fill([16], -256:bf16)  return gemm(x, w, b) }", 1},
    {"matmul + residual",
     "graph (x: bf16[3,257], r: bf16[3,16]) { w = fill([257,16], 1:bf16)  n = mul(r, -256:bf16)  return matmul(x, w, "
     "_, n) }",
     1},
    {"conv + bias",
     "graph (x: bf16[1,257,5,5]) { w = fill([16,257,1,1], 1:bf16)  b = fill([16], -256:bf16)  return conv(x, w, b) }",
     1},
    {"conv + bias + relu",
     "graph (x: bf16[1,257,5,5]) { w = fill([16,257,1,1], 1:bf16)  b = fill([16], -256:bf16)  return conv(x, w, b) "
     "{activation=\"relu\"} }",
     1},
    {"conv + residual",
     "graph (x: bf16[1,257,5,5], r: bf16[1,16,5,5]) { w = fill([16,257,1,1], 1:bf16)  n = mul(r, -256:bf16)  return "
     "conv(x, w, _, n) }",
     1},
    {"binary_chain", "graph (x: bf16[3,32]) { return binary_chain(x, 256:bf16, -256:bf16) {ops=[\"add\", \"add\"]} }",
     1},
};

float RoundToBf16(float number) { return FloatFromBFloat16(BFloat16FromFloat(number)); }

// Ones in `lanes` sums of bf16 side by side, which are added up in f32.
float OnesInLanes(int64_t ones, int lanes) {
  std::vector<float> sums(lanes, 0.0f);
  for (int64_t i = 0; i < ones; ++i) sums[i % lanes] = RoundToBf16(sums[i % lanes] + 1);
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}

// kLarge and ones in blocks that are added up in f32; their sums in bf16.
float LargeInBlocks(int block) {
  float sum = 0;
  for (int i = 0; i < kTerms; i += block)
    sum = RoundToBf16(sum + static_cast<float>(block) + (i == 0 ? kLarge - 1 : 0));
  return sum;
}

// What all of this is to be told from.
TEST(AccumulationTest, SumsInBf16WouldBeSeen) {
  EXPECT_EQ(OnesInLanes(32768, 1), 256.0f);
  for (const int lanes : {4, 16, 32}) EXPECT_LT(OnesInLanes(kTerms, lanes), 0.6f * kTerms) << lanes;
  EXPECT_LT(OnesInLanes(32768, 64), 0.6f * 32768);
  for (const int block : {1, 16, 64, 256}) EXPECT_LT(LargeInBlocks(block), 0.9 * kSwallowed) << block;
}

Tensor Filled(const Graph& graph, NodeId input, const Fill& fill) {
  const ValueId value = graph.output(input);
  Tensor ones(DataType::kFloat32, graph.shape(value).values());
  const std::span<float> numbers = ones.mutable_data<float>();
  const bool large = fill.large && input == graph.inputs()[0];
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = fill.turns != 0 ? static_cast<float>(i / fill.turns % 2 * 2) : 1.0f;
    if (large && i % kTerms == 0) numbers[i] = kLarge;
  }
  return *ones.ConvertTo(graph.type(value));
}

void Check(const Row& row, int threads, bool reference_only) {
  SCOPED_TRACE(::testing::Message() << row.name << ", " << threads << " threads");
  const absl::StatusOr<Graph> graph = ParseGraph(row.text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<Tensor> inputs;
  for (const NodeId input : graph->inputs()) inputs.push_back(Filled(*graph, input, row.fill));
  const absl::StatusOr<std::unique_ptr<Plan>> plan =
      CompilePlan(*graph, {.threads = threads, .reference_only = reference_only});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<std::vector<Tensor>> outputs = (*plan)->Run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  std::string kernels;
  for (const StepInfo& step : (*plan)->steps()) kernels += step.op + " " + step.kernel.name + "\n";
  for (const Tensor& output : *outputs) {
    const std::vector<double> numbers = output.ToDoubles();
    ASSERT_FALSE(numbers.empty());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool opposite = row.fill.turns != 0 && i / row.fill.turns % 2 == 0;
      const double expected = opposite ? -row.expected : row.expected;
      ASSERT_NEAR(numbers[i], expected, row.error * std::fabs(expected)) << "element " << i << "\n" << kernels;
    }
  }
}

TEST(AccumulationTest, KernelsAddInF32) {
  for (const Row& row : kRows) {
    for (const int threads : {1, 2}) Check(row, threads, /*reference_only=*/false);
  }
}

TEST(AccumulationTest, ReferenceFunctionsDoToo) {
  for (const Row& row : kRows) Check(row, /*threads=*/1, /*reference_only=*/true);
}

}  // namespace
}  // namespace halftone::testing
