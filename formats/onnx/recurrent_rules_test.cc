// SPDX-License-Identifier: Apache-2.0
// Import and export of recurrent ops, signals and random numbers.
#include <string>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::HasSubstr;

// What the file becomes here, and what comes out again.
std::string There(const onnx::ModelProto& model) { return PrintGraph(Imported(model)); }
std::string Back(const onnx::ModelProto& model) { return NodesOf(Exported(Imported(model))); }

TEST(RecurrentRules, LstmKeepsItsOptions) {
  const auto model = Model(14,
                           "g (float[5,2,4] x, float[1,12,4] w, float[1,12,3] r) => (float[1,2,3] h) { "
                           "_y, h = LSTM<hidden_size=3, clip=0.5, layout=0, activation_alpha=[0.25]>(x, w, r) }");
  EXPECT_THAT(There(model), HasSubstr("lstm(x, w, r)"));
  EXPECT_THAT(There(model), HasSubstr("activation_alphas=[0.25]"));
  EXPECT_THAT(Back(model), HasSubstr("LSTM(x,w,r)->"));
  EXPECT_THAT(Back(model), HasSubstr("clip=0.5"));
}

TEST(RecurrentRules, AxisOfDftMoved) {
  const auto old = Model(17, "g (float[2,5,2] x) => (float[2,5,2] y) { y = DFT<inverse=1>(x) }");
  EXPECT_THAT(There(old), HasSubstr("dft(x, _, 1)"));
  EXPECT_THAT(Back(old), HasSubstr("DFT(x)->y"));
  EXPECT_THAT(Back(old), HasSubstr("axis=1"));
  EXPECT_THAT(NodesOf(Exported(Imported(old), 20)), HasSubstr("DFT(x,,"));
}

TEST(RecurrentRules, WindowsAreOneOp) {
  const auto model = Model(
      17,
      "g () => (double[7] y) { n = Constant<value_int=7>()  y = HammingWindow<output_datatype=11, periodic=0>(n) }");
  EXPECT_THAT(There(model), HasSubstr("f64[7] = window("));
  EXPECT_THAT(Back(model), HasSubstr("HammingWindow("));
  EXPECT_THAT(Back(model), HasSubstr("output_datatype=11"));
}

TEST(RecurrentRules, RandomNumbersKeepSeedAndShape) {
  const auto model =
      Model(17, "g () => (double[2,3] y) { y = RandomNormal<shape=[2,3], dtype=11, seed=1.5, mean=2.0>() }");
  EXPECT_THAT(There(model), HasSubstr("y: f64[2,3] = random_normal([2, 3])"));
  EXPECT_THAT(Back(model), HasSubstr("RandomNormal()->y shape=2;3; dtype=11 mean=2.000000 seed=1.500000"));
  const auto like = Model(17, "g (float[N,3] x) => (float[N,3] y) { y = RandomUniformLike<high=4.0>(x) }");
  EXPECT_THAT(There(like), HasSubstr("s64[2] = shape(x)\n  y: f32[N,3] = random_uniform("));
  EXPECT_THAT(Back(like), HasSubstr("RandomUniformLike("));
}

}  // namespace
}  // namespace halftone::onnx_format
