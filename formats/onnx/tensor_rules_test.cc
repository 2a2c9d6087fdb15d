// SPDX-License-Identifier: Apache-2.0
// Operators of rows_tensor.cc whose form changed between opsets: there and back.
#include "formats/onnx/tensor_rules.h"

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::HasSubstr;

std::string ThereAndBack(int opset, const std::string& graph, int min_opset = 0) {
  return NodesOf(Exported(Imported(Model(opset, graph)), min_opset));
}

TEST(TensorRules, SplitCountsItsOutputs) {
  const std::string equal = "agraph (float[2,6] x) => (float[2,2] a) { a, b, c = Split<axis = 1>(x) }";
  EXPECT_THAT(ThereAndBack(11, equal), HasSubstr("Split(x)->a,b,c axis=1\n"));
  EXPECT_THAT(ThereAndBack(11, equal, 18), HasSubstr("num_outputs=3"));
  const std::string sizes = "agraph (float[2,6] x) => (float[2,2] a) { a, b = Split<axis = 1, split = [2, 4]>(x) }";
  EXPECT_THAT(ThereAndBack(11, sizes), HasSubstr("split=2;4;"));
  EXPECT_THAT(ThereAndBack(11, sizes, 13), ::testing::Not(HasSubstr("split=")));
  const absl::StatusOr<Graph> wrong =
      Import(Model(18, "agraph (float[6] x) => (float[2] a) { a, b = Split<num_outputs = 3>(x) }"));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("num_outputs is 3, but the node has 2 outputs"));
}

TEST(TensorRules, TopKTakesItsNumberAsAVector) {
  const std::string text = "agraph (float[2,6] x) => (float[2,2] a) { a, i = TopK<k = 2>(x) }";
  EXPECT_THAT(ThereAndBack(9, text), HasSubstr("TopK(x)->a,i k=2"));
  const onnx::ModelProto newer = Exported(Imported(Model(9, text)), 13);
  ASSERT_EQ(newer.graph().initializer_size(), 1);
  EXPECT_EQ(newer.graph().initializer(0).dims_size(), 1);
}

TEST(TensorRules, ScatterIsScatterElements) {
  const std::string text =
      "agraph (float[3] x, int64[1] i, float[1] u) => (float[3] y) { y = Scatter<axis = 0>(x, i, u) }";
  EXPECT_THAT(ThereAndBack(9, text), HasSubstr("Scatter(x,i,u)->y axis=0"));
  EXPECT_THAT(ThereAndBack(9, text, 13), HasSubstr("ScatterElements(x,i,u)->y axis=0"));
}

TEST(TensorRules, ConstantOfShapeOfAnInput) {
  const std::string text = "agraph (int64[2] s) => (int32[?,?] y) { y = ConstantOfShape<value = int32[1] {7}>(s) }";
  EXPECT_THAT(ThereAndBack(9, text), HasSubstr("ConstantOfShape(s)->y value=tensor"));
  const Graph graph = Imported(Model(9, text));
  EXPECT_EQ(graph.type(graph.FindValue("y")), DataType::kInt32);
  const Graph without = Imported(Model(9, "agraph (int64[2] s) => (float[?,?] y) { y = ConstantOfShape(s) }"));
  EXPECT_EQ(without.op(without.FindValue("y")), OpKind::kFill);
  EXPECT_EQ(without.type(without.FindValue("y")), DataType::kFloat32);
}

TEST(TensorRules, EyeLikeHasATypeOfItsOwn) {
  EXPECT_THAT(ThereAndBack(9, "agraph (float[2,3] x) => (int32[2,3] y) { y = EyeLike<dtype = 6, k = 1>(x) }"),
              HasSubstr("EyeLike(x)->y k=1 dtype=6"));
  const Graph same = Imported(Model(9, "agraph (double[2,3] x) => (double[2,3] y) { y = EyeLike(x) }"));
  EXPECT_EQ(same.type(same.FindValue("y")), DataType::kFloat64);
}

TEST(TensorRules, ReductionsOfOldOpsets) {
  EXPECT_THAT(ThereAndBack(11, "agraph (float[2,3] x) => (float[2,1] y) { y = ReduceL2<axes = [1]>(x) }"),
              HasSubstr("ReduceL2(x)->y axes=1;"));
  EXPECT_THAT(ThereAndBack(11, "agraph (float[2,3] x) => (float[1,1] y) { y = ReduceMin(x) }"),
              HasSubstr("ReduceMin(x)->y\n"));
  EXPECT_THAT(ThereAndBack(11, "agraph (float[2,3] x) => (int64[2] y) { y = ArgMax<axis = 1, keepdims = 0>(x) }"),
              HasSubstr("axis=1"));
}

}  // namespace
}  // namespace halftone::onnx_format
