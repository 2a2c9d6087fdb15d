// SPDX-License-Identifier: Apache-2.0
// Invalid indices, sizes and shapes, as in a hostile or wrong model: each is an error that names the number.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone {
namespace {

struct ErrorCase {
  const char* graph;
  const char* message;
};

// The first output as "[dims] 1 2 3", or the error.
std::string Result(const std::string& text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return "parse: " + std::string(graph.status().message());
  const absl::StatusOr<std::vector<Tensor>> outputs = reference::EvaluateGraph(*graph, {});
  if (!outputs.ok()) return std::string(outputs.status().message());
  std::string result = (*outputs)[0].shape().ToString();
  for (const int64_t element : (*outputs)[0].ToInts()) result += " " + std::to_string(element);
  return result;
}

TEST(IndexErrors, NameTheNumberAndTheRange) {
  const ErrorCase kCases[] = {
      {"graph () { return gather([1, 2, 3], [3]) }", "index 3 is out of range: need -3 to 2 for 3 elements"},
      {"graph () { i = const s64[2,1] {0, -4}  return gather_nd([1, 2, 3], i) }", "index -4 is out of range"},
      {"graph () { i = const s64[1,3] {0, 0, 0}  return gather_nd([1, 2, 3], i) }", "indices has tuples of 3"},
      {"graph () { return gather_elements([1, 2, 3], [0, 9]) }", "index 9 is out of range"},
      {"graph () { return scatter_elements([1, 2, 3], [5], [0]) }", "index 5 is out of range"},
      {"graph () { return scatter_elements([1, 2, 3], [1], [0, 0]) }", "updates is [2], indices [1]"},
      {"graph () { i = const s64[1,1] {3}  return scatter_nd([1, 2, 3], i, [7]) }", "index 3 is out of range"},
      {"graph () { i = const s64[1,1] {0}  return scatter_nd([1, 2, 3], i, [7, 8]) }", "updates is [2], need [1]"},
      {"graph () { i = const s64[1,1] {2}  return scatter_nd_new(i, [7], [2]) }", "index 2 is out of range"},
      {"graph () { a, i = top_k([1, 2, 3], [4])  return a }", "k is 4, x is [3]"},
      {"graph () { a, b = split([1, 2, 3], [1, 1])  return a }", "sizes sum up to 2, need 3"},
      {"graph () { a, b = split([1, 2, 3], [-2, 5])  return a }", "sizes holds -2"},
      {"graph () { return tile([1, 2], [-1]) }", "repeats holds -1"},
      {"graph () { return tile([1, 2], [4611686018427387904]) }", "repeats holds 4611686018427387904"},
      {"graph () { return expand([1, 2], [3]) }", "do not broadcast"},
      {"graph () { return expand([1, 2], [1099511627776, 2]) }", "too large"},
      {"graph () { return fill([1099511627776]) }", "too large"},
      {"graph () { return fill([-2]) }", "the shape holds -2"},
      {"graph () { return range(0, 9, 0) }", "delta is 0"},
      {"graph () { return range(-9223372036854775807, 9223372036854775807, 1) }", "is too large"},
      {"graph () { return one_hot([1], -3, [0, 1]) }", "depth is -3"},
      {"graph () { return one_hot([1], 3, [0]) }", "need two numbers"},
      {"graph () { return compress([1, 2], [0, 0, 1]) }", "condition keeps element 2 of 2"},
      {"graph () { return reverse([1, 2], [1]) }", "axis 1 is out of range for rank 1"},
      {"graph () { x = const s64[2,2] {1, 2, 3, 4}  return reverse_sequence(x, [1, 3]) }",
       "a length of 3, need 0 to 2"},
      {"graph () { return invert_permutation([0, 0]) }", "element 1 is 0"},
      {"graph () { return dynamic_stitch([-1], [5]) }", "index -1 is out of range"},
      {"graph () { a, b = dynamic_partition([1, 2], [0, 2])  return a }", "partition 2 is out of range"},
      {"graph () { x = const s64[1,4] {1, 2, 3, 4}  p = const s64[1,2] {0, 1}  return space_to_batch(x, [2], p) }",
       "dimension 1 of x [1,4] with 0 and 1 does not fit blocks of 2"},
      {"graph () { x = const s64[3,4,1]  p = const s64[1,2] {0, 0}  return batch_to_space(x, [2], p) }",
       "the batch is 3"},
      {"graph () { return cum_sum([1, 2], 1) }", "axis 1 is out of range for rank 1"},
      {"graph () { return strided_slice([1, 2], [0, 0], [1, 1], [1, 1]) }", "begin names 2 dimensions, x has 1"},
      {"graph () { return strided_slice([1, 2], [0], [1], [0]) }", "a stride of 0"},
      {"graph () { return pad([1, 2], [9223372036854775807, 1]) }", "too large"},
  };
  for (const ErrorCase& c : kCases) EXPECT_THAT(Result(c.graph), testing::HasSubstr(c.message)) << c.graph;
}

TEST(IndexResults, CornersOfTheSpecifications) {
  const ErrorCase kCases[] = {
      {"graph () { return gather([1, 2, 3], [-1, 0]) }", "[2] 3 1"},
      {"graph () { e = const s64[0] {}  return gather(e, e) }", "[0]"},
      {"graph () { return scatter_elements([1, 2, 3], [1, 1], [5, 6]) }", "[3] 1 6 3"},  // the last one stays
      {"graph () { return scatter_elements([1, 2, 3], [1, 1], [5, 6]) {reduction=\"add\"} }", "[3] 1 13 3"},
      {"graph () { return range(5, 0, -2) }", "[3] 5 3 1"},
      {"graph () { return range(5, 9, -2) }", "[0]"},
      {"graph () { return one_hot([-1, 3], 3, [0, 7]) }", "[2,3] 0 0 7 0 0 0"},
      {"graph () { x = const s64[] {5}  return non_zero(x) }", "[0,1]"},
      {"graph () { return non_zero([0, 3, 0, 4]) }", "[1,2] 1 3"},
      {"graph () { return non_zero([0, 3, 0, 4]) {rows=true} }", "[2,1] 1 3"},
      {"graph () { return unique([3, 1, 3]) {sorted=false} }", "[2] 3 1"},
      {"graph () { y, f, i, n = unique([3, 1, 3])  return i }", "[3] 1 0 1"},
      {"graph () { return compress([4, 5, 6], [0, 1]) }", "[1] 5"},
      {"graph () { e = const s64[0,3] {}  return reduce_sum(e, [0]) }", "[1,3] 0 0 0"},
      {"graph () { e = const s32[0] {}  return reduce_min(e) }", "[1] 2147483647"},
      {"graph () { e = const u8[0] {}  return reduce_max(e) }", "[1] 0"},
      {"graph () { e = const bool[0] {}  return reduce_all(e) }", "[1] 1"},
      {"graph () { return strided_slice([1, 2, 3], [2], [0], [-1]) {end_mask=1} }", "[3] 3 2 1"},
      {"graph () { return strided_slice([1, 2, 3], [-1], [0], [1]) {shrink_axis_mask=1} }", "[] 3"},
      {"graph () { return strided_slice([1, 2], [0, 9], [0, 9], [1, 1]) {new_axis_mask=1, ellipsis_mask=2} }",
       "[1,2] 1 2"},
      {"graph () { return slice([1, 2, 3], [-9223372036854775807], [9223372036854775807]) }", "[3] 1 2 3"},
      {"graph () { return slice([1, 2, 3], [9], [-9], _, [-2]) }", "[2] 3 1"},
      {"graph () { return pad([1, 2, 3], [4, 5]) {mode=\"wrap\"} }", "[12] 3 1 2 3 1 2 3 1 2 3 1 2"},
      {"graph () { return dynamic_stitch([2, 0], [1], [7, 8], [9]) }", "[3] 8 9 7"},
      {"graph () { a, b = dynamic_partition([1, 2, 3], [1, 0, 1])  return b }", "[2] 1 3"},
      {"graph () { return invert_permutation([2, 0, 1]) }", "[3] 1 2 0"},
      {"graph () { return cum_sum([1, 2, 3], 0) {exclusive=true, reverse=true} }", "[3] 5 3 0"},
      {"graph () { return arg_max([3, 9, 9]) {select_last_index=true} }", "[1] 2"},
      {"graph () { x = const s64[1,4,1] {1, 2, 3, 4}  p = const s64[1,2] {0, 2}  return space_to_batch(x, [2], p) }",
       "[2,3,1] 1 3 0 2 4 0"},
      {"graph () { x = const s64[2,3,1] {1, 3, 0, 2, 4, 0}  p = const s64[1,2] {0, 2}  "
       "return batch_to_space(x, [2], p) }",
       "[1,4,1] 1 2 3 4"},
      {"graph () { return center_crop_pad([1, 2, 3], [5]) }", "[5] 0 1 2 3 0"},
      {"graph () { x = const s64[2,2] {1, 2, 3, 4}  return matrix_band_part(x, 0, -1) }", "[2,2] 1 2 0 4"},
  };
  for (const ErrorCase& c : kCases) EXPECT_EQ(Result(c.graph), c.message) << c.graph;
}

}  // namespace
}  // namespace halftone
