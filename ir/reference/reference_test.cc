// SPDX-License-Identifier: Apache-2.0
// Reference functions by hand: what tests/reference (against ONNX Runtime) does not cover. Types, rounding, fused
// parts, TensorFlow's conventions, errors.

#include "ir/reference/reference.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Evaluates a graph without inputs: its constants are in the text.
absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text, const std::vector<Tensor>& inputs = {}) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, inputs);
}

Tensor RunOne(std::string_view text, const std::vector<Tensor>& inputs = {}) {
  absl::StatusOr<std::vector<Tensor>> outputs = RunText(text, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
  return outputs.ok() ? (*outputs)[0] : Tensor(DataType::kFloat32, {0});
}

std::vector<float> Floats(std::string_view text) { return RunOne(text).ToFloats(); }
std::vector<int64_t> Ints(std::string_view text) { return RunOne(text).ToInts(); }

TEST(Reference, FusedConvolution) {
  // 1x1 over two channels and three pixels: [1*1+2*10, ...] + bias + residual, then relu6.
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,2,3] {1, 2, 3, 10, 20, 30}
                w = const f32[2,2,1] {1, 0.1, -1, 0}
                r = const f32[1,2,3] {0.5, 0.5, 0.5, 0, 3, 7}
                b = const f32[2] {-1, 2}
                y = conv(x, w, b, r) {activation="relu6"} return y })"),
              ElementsAre(1.5, 3.5, 5.5, 1, 3, 6));
}

TEST(Reference, FusedActivationsOfMatMul) {
  const auto run = [](const std::string& attributes) {
    return Floats(
        "graph () { a = const f32[1,2] {1, -2} w = const f32[2,3] {1, 0, 2, 1, 1, 0} b = const f32[3] {0, 0.5, 1} "
        "y = matmul(a, w, b) " +
        attributes + " return y }");  // -1, -1.5, 3 before the activation
  };
  EXPECT_THAT(run(""), ElementsAre(-1, -1.5, 3));
  EXPECT_THAT(run("{activation=\"relu\"}"), ElementsAre(0, 0, 3));
  EXPECT_THAT(run("{activation=\"leaky_relu\", activation_alpha=0.5}"), ElementsAre(-0.5, -0.75, 3));
  EXPECT_THAT(run("{activation=\"clip\", activation_alpha=-1.25, activation_beta=2.0}"), ElementsAre(-1, -1.25, 2));
  EXPECT_THAT(run("{activation=\"elu\", activation_alpha=2.0}"),
              ElementsAre(::testing::FloatEq(2 * std::expm1(-1.0f)), ::testing::FloatEq(2 * std::expm1(-1.5f)), 3));
  EXPECT_THAT(run("{activation=\"tanh\"}")[2], ::testing::FloatEq(std::tanh(3.0f)));
  EXPECT_THAT(run("{activation=\"sigmoid\"}")[2], ::testing::FloatEq(1 / (1 + std::exp(-3.0f))));
}

TEST(Reference, TransposedMatMulIsTheSameProduct) {
  const std::string a = "a = const f32[2,3] {1, 2, 3, 4, 5, 6} at = const f32[3,2] {1, 4, 2, 5, 3, 6} ";
  const std::string b = "b = const f32[3,2] {7, 8, 9, 10, 11, 12} bt = const f32[2,3] {7, 9, 11, 8, 10, 12} ";
  for (const char* product : {"matmul(a, b)", "matmul(at, b) {transpose_a=true}", "matmul(a, bt) {transpose_b=true}",
                              "matmul(at, bt) {transpose_a=true, transpose_b=true}"}) {
    EXPECT_THAT(Floats("graph () { " + a + b + "return " + product + " }"), ElementsAre(58, 64, 139, 154)) << product;
  }
}

TEST(Reference, SumsAreRoundedOnceToTheOutputsType) {
  // 1 + 2^-8 lies half-way between two bf16 numbers and goes to the even one, 1. A little more must go up; rounding to
  // f32 first would lose the little.
  EXPECT_THAT(
      Floats("graph () { a = const bf16[2] {1, 1} b = const bf16[2] {0.00390625, 0.01171875} return add(a, b) }"),
      ElementsAre(1, 1.015625));
  EXPECT_THAT(Floats("graph () { a = const f64[1] {1.00390625000001} y: bf16[1] = cast(a) return y }"),
              ElementsAre(1.0078125));
  EXPECT_THAT(Floats("graph () { a = const f64[1] {1.0039062500000001} y: bf16[1] = cast(a) return y }"),
              ElementsAre(1));
  // In f32 steps of 2^-24 would vanish one by one.
  const std::vector<float> tiny(1025, 0x1p-24f);
  std::vector<float> x = tiny;
  x[0] = 1;
  const Tensor sum =
      RunOne("graph (x: f32[1025]) { return reduce_sum(x) {keepdims=false} }", {Tensor::Of<float>({1025}, x)});
  EXPECT_EQ(sum.ToFloats()[0], 1 + 0x1p-14f);
}

TEST(Reference, IntegersAreExactAndWrapAround) {
  EXPECT_THAT(Ints("graph () { return add([9007199254740993, 9223372036854775807], [1, 1]) }"),
              ElementsAre(9007199254740994, std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(Ints("graph () { return div([7, -7, 7], [2, 2, -1]) }"), ElementsAre(3, -3, -7));
  EXPECT_THAT(Ints("graph () { a = const s32[2] {2147483647, -3} return mul(a, [2]:s32) }"), ElementsAre(-2, -6));
  EXPECT_THAT(Ints("graph () { a = const u8[2] {250, 3} b = const u8[2] {10, 4} return sub(b, a) }"),
              ElementsAre(16, 1));
  EXPECT_THAT(Ints("graph () { return pow([3, -2, 2], [4, 3, -1]) }"), ElementsAre(81, -8, 0));
  EXPECT_THAT(Ints("graph () { return maximum([9007199254740993, -5], [9007199254740992, -4]) }"),
              ElementsAre(9007199254740993, -4));
  EXPECT_THAT(Ints("graph () { return squared_difference([5, -2], [2, 1]) }"), ElementsAre(9, 9));
  EXPECT_THAT(Ints("graph () { a = const s64[2,3] {1, 2, 4, -1, -2, -5} return reduce_mean(a, [1]) }"),
              ElementsAre(2, -2));
  EXPECT_THAT(
      Ints("graph () { a = const s64[1,2] {9007199254740993, 1} b = const s64[2,1] {1, 2} return matmul(a, b) }"),
      ElementsAre(9007199254740995));
  EXPECT_THAT(Ints("graph () { return abs([-3, 4]), neg([-3, 4]), square([-3, 4]), relu([-3, 4]) }"),
              ElementsAre(3, 4));
  EXPECT_THAT(std::string(RunText("graph () { y = div([1], [0]) return y }").status().message()),
              HasSubstr("node 'y' (div): an integer is divided by 0"));
}

TEST(Reference, Casts) {
  EXPECT_THAT(Ints("graph () { a = const f32[5] {-1.75, 300, 1e20, nan, 2.9} y: s8[5] = cast(a) return y }"),
              ElementsAre(-1, 127, 127, 0, 2));
  EXPECT_THAT(Ints("graph () { y: u8[3] = cast([-1, 256, 7]) return y }"), ElementsAre(255, 0, 7));
  EXPECT_THAT(Ints("graph () { a = const f32[3] {0, -0.5, nan} y: bool[3] = cast(a) return y }"), ElementsAre(0, 1, 1));
  EXPECT_THAT(Floats("graph () { a = const bool[2] {true, false} y: f16[2] = cast(a) return y }"), ElementsAre(1, 0));
}

TEST(Reference, NotANumberStaysOne) {
  const std::vector<float> x{kNaN, -1, kInfinity};
  for (const char* op : {"relu(x)", "relu6(x)", "clip(x, 0.0:f32, 1.0:f32)", "elu(x)", "leaky_relu(x)",
                         "maximum(x, 0.0:f32)", "minimum(0.0:f32, x)", "reduce_max(x)", "softplus(x)", "sigmoid(x)"}) {
    const Tensor y = RunOne(std::string("graph (x: f32[3]) { return ") + op + " }", {Tensor::Of<float>({3}, x)});
    EXPECT_TRUE(std::isnan(y.ToFloats()[0])) << op;
  }
  // Large arguments do not overflow on the way.
  EXPECT_THAT(Floats("graph () { a = const f32[2] {-800, 800} return sigmoid(a) }"), ElementsAre(0, 1));
  EXPECT_THAT(Floats("graph () { a = const f32[2] {-800, 800} return softplus(a) }"), ElementsAre(0, 800));
  EXPECT_THAT(Floats("graph () { a = const f32[2] {1000, 1000} return softmax(a) }"), ElementsAre(0.5, 0.5));
}

TEST(Reference, OpsWithoutOthersTests) {
  EXPECT_THAT(Floats("graph () { a = const f32[3] {-1, 4, 9} return relu6(a) }"), ElementsAre(0, 4, 6));
  EXPECT_THAT(Floats("graph () { a = const f32[2] {4, 0.25} return rsqrt(a) }"), ElementsAre(0.5, 2));
  EXPECT_THAT(Floats("graph () { a = const f32[2] {-3, 0.5} return square(a) }"), ElementsAre(9, 0.25));
  EXPECT_THAT(Floats("graph () { a = const f32[2,1] {1, 2} b = const f32[2] {4, 6} return squared_difference(a, b) }"),
              ElementsAre(9, 25, 4, 16));
  EXPECT_THAT(Floats("graph () { a = const f32[1,2,2] {1, 2, 3, 4} b = const f32[2] {10, 20} return bias_add(a, b) }"),
              ElementsAre(11, 12, 23, 24));
  EXPECT_THAT(Floats("graph () { a = const f32[1,2,2] {1, 2, 3, 4} b = const f32[2] {10, 20} return bias_add(a, b) "
                     "{layout=\"NHWC\"} }"),
              ElementsAre(11, 22, 13, 24));
  EXPECT_THAT(Ints("graph () { a = const s64[1,2,3] {1, 2, 3, 4, 5, 6} p = const s64[3,2] {0, 0, 1, 0, 0, 1} "
                   "return pad(a, p) {mode=\"symmetric\"} }"),
              ElementsAre(1, 2, 3, 3, 1, 2, 3, 3, 4, 5, 6, 6));
  EXPECT_THAT(Ints("graph () { return pad([1, 2, 3], [4, 5]) {mode=\"reflect\"} }"),
              ElementsAre(1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2));
}

TEST(Reference, ConventionsThatAttributesSay) {
  // 0 in a shape is 0; an empty list of axes reduces nothing; one size of a split is the remainder.
  EXPECT_EQ(
      RunOne("graph (x: f32[0,4]) { return reshape(x, [0, 8]) {allowzero=true} }", {Tensor(DataType::kFloat32, {0, 4})})
          .dims(),
      (std::vector<int64_t>{0, 8}));
  const Tensor none = Tensor::Ints({});
  const Tensor x = Tensor::Of<float>({2}, std::vector<float>{3, 4});
  EXPECT_THAT(RunOne("graph (x: f32[2], a: s64[0]) { return reduce_sum(x, a) {noop_with_empty_axes=true} }", {x, none})
                  .ToFloats(),
              ElementsAre(3, 4));
  EXPECT_THAT(RunOne("graph (x: f32[2], a: s64[0]) { return reduce_sum(x, a) }", {x, none}).ToFloats(), ElementsAre(7));
  EXPECT_THAT(Ints("graph () { a, b = split([1, 2, 3], [1, -1]) return b }"), ElementsAre(2, 3));
  EXPECT_THAT(Ints("graph () { return one_hot([-1, 3], 3, [0, 7]) {wrap_negative=false} }"),
              ElementsAre(0, 0, 0, 0, 0, 0));
  // Training: mean and unbiased variance of the batch; the statistics given are empty.
  const absl::StatusOr<std::vector<Tensor>> outputs =
      RunText(R"(graph (x: f32[3,1], e: f32[0]) {
      s = const f32[1] {2}
      b = const f32[1] {1}
      y, m, v, r1, r2 = batch_norm(x, s, b, e, e) {is_training=true, epsilon=0.0, statistics="batch"}
      return y, m, v, r1, r2 })",
              {Tensor::Of<float>({3, 1}, std::vector<float>{1, 2, 6}), Tensor(DataType::kFloat32, {0})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[1].ToFloats(), ElementsAre(3));
  EXPECT_THAT((*outputs)[2].ToFloats(), ElementsAre(7));  // (4 + 1 + 9) / 2
  EXPECT_THAT((*outputs)[4].ToFloats(), ElementsAre(::testing::FloatEq(14.0f / 3)));
  EXPECT_FLOAT_EQ((*outputs)[0].ToFloats()[2], 2 * 3 / std::sqrt(14.0f / 3) + 1);
}

TEST(Reference, MovesAnyType) {
  EXPECT_THAT(Ints("graph () { a = const bool[2,2] {true, true, false, false} return transpose(a, [1, 0]) }"),
              ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(Ints("graph () { a = const s8[3] {1, 2, 3} return concat(slice(a, [-1], [-4], [0], [-1]), a, 0) }"),
              ElementsAre(3, 2, 1, 1, 2, 3));
  EXPECT_THAT(Ints("graph () { d, m = dropout([5, 6]) {ratio=0.5} return m }"), ElementsAre(1, 1));
}

TEST(Reference, Errors) {
  const std::pair<const char*, const char*> kCases[] = {
      {"graph () { o: f32[1] = opaque \"Foo\" (1) return o }", "(Foo): this op has no reference function"},
      {"graph () { y = gather([1, 2], 5) return y }",
       "node 'y' (gather): index 5 is out of range: need -2 to 1 for 2 elements"},
      {"graph () { s = const string[1] {\"a\"} y: string[2] = concat(s, s, 0) return y }", "is string"},
      {"graph () { y = pad([1, 2], [9000000000000, 0]) return y }", "too large"},
      {"graph () { a = const f32[1,1,2,2] {1, 2, 3, 4} y = resize(a, _, _, [1, 1, 4, 4]) {antialias=1} return y }",
       "antialias"},
  };
  for (const auto& [graph, error] : kCases) {
    const absl::StatusOr<std::vector<Tensor>> outputs = RunText(graph);
    ASSERT_FALSE(outputs.ok()) << graph;
    EXPECT_THAT(std::string(outputs.status().message()), HasSubstr(error)) << graph;
  }
}

TEST(RandomInputs, AreSeededAndInRange) {
  const absl::StatusOr<Graph> graph = ParseGraph("graph (x: f32[1000], i: s32[100], b: bool[64]) { return x, i, b }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> one = RandomInputs(*graph, 1), again = RandomInputs(*graph, 1),
                            other = RandomInputs(*graph, 2);
  EXPECT_TRUE(one[0].SameBytes(again[0]));
  EXPECT_FALSE(one[0].SameBytes(other[0]));
  EXPECT_THAT(one[0].ToFloats(), ::testing::Each(::testing::AllOf(::testing::Ge(-1.0f), ::testing::Lt(1.0f))));
  EXPECT_THAT(one[1].ToInts(), ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(8))));
  EXPECT_THAT(one[1].ToInts(), ::testing::Contains(7));
  EXPECT_THAT(one[2].ToInts(), ::testing::Contains(1));
}

TEST(Compare, SaysWhere) {
  const auto tensor = [](std::vector<float> values) { return Tensor::Of<float>({2, 2}, values); };
  EXPECT_EQ(Compare(tensor({1, kNaN, kInfinity, 2}), tensor({1, kNaN, kInfinity, 2}), 0, 0), "");
  EXPECT_EQ(Compare(tensor({1, 2, 3, 4.5}), tensor({1, 2, 3, 4}), 0, 0.25f), "[1,1]: 4.5 against 4");
  EXPECT_EQ(Compare(tensor({1, 2, 3, 4.5}), tensor({1, 2, 3, 4}), 0.125f, 0), "");
  EXPECT_EQ(Compare(tensor({1, 2, 3, kInfinity}), tensor({1, 2, 3, 4}), 1, 1), "[1,1]: inf against 4");
  EXPECT_EQ(Compare(tensor({1, 2, 3, 4}), tensor({1, 2, 3, kInfinity}), 1, 1), "[1,1]: 4 against inf");
  EXPECT_EQ(Compare(tensor({1, 2, 3, 4}), Tensor::Scalar(1), 1, 1), "dims [2,2] against []");
}

}  // namespace
}  // namespace halftone::reference
