// Sums of bf16 numbers are made in f32, whatever the kernel. In bf16 a sum of ones ends at 256: 257 has no bf16, and
// the tie goes to even. So sums of far more ones tell the two apart, also where a kernel makes some dozen sums side by
// side and adds them at the end. And a result is rounded once, behind bias and residual: 257 - 256 is 1.
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone::testing {
namespace {

// All inputs are ones, or take turns: 0, 2, 0, 2, ...
struct Row {
  std::string_view name;
  std::string_view text;
  double expected;  // every element of every output; `turns`: of the odd ones, the even ones have the opposite sign
  double error = 0;
  bool turns = false;
};

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
    {"reduce_sum of rows", "graph (x: bf16[3,32768]) { return reduce_sum(x, [1]) }", 32768},
    {"reduce_sum of columns", "graph (x: bf16[32768,3]) { return reduce_sum(x, [0]) }", 32768},
    {"reduce_sum of all", "graph (x: bf16[256,128]) { return reduce_sum(x) }", 32768},
    {"reduce_mean", "graph (x: bf16[3,32768]) { return reduce_mean(x, [1]) }", 1},
    {"reduce_l1, reduce_sum_square", "graph (x: bf16[3,32768]) { return reduce_l1(x, [1]), reduce_sum_square(x, [1]) }",
     32768},
    {"average_pool", "graph (x: bf16[1,16,33,33]) { return average_pool(x) {kernel=[32,32]} }", 1},
    {"global_average_pool", "graph (x: bf16[2,16,128,128]) { return global_average_pool(x) }", 1},
    {"global_average_pool, channels last",
     "graph (x: bf16[2,128,128,16]) { return global_average_pool(x) {layout=\"NHWC\"} }", 1},
    {"softmax", "graph (x: bf16[3,32768]) { return softmax(x) }", 1.0 / 32768, 0.005},
    {"scaled_dot_product_attention",
     "graph (q: bf16[1,2,64,16], k: bf16[1,2,4096,16], v: bf16[1,2,4096,16]) { return scaled_dot_product_attention(q, "
     "k, v) }",
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
    {"layer_norm", "graph (x: bf16[3,32768]) { s = fill([32768], 1:bf16)  return layer_norm(x, s) }", 1, 0.005, true},
    {"rms_norm: of 0 and 2",
     "graph (x: bf16[3,32768]) { s = fill([32768], 1:bf16)  return sub(mul(rms_norm(x, s), 1.4142135:bf16), 1:bf16) }",
     1, 0.02, true},
    {"instance_norm",
     "graph (x: bf16[1,2,128,128]) { s = fill([2], 1:bf16)  o = fill([2], 0:bf16)  return instance_norm(x, s, o) }", 1,
     0.005, true},
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

// What all of this is to be told from.
TEST(AccumulationTest, ASumInBf16EndsAt256) {
  uint16_t sum = 0;
  for (int i = 0; i < 32768; ++i) sum = BFloat16FromFloat(FloatFromBFloat16(sum) + 1.0f);
  EXPECT_EQ(FloatFromBFloat16(sum), 256.0f);
}

Tensor Filled(const Graph& graph, NodeId input, bool turns) {
  const ValueId value = graph.output(input);
  Tensor ones(DataType::kFloat32, graph.shape(value).values());
  const std::span<float> numbers = ones.mutable_data<float>();
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = turns ? static_cast<float>(i % 2 * 2) : 1.0f;
  return *ones.ConvertTo(graph.type(value));
}

void Check(const Row& row, bool reference_only) {
  const absl::StatusOr<Graph> graph = ParseGraph(row.text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<Tensor> inputs;
  for (const NodeId input : graph->inputs()) inputs.push_back(Filled(*graph, input, row.turns));
  const absl::StatusOr<std::unique_ptr<Plan>> plan =
      CompilePlan(*graph, {.threads = 2, .reference_only = reference_only});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<std::vector<Tensor>> outputs = (*plan)->Run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  std::string kernels;
  for (const StepInfo& step : (*plan)->steps()) kernels += step.op + " " + step.kernel + "\n";
  for (const Tensor& output : *outputs) {
    const std::vector<double> numbers = output.ToDoubles();
    ASSERT_FALSE(numbers.empty());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double expected = row.turns && i % 2 == 0 ? -row.expected : row.expected;
      ASSERT_NEAR(numbers[i], expected, row.error * std::fabs(expected)) << "element " << i << "\n" << kernels;
    }
  }
}

TEST(AccumulationTest, KernelsAddInF32) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Check(row, /*reference_only=*/false);
  }
}

TEST(AccumulationTest, ReferenceFunctionsDoToo) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Check(row, /*reference_only=*/true);
  }
}

}  // namespace
}  // namespace halftone::testing
