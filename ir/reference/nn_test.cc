// SPDX-License-Identifier: Apache-2.0
// Reference functions of pools, norms, sampling and detection: conventions that ONNX's tests do not cover, and errors.

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, {});
}

std::vector<float> Floats(std::string_view text, size_t output = 0) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText(text);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
  return outputs.ok() ? (*outputs)[output].ToFloats() : std::vector<float>{};
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText(text);
  EXPECT_FALSE(outputs.ok()) << text;
  return std::string(outputs.status().message());
}

TEST(TransposedConvolution, ShapeAsInput) {
  // One channel, kernel 3, stride 2, SAME: the forward convolution of 4 elements makes 2, with its one pad at the end.
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,2,1] {1, 10}
                w = const f32[3,1,1] {1, 2, 3}
                y = conv_transpose(x, w, _, [1,4,1]) {layout="NHWC", weights_layout="HWOI", strides=[2], auto_pad="SAME_UPPER"}
                return y })"),
              ElementsAre(1, 2, 13, 20));
}

TEST(TransposedConvolution, ResultLongerThanItsTapsReachIsBias) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,1,2] {1, 10}
                w = const f32[1,1,1] {1}
                b = const f32[1] {5}
                y = conv_transpose(x, w, b) {strides=[2], output_shape=[5]}
                return y })"),
              ElementsAre(6, 5, 15, 5, 5));
}

TEST(TransposedConvolution, SaysWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf("graph () { x = const f32[1,2,4] w = const f32[3,1,3] return conv_transpose(x, w) }"),
              HasSubstr("are for 3 channels"));
  EXPECT_THAT(
      ErrorOf("graph () { x = const f32[1,1,2] w = const f32[1,1,2] return conv_transpose(x, w) {pads=[9,9]} }"),
      HasSubstr("take more than"));
}

TEST(MaxPool, IndicesOfChannelsLastAndColumns) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,2,2,2] {1, 8, 2, 7, 3, 6, 4, 5}
                y, i = max_pool(x) {layout="NHWC", kernel=[2,2]}
                return y, i })",
                     1),
              ElementsAre(6, 1));
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,1,2,3] {1, 2, 9, 3, 4, 5}
                y, i = max_pool(x) {kernel=[2,3], storage_order=1}
                return y, i })",
                     1),
              ElementsAre(4));
}

TEST(MaxUnpool, RefusesIndicesThatLieOutside) {
  EXPECT_THAT(ErrorOf("graph () { x = const f32[1,1,1] {1} i = const s64[1,1,1] {2} "
                      "return max_unpool(x, i) {kernel=[2], strides=[2]} }"),
              HasSubstr("must be in [0, 2)"));
}

TEST(BatchNorm, TrainingThatHandsOutTheBatchTakesEmptyStatistics) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph () {
      x = const f32[1,3,1] {1, 2, 6}
      s = const f32[1] {1}  o = const f32[1] {0}  e = const f32[0] {}
      y, m, v = batch_norm(x, s, o, e, e) {is_training=true, layout="NHWC", epsilon=0.0, statistics="batch"}
      return y, m, v })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::vector<Tensor>> outputs = EvaluateGraph(*graph, {});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[1].ToFloats(), ElementsAre(3));
  EXPECT_THAT((*outputs)[2].ToFloats(), ElementsAre(7));  // (4 + 1 + 9) / 2
  EXPECT_NEAR((*outputs)[0].ToFloats()[2], 3 / std::sqrt(14.0 / 3), 1e-6);
}

TEST(GroupNorm, ParametersOfGroupsAndOfChannels) {
  const std::string x = "graph () { x = const f32[1,4,1] {0, 2, 0, 4} ";
  EXPECT_THAT(Floats(x + "s = const f32[2] {1, 10} o = const f32[2] {0, 100} "
                         "return group_norm(x, s, o) {num_groups=2, per_group=true, epsilon=0.0} }"),
              ElementsAre(-1, 1, 90, 110));
  EXPECT_THAT(Floats(x + "s = const f32[4] {1, 2, 3, 4} o = const f32[4] {0, 0, 0, 0} "
                         "return group_norm(x, s, o) {num_groups=2, epsilon=0.0} }"),
              ElementsAre(-1, 2, -3, 4));
}

TEST(LpNorm, ZerosStayZeros) {
  EXPECT_THAT(Floats("graph () { x = const f32[2,2] {0, 0, 3, 4} return lp_norm(x) }"), ElementsAre(0, 0, 0.6f, 0.8f));
}

TEST(CropAndResize, BothCornersAreIncluded) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,3,3,1] {0, 1, 2, 10, 11, 12, 20, 21, 22}
                b = const f32[2,4] {0, 0, 1, 1, 0.5, 0.5, 1.5, 0.5}
                return crop_and_resize(x, b, [0,0]:s32, [2,2]:s32) {extrapolation_value=-1.0} })"),
              ElementsAre(0, 2, 20, 22, 11, 11, -1, -1));
}

TEST(RoiAlign, RefusesImagesThatAreNotThere) {
  EXPECT_THAT(
      ErrorOf("graph () { x = const f32[1,1,2,2] r = const f32[1,4] {0, 0, 1, 1} return roi_align(x, r, [1]) }"),
      HasSubstr("batch_indices[0] is 1, must be in [0, 1)"));
  EXPECT_THAT(
      ErrorOf("graph () { x = const f32[1,1,2,2] r = const f32[1,4] {0, 0, inf, 1} return roi_align(x, r, [0]) }"),
      HasSubstr("not finite"));
}

TEST(NonMaxSuppression, TiesGoToTheLowerIndex) {
  EXPECT_THAT(Floats(R"(graph () {
                b = const f32[1,3,4] {0, 0, 1, 1, 0, 0, 1, 1.1, 5, 5, 6, 6}
                s = const f32[1,1,3] {0.5, 0.5, 0.5}
                return non_max_suppression(b, s, 3, 0.5:f32) })"),
              ElementsAre(0, 0, 0, 0, 0, 2));
}

TEST(NonMaxSuppression, OfOneImage) {
  EXPECT_THAT(Floats(R"(graph () {
                b = const f32[3,4] {0, 0, 1, 1, 5, 5, 6, 6, 0, 0, 1, 1.1}
                s = const f32[3] {0.5, 0.25, 0.75}
                return non_max_suppression(b, s, 3:s32, 0.5:f32, 0.1:f32) })"),
              ElementsAre(2, 1));
}

TEST(Resize, OnePlanForSizesAndAspectRatio) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,4] {0, 1, 2, 3}
                return resize(x, _, _, [8]) {axes=[1], mode="linear", coordinate_transformation_mode="align_corners"} })"),
              ElementsAre(0, testing::FloatEq(3.0f / 7), testing::FloatEq(6.0f / 7), testing::FloatEq(9.0f / 7),
                          testing::FloatEq(12.0f / 7), testing::FloatEq(15.0f / 7), testing::FloatEq(18.0f / 7), 3));
  EXPECT_THAT(ErrorOf("graph () { x = const f32[1,4] return resize(x, _, _, [8, 9]) {axes=[1]} }"),
              HasSubstr("holds 2 numbers, need 1"));
}

TEST(GridSample, SaysWhichShapesItNeeds) {
  EXPECT_THAT(ErrorOf("graph () { x = const f32[1,1,2,2] g = const f32[1,2,2,3] return grid_sample(x, g) }"),
              HasSubstr("grid"));
}

TEST(Dropout, OfRatioZeroInTrainingChangesNothing) {
  EXPECT_THAT(Floats("graph () { x = const f32[2] {1, 2} t = const bool[] {true} return dropout(x, 0.0:f32, t) }"),
              ElementsAre(1, 2));
  EXPECT_THAT(ErrorOf("graph () { x = const f32[2] {1, 2} t = const bool[] {true} return dropout(x, 0.5:f32, t) }"),
              HasSubstr("training"));
}

}  // namespace
}  // namespace halftone::reference
