// The order of the fusing rules decides what is fused first, never what is computed.

#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/fusion/rules.h"
#include "passes/lowering/split_fused.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

constexpr char kNet[] = R"(graph onnx (x: f32[2,3,6,5]) {
  w1 = const f32[4,3,3,2]  b1 = const f32[4]  s = const f32[4]  o = const f32[4]  m = const f32[4]  v = const f32[4] uniform(0.5, 2)
  w2 = const f32[4,1,3,3]  w3 = const f32[4,4,1,1]  k = const f32[4,1,1]  t = const f32[1,4,1,1]
  a = relu(batch_norm(conv(pad(x, [0, 0, 1, 0, 0, 0, 1, 1]), w1, b1), s, o, m, v))
  d = clip(add(mul(conv(a, w2) {pads=[1, 1, 1, 1], group=4}, k), t), 0.0:f32, 6.0:f32)
  e = leaky_relu(add(batch_norm(add(conv(d, w3), k), s, o, m, v), a)) {alpha=0.1}
  f = add(conv(e, w3), conv(a, w3))
  g = reduce_mean(f, [2, 3]) {keepdims=false}  w4 = const f32[7,4]  c = const f32[7]
  y = softmax(gemm(g, w4, c) {transpose_b=true})
  return y, e2=tanh(e) })";

TEST(RuleOrder, AnyOrderGivesTheSameAnswers) {
  const absl::StatusOr<Graph> in = ParseGraph(kNet);
  ASSERT_TRUE(in.ok()) << in.status();
  const PermissiveTarget target;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Rules rules = FusionRules();
    std::shuffle(rules.begin(), rules.end(), std::mt19937(seed));
    Pipeline p("shuffled");
    p.AddFixedPoint("fuse", std::move(rules));
    p.Add<SplitFused>(GraphFormat::kOnnx);
    PassContext context{.target = target, .equivalence = {.enabled = true}};
    Graph graph = *in;
    const absl::Status status = p.Run(graph, context);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
    EXPECT_TRUE(context.notes.empty()) << context.notes[0];
  }
}

TEST(SplitFused, AnOnnxMatmulThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const absl::StatusOr<Graph> in = ParseGraph(
      "graph onnx (x: f32[4,2,3]) { w = const f32[5,3]  y = matmul(x, w) {transpose_b=true} name=\"fc\"  return y }");
  ASSERT_TRUE(in.ok()) << in.status();
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph graph = *in;
  const absl::Status status = MakeExportPipeline(GraphFormat::kOnnx).Run(graph, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("'fc'"), absl::string_view::npos);
}

}  // namespace
}  // namespace halftone
