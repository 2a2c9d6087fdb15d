// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_inference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/shape_values.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (!graph.ok()) return Graph();
  GraphEditor edit(*graph);  // also what the text declares
  EXPECT_TRUE(InferShapes(edit).ok()) << text;
  return *std::move(graph);
}

// Shapes of the outputs: "[2,3] [N]".
std::string Outputs(const Graph& graph) {
  std::string result;
  for (const GraphOutput& output : graph.outputs()) {
    result += (result.empty() ? "" : " ") + graph.shape(output.value).ToString();
  }
  return result;
}

struct ShapeCase {
  const char* graph;
  const char* shapes;
};

// What is known everywhere is checked against the reference functions in tests/reference. Here: partial knowledge.
TEST(ShapeInference, KeepsWhatCanBeKnown) {
  const ShapeCase kCases[] = {
      // Symbols survive where the dimension is the same one.
      {"graph (x: f32[N,3]) { return relu(x) }", "[N,3]"},
      {"graph (x: f32[N,3], y: f32[N,1]) { return add(x, y) }", "[N,3]"},
      {"graph (x: f32[N,3], y: f32[M,3]) { return add(x, y) }", "[?,3]"},
      {"graph (x: f32[N,1], y: f32[4]) { return mul(x, y) }", "[N,4]"},
      {"graph (x: f32[N,3,H,W], w: f32[8,3,3,3]) { return conv(x, w) {pads=[1, 1, 1, 1]} }", "[N,8,H,W]"},
      {"graph (x: f32[N,3,H,9], w: f32[8,3,3,3]) { return conv(x, w) {strides=[2, 2]} }", "[N,8,?,4]"},
      {"graph (x: f32[N,H,9,3], w: f32[3,3,3,8]) { "
       "return conv(x, w) {layout=\"NHWC\", weights_layout=\"HWIO\", auto_pad=\"SAME_UPPER\", strides=[1, 2]} }",
       "[N,H,5,8]"},
      {"graph (x: f32[*], w: f32[8,3,3,3]) { return conv(x, w) }", "[?,8,?,?]"},
      {"graph (x: f32[N,3,8,8]) { return max_pool(x) {kernel=[2, 2], strides=[2, 2]} }", "[N,3,4,4]"},
      {"graph (x: f32[N,7], y: f32[7,5]) { return matmul(x, y) }", "[N,5]"},
      {"graph (x: f32[B,1,N,7], y: f32[4,5,7]) { return matmul(x, y) {transpose_b=true} }", "[B,4,N,5]"},
      {"graph (x: f32[*], y: f32[7,5]) { return matmul(x, y) }", "[*]"},
      {"graph (x: f32[N,3,4,5]) { return flatten(x) }", "[N,60]"},
      {"graph (x: f32[N,3,M]) { return flatten(x) }", "[N,?]"},
      {"graph (x: f32[N,3,4]) { return reshape(x, [-1, 12]) }", "[N,12]"},
      {"graph (x: f32[N,3,4]) { return reshape(x, [0, 2, -1]) }", "[N,2,6]"},
      {"graph (x: f32[N,3,4]) { return reshape(x, [-1, 6]) }", "[?,6]"},
      {"graph (x: f32[2,0,3]) { return reshape(x, [0, 0, 3]) }", "[2,0,3]"},
      {"graph (x: f32[3,4], s: s64[3]) { return reshape(x, s) }", "[?,?,?]"},
      {"graph (x: f32[0,4]) { return reshape(x, [0, 8]) {allowzero=true} }", "[0,8]"},
      {"graph (x: f32[N,3,M]) { return transpose(x, [2, 0, 1]) }", "[M,N,3]"},
      {"graph (x: f32[N,1,M]) { return squeeze(x, [1]) }", "[N,M]"},
      {"graph (x: f32[N,1,M]) { return squeeze(x) }", "[*]"},
      {"graph (x: f32[N]) { return unsqueeze(x, [-1, 0]) }", "[1,N,1]"},
      {"graph (x: f32[N,3], y: f32[N,?]) { return concat(x, y, 1) }", "[N,?]"},
      {"graph (x: f32[N,3], y: f32[2,5]) { return concat(x, y, -1) }", "[2,8]"},
      {"graph (x: f32[N,3], y: f32[0,3]) { return concat(y, x, 0) }", "[N,3]"},
      {"graph (x: f32[N,3]) { return pad(x, [0, 1, 0, 2]) }", "[N,6]"},
      {"graph (x: f32[N,3]) { return pad(x, [1, 0, 0, 0]) }", "[?,3]"},
      {"graph (x: f32[N,9]) { return slice(x, [0, 1], [9223372036854775807, 7], [0, 1], [1, 2]) }", "[N,3]"},
      {"graph (x: f32[N,9]) { return slice(x, [0], [5]) }", "[?,9]"},
      {"graph (x: f32[3,9]) { return slice(x, [-1], [-9223372036854775807], [1], [-4]) }", "[3,3]"},
      {"graph (x: f32[3,9], i: s64[N,2]) { return gather(x, i, 1) }", "[3,N,2]"},
      {"graph (x: f32[N,3,H,5]) { return resize(x, _, [1.0, 1.0, 2.0, 1.5]:f32) }", "[N,3,?,7]"},
      {"graph (x: f32[N,3]) { return reduce_mean(x, [1]), reduce_mean(x, [1]) {keepdims=false}, reduce_sum(x) }",
       "[N,1] [N] [1,1]"},
      {"graph (x: f32[N,3], a: s64[1]) { return reduce_mean(x, a), reduce_mean(x, a) {keepdims=false} }", "[?,?] [*]"},
      {"graph (x: f32[N,8,H,3]) { return depth_to_space(x) {block_size=2} }", "[N,2,?,6]"},
      {"graph (x: f32[N,?,7]) { return shape(x), shape(x) {start=-1} }", "[3] [1]"},
      {"graph (x: f32[N,?,?,4], s: f32[4], m: f32[4]) { "
       "y, a, b = batch_norm(x, s, s, m, m) {layout=\"NHWC\"} return y, a, b }",
       "[N,?,?,4] [4] [4]"},
      // TensorFlow's loops: what Merge says stays what it is.
      {"graph (x: f32[2]) { m: f32[?], i: s32[] = merge(x, n) a: f32[?] = add(m, x) n: f32[?] = "
       "next_iteration(a) "
       "return a }",
       "[2]"},
  };
  for (const ShapeCase& c : kCases) EXPECT_EQ(Outputs(Parse(c.graph)), c.shapes) << c.graph;
}

// Shapes that the graph itself computes.
TEST(ShapeInference, FollowsShapeArithmetic) {
  const ShapeCase kCases[] = {
      {"graph (x: f32[N,3,4]) { n = gather(shape(x), [0]) return reshape(x, concat(n, [-1], 0)) }", "[N,12]"},
      // An unnamed dimension is the same one as itself.
      {"graph (x: f32[?,3,4]) { n = unsqueeze(gather(shape(x), 0), [0]) return reshape(x, concat(n, [-1], 0)) }",
       "[?,12]"},
      {"graph (x: f32[N,3,4]) { c = slice(shape(x), [1], [3]) return reshape(x, concat([-1], c, 0)) }", "[N,3,4]"},
      {"graph (x: f32[N,6,4]) { c = div(gather(shape(x), [1]), [2]) "
       "return reshape(x, concat(gather(shape(x), [0]), c, [-1], 0)) }",
       "[N,3,8]"},
      {"graph (x: f32[N,M]) { n = mul(gather(shape(x), [0]), [1]) return reshape(x, concat(n, [1], [-1], 0)) }",
       "[N,1,M]"},
      // Casts over f32 and a floor, as exporters write the size of a resize.
      {"graph (x: f32[1,3,5,6]) { a: f32[2] = cast(slice(shape(x), [2], [4])) b: s64[2] = cast(floor(mul(a, "
       "[1.5]:f32))) "
       "return resize(x, _, _, concat([1, 3], b, 0)) }",
       "[1,3,7,9]"},
      // PyTorch turns the order of paddings around: two columns, backwards, transposed.
      {"graph (x: f32[N,3,8,9]) { p: s64[8] = concat([0, 1, 2, 3], [0, 0, 0, 0], 0) c = reshape(p, [-1, 2]) "
       "b = slice(c, [-1], [-9223372036854775807], [0], [-1]) return pad(x, reshape(transpose(b, [1, 0]), [-1])) }",
       "[N,3,13,10]"},
      {"graph (x: f32[15], y: f32[24]) { m = reshape(concat([1, 2, 3], [4, 5, 6], 0), [3, 2]) "
       "a = reshape(slice(m, [0], [1], [1]), [-1]) b = transpose(slice(m, [1], [-9], [0], [-1]), [-1, 0]) "
       "return reshape(x, a), reshape(y, reshape(b, [4])) }",
       "[1,3,5] [3,1,4,2]"},
  };
  for (const ShapeCase& c : kCases) EXPECT_EQ(Outputs(Parse(c.graph)), c.shapes) << c.graph;
}

TEST(ShapeInference, OpsThatStandForSeveral) {
  const ShapeCase kCases[] = {
      {"graph (x: f32[N,3], w: f32[3,5], r: f32[1,5]) { return matmul(x, w, _, r) {scale=0.5} }", "[N,5]"},
      {"graph (x: f32[?,3], w: f32[3,5], r: f32[7,5]) { return matmul(x, w, _, r) }", "[7,5]"},
      {"graph (q: f32[B,H,S,4], k: f32[B,1,T,4], v: f32[B,1,T,6], m: f32[T]) { "
       "return scaled_dot_product_attention(q, k, v, m) }",
       "[B,H,S,6]"},
      {"graph (q: f32[S,4], k: f32[4,T], v: f32[T,6]) { "
       "return scaled_dot_product_attention(q, k, v) {k_transposed=true} }",
       "[S,6]"},
      {"graph (x: f32[5], a: f32[N,1], b: f32[1,5]) { return binary_chain(x, a, b) {ops=[\"add\", \"mul\"]} }",
       "[N,5]"},
      {"graph (x: f32[N,3], a: f32[7]) { return l2_loss(x, a) }", "[]"},
  };
  for (const ShapeCase& c : kCases) EXPECT_EQ(Outputs(Parse(c.graph)), c.shapes) << c.graph;
}

TEST(ShapeInference, ErrorsNameTheNodeAndTheShapes) {
  const ShapeCase kCases[] = {
      {"graph (x: f32[2,3], y: f32[4]) { z = add(x, y) return z }", "node 'z' (add): [2,3] and [4] do not broadcast"},
      {"graph (x: f32[1,4,8,8], w: f32[8,3,3,3]) { y = conv(x, w) return y }",
       "weights [8,3,3,3] (OIHW) are for 3 channels in each of 1 groups, x [1,4,8,8] has 4"},
      {"graph (x: f32[1,3,2,8], w: f32[8,3,4,3]) { y = conv(x, w) return y }",
       "a window of 4 elements does not fit into 2"},
      {"graph (x: f32[1,3,8,8], w: f32[8,3,3,3], b: f32[7]) { y = conv(x, w, b) return y }", "bias is [7], need [8]"},
      {"graph (x: f32[1,3,8,8], w: f32[8,3,3,3], r: f32[1,8,8,8]) { y = conv(x, w, _, r) return y }",
       "residual is [1,8,8,8], need y's shape [1,8,6,6]"},
      {"graph (x: f32[1,3,8,8], w: f32[8,3,3,3]) { y = conv(x, w) {strides=[0, 1]} return y }", "'strides' is [0,1]"},
      {"graph (x: f32[2,3], w: f32[3,5], r: f32[4,5]) { y = matmul(x, w, _, r) return y }",
       "residual is [4,5], which does not broadcast to [2,5]"},
      {"graph (q: f32[2,5,4], k: f32[2,7,3], v: f32[2,7,6]) { y = scaled_dot_product_attention(q, k, v) return y }",
       "q [2,5,4], k [2,7,3] and v [2,7,6] do not multiply"},
      {"graph (q: f32[5,4], k: f32[7,4], v: f32[7,6], m: f32[7,5]) { y = scaled_dot_product_attention(q, k, v, m) "
       "return y }",
       "mask is [7,5], which does not broadcast to [5,7]"},
      {"graph (x: f32[2,3], w: f32[4,5]) { y = matmul(x, w) return y }", "3 against 4"},
      {"graph (x: f32[2,3]) { y = reshape(x, [4, -1]) return y }", "[2,3] has 6 elements: no multiple of 4"},
      {"graph (x: f32[2,3]) { y = reshape(x, [-1, -1]) return y }", "-1 twice"},
      {"graph (x: f32[2,3]) { y = reshape(x, [7]) return y }", "[2,3] has 6 elements, the shape 7"},
      {"graph (x: f32[2,3]) { y = transpose(x, [0, 0]) return y }", "axis 0 is given twice"},
      {"graph (x: f32[2,3]) { y = squeeze(x, [1]) return y }", "dimension 1 of x [2,3] is not 1"},
      {"graph (x: f32[2,3], z: f32[3,3]) { y = concat(x, z, 1) return y }", "input 1 is [3,3]"},
      {"graph (x: f32[2,3]) { y = slice(x, [0], [1], [0], [0]) return y }", "a step of 0"},
      {"graph (x: f32[2,3]) { y = gather(x, 0, 2) return y }", "axis 2 is out of range for rank 2"},
      {"graph (x: f32[1,6,2,2]) { y = depth_to_space(x) {block_size=2} return y }", "6 channels: no multiple of 4"},
  };
  for (const ShapeCase& c : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(c.graph);
    ASSERT_FALSE(graph.ok()) << c.graph;
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr(c.shapes)) << c.graph;
  }
}

TEST(ShapeInference, DeclaredShapesMustFit) {
  absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: f32[N,3]) { y: f32[2,?] = relu(x) z: f32[2,4] = relu(y) return z }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  GraphEditor edit(*graph);
  EXPECT_EQ(std::string(InferShapes(edit).message()), "value 'z' is declared [2,4], but relu makes [2,3]");
  EXPECT_EQ(graph->shape(graph->FindValue("y")).ToString(), "[2,3]");  // each side knew one dimension
}

TEST(ShapeInference, TypesFollowTheTypeVariables) {
  const Graph graph = Parse(
      "graph (x: bf16[2,3], s: f32[3], i: s32[1]) { y, m = batch_norm(x, s, s, s, s) p, d = dropout(x) "
      "return y, m, gather(x, i), shape(x), d }");
  std::vector<DataType> types;
  for (const GraphOutput& output : graph.outputs()) types.push_back(graph.type(output.value));
  EXPECT_THAT(types, ::testing::ElementsAre(DataType::kBFloat16, DataType::kFloat32, DataType::kBFloat16,
                                            DataType::kInt64, DataType::kBool));
}

TEST(ShapeValues, KnowsWholeTensors) {
  const Graph graph = Parse(
      "graph (x: f32[N,3,4]) { s: s32[3] = shape(x) c = gather(s, [1, 2]:s32) t = reduce_sum(mul(c, [2]:s32), [0]:s32) "
      "{keepdims=false} "
      "return s, t }");
  ShapeValues values(graph);
  EXPECT_FALSE(values.Known(graph.outputs()[0].value).has_value());  // N
  const std::optional<Tensor> total = values.Known(graph.outputs()[1].value);
  ASSERT_TRUE(total.has_value());
  EXPECT_TRUE(total->SameBytes(Tensor::IntScalar(14, DataType::kInt32)));
}

TEST(Specialize, BindsSymbolsAndTheBatch) {
  Graph graph = Parse(
      "graph (x: f32[N,3,H,?], z: f32[M,N], k: f32[?]) { y: f32[N,3,H,7] = relu(x) o: f32[N,?] = opaque \"Foo\" (y) "
      "return y, z, k, o }");
  GraphEditor edit(graph);
  edit.SetShape(graph.output(graph.inputs()[0]), Shape({Dim::Symbol("N"), Dim::Of(3), Dim::Symbol("H"), Dim::Of(7)}));
  const absl::Status status = Specialize(edit, {{"H", 5}, {"M", 4}}, 2);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Outputs(graph), "[2,3,5,7] [4,2] [2] [2,?]");
}

TEST(Specialize, ListsEveryFreeDimension) {
  Graph graph = Parse("graph (x: f32[N,H,?], z: f32[*]) { return x, z }");
  GraphEditor edit(graph);
  const absl::Status status = Specialize(edit, {}, 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("input 'x' dimension 1 (H), input 'x' dimension 2, input 'z' (unknown rank)"));
}

// A hostile file must not make us allocate without bounds.
TEST(ShapeInference, GrowthIsBounded) {
  std::string lists = "graph () { c0 = concat([1, 2], [1, 2], 0) ", ranks = "graph (g0: s64[2,2,2]) { ";
  for (int i = 1; i <= 40; ++i) {
    const std::string last = std::to_string(i - 1), next = std::to_string(i);
    lists += "c" + next + " = concat(c" + last + ", c" + last + ", 0) ";
    ranks += "g" + next + " = gather(g" + last + ", g" + last + ") ";
  }
  const absl::StatusOr<Graph> concats = ParseGraph(lists + "return c40 }");
  ASSERT_TRUE(concats.ok()) << concats.status();
  ShapeValues values(*concats);
  EXPECT_EQ(values.Find(concats->outputs()[0].value), nullptr);
  const absl::StatusOr<Graph> gathers = ParseGraph(ranks + "return g40 }");
  EXPECT_THAT(std::string(gathers.status().message()), HasSubstr("makes rank 257, need at most 255"));
}

// A chain as long as any real model must not need a deep stack.
TEST(ShapeValues, LongChains) {
  Graph graph;
  GraphEditor edit(graph);
  ValueId value = edit.AddConstant("", Tensor::IntScalar(0));
  const ValueId one = edit.AddConstant("", Tensor::IntScalar(1));
  for (int i = 0; i < 100000; ++i) {
    value = graph.output(edit.Add(OpKind::kAdd, "", {value, one}, {DataType::kInt64, Shape::Scalar(), ""}));
  }
  ShapeValues values(graph);
  EXPECT_THAT(values.Ints(value), ::testing::Optional(::testing::ElementsAre(100000)));
}

}  // namespace
}  // namespace halftone
