// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic as exporters write it: the shapes that come out of it.
#include "ir/shape_values.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/text.h"

namespace halftone {
namespace {

// Shapes of the outputs, separated by blanks, or the error.
std::string ShapesOf(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return std::string(graph.status().message());
  GraphEditor edit(*graph);
  if (const absl::Status status = InferShapes(edit); !status.ok()) return std::string(status.message());
  std::string result;
  for (const GraphOutput& output : graph->outputs()) {
    result += (result.empty() ? "" : " ") + graph->shape(output.value).ToString();
  }
  return result;
}

TEST(ShapeValues, ExpandWhereMinusOneKeepsTheDimension) {  // PyTorch's expand(n, 7, -1)
  EXPECT_EQ(ShapesOf("graph (x: f32[N,1,4]) { s = shape(x) n = gather(s, [0]) t = concat(n, [7], [-1], 0) "
                     "ones = fill([3], [1]) e: bool[3] = equal(t, mul(ones, [-1])) w = where(e, ones, t) "
                     "return expand(x, w) }"),
            "[N,7,4]");
}

TEST(ShapeValues, SplitAndUnstackOfAShape) {
  EXPECT_EQ(ShapesOf("graph (x: f32[N,3,4,5]) { s = shape(x) a, b = split(s, [1, 3]) p, q, r = unstack(b) "
                     "t = concat(a, unsqueeze(mul(q, r), [0]), unsqueeze(p, [0]), 0) return reshape(x, t) }"),
            "[N,20,3]");
}

TEST(ShapeValues, RangeTileAndStridedSlice) {
  EXPECT_EQ(ShapesOf("graph (x: f32[N,3]) { s = shape(x) "
                     "n = strided_slice(s, [0], [1], [1]) {shrink_axis_mask=1} "
                     "r = range(0, n, 1) "
                     "return r, tile(x, stack(n, 2)), expand(1:f32, strided_slice(s, [1], [0], [1]) "
                     "{end_mask=1}) }"),
            "[N] [?,6] [3]");
}

TEST(ShapeValues, ElementsByIndex) {
  EXPECT_EQ(ShapesOf("graph (x: f32[N,3,4]) { s = shape(x) "
                     "i = const s64[2,1] {0, 2} g = gather_elements(s, [2, 1]) d = gather_nd(s, i) "
                     "w = scatter_elements(s, [1], [9]) v = reverse(s, [0]) "
                     "return fill(g), fill(d), fill(w), fill(v) }"),
            "[4,3] [N,4] [N,9,4] [4,3,N]");
}

TEST(ShapeValues, NumbersOfElements) {
  EXPECT_EQ(ShapesOf("graph (x: f32[2,3,4], z: f32[N,1]) { one = reshape(size(x), [1]) n = reshape(size(z), [1]) "
                     "p = reduce_prod(shape(x), [0]) m = reshape(rank(x), [1]) "
                     "return fill(one), fill(n), fill(p), fill(m) }"),
            "[24] [N] [24] [3]");
}

// A dimension is never negative, and equal to itself; more is not known of it.
TEST(ShapeValues, ComparisonsOfNamedDimensions) {
  EXPECT_EQ(ShapesOf("graph (x: f32[N,M]) { n = gather(shape(x), [0]) m = gather(shape(x), [1]) "
                     "a = where(less(n, [0]), [5], n) b = where(equal(n, n), n, [5]) c = where(equal(n, m), n, m) "
                     "d = maximum(n, [0]) e = where(greater(n, [3]), [1], [1]) "
                     "return fill(a), fill(b), fill(c), fill(d), fill(e) }"),
            "[N] [N] [?] [N] [1]");
}

TEST(ShapeValues, WhatWouldWrapAroundIsNotFollowed) {
  EXPECT_EQ(ShapesOf("graph (x: f32[65536,65536]) { s: s32[2] = shape(x) p = reduce_prod(s, [0]:s32) "
                     "return fill(p) }"),
            "[?]");
}

TEST(ShapeValues, ErrorsSayTheNumber) {
  EXPECT_THAT(ShapesOf("graph (x: f32[4]) { return expand(x, [-1]) }"), ::testing::HasSubstr("the shape holds -1"));
  EXPECT_THAT(ShapesOf("graph (x: f32[4]) { a, b = split(x, [1, 2]) return a, b }"),
              ::testing::HasSubstr("sizes sum up to 3, need 4"));
  EXPECT_THAT(ShapesOf("graph (x: f32[4]) { return strided_slice(x, [9], [0], [1]) {shrink_axis_mask=1} }"),
              ::testing::HasSubstr("index 9 with stride 1 is out of range for 4 elements"));
  EXPECT_THAT(ShapesOf("graph () { return range(0, 5, 0) }"), ::testing::HasSubstr("delta is 0"));
}

}  // namespace
}  // namespace halftone
