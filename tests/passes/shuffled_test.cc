// SPDX-License-Identifier: Apache-2.0
// The order of the rules inside a fixed point decides what is fused first, never what is computed: every graph of the
// golden files, a network that most rules find something in, and real models, with the rules in other orders.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/dialects.h"
#include "formats/formats.h"
#include "gtest/gtest.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

constexpr uint64_t kSeeds = 32;
constexpr uint64_t kSeedsOfModels = 2;
constexpr uint64_t kInputs = 7;

constexpr char kNet[] = R"(graph format=onnx (x: f32[2,3,6,5]) {
  w1 = const f32[4,3,3,2]  b1 = const f32[4]  s = const f32[4]  o = const f32[4]  m = const f32[4]  v = const f32[4] uniform(0.5, 2)
  w2 = const f32[4,1,3,3]  w3 = const f32[4,4,1,1]  k = const f32[4,1,1]  t = const f32[1,4,1,1]
  a = relu(batch_norm(conv(pad(x, [0, 0, 1, 0, 0, 0, 1, 1]), w1, b1), s, o, m, v))
  d = clip(add(mul(conv(a, w2) {pads=[1, 1, 1, 1], group=4}, k), t), 0.0:f32, 6.0:f32)
  e = leaky_relu(add(batch_norm(add(conv(d, w3), k), s, o, m, v), a)) {alpha=0.1}
  f = add(conv(e, w3), conv(a, w3))
  g = reduce_mean(f, [2, 3]) {keepdims=false}  w4 = const f32[7,4]  c = const f32[7]
  y = softmax(gemm(g, w4, c) {transpose_b=true})
  return y, e2=tanh(e) })";

// "" if the outputs do not change when the graph is optimized with this order of the rules and split again.
std::string Problem(const Graph& in, uint64_t seed, bool each_pass) {
  const PermissiveTarget target;
  PassContext context{.target = target, .equivalence = {.enabled = each_pass, .seed = kInputs}};
  context.shuffle = seed;
  Graph graph = in;
  absl::Status status = MakeOptimizePipeline().Run(graph, context);
  if (!status.ok()) return std::string(status.message());
  const absl::StatusOr<std::string> moved = CompareOutputs(in, graph, kInputs, AllowedDifference(kRounding, in, graph));
  if (!moved.ok()) return std::string(moved.status().message());
  if (!moved->empty()) return *moved;
  status = MakeExportPipeline(FileDialectOf(in)).Run(graph, context);
  if (absl::IsUnimplemented(status)) return "";  // the format cannot say it, in whatever order
  if (!status.ok()) return std::string(status.message());
  const absl::StatusOr<std::string> lowered =
      CompareOutputs(in, graph, kInputs, AllowedDifference(kRounding, in, graph));
  return lowered.ok() ? *lowered : std::string(lowered.status().message());
}

TEST(Shuffled, ANetworkOfManyPatterns) {
  const absl::StatusOr<Graph> in = ParseGraph(kNet);
  ASSERT_TRUE(in.ok()) << in.status();
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(Problem(*in, seed, /*each_pass=*/true), "") << "seed " << seed;
}

TEST(Shuffled, EveryGraphOfTheGoldenFiles) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  EXPECT_GT(graphs->size(), 300u);
  for (const GoldenGraph& golden : *graphs) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(Problem(golden.graph, seed, /*each_pass=*/false), "") << golden.name << ", seed " << seed;
    }
  }
}

class ShuffledModels : public testing::TestWithParam<const char*> {};

TEST_P(ShuffledModels, KeepTheirOutputs) {
  const char* shared = std::getenv("HALFTONE_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "HALFTONE_SHARED is not set: no real models";
  absl::StatusOr<Graph> graph = ImportModel(std::string(shared) + "/data/models/" + GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  GraphEditor edit(*graph);
  ASSERT_TRUE(Specialize(edit, {{"N", 1}}, /*batch=*/1).ok());
  for (uint64_t seed = 0; seed < kSeedsOfModels; ++seed) {
    EXPECT_EQ(Problem(*graph, seed, /*each_pass=*/false), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, ShuffledModels,
                         testing::Values("mnist/mnist_cnn.onnx", "mnist/mnist_fc.pb", "audio/DS_CNN_S_mfcc.pb",
                                         "audio/CNN_S_mfcc.pb"));

TEST(SplitFused, AnOnnxMatmulThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const absl::StatusOr<Graph> in = ParseGraph(
      "graph format=onnx (x: f32[4,2,3], w: f32[*]) { y = matmul(x, w) {transpose_b=true} name=\"fc\"  return y }");
  ASSERT_TRUE(in.ok()) << in.status();
  const PermissiveTarget target;
  PassContext context{.target = target};
  Graph graph = *in;
  const absl::Status status = MakeExportPipeline(FileDialectOf(ModelFormat::kOnnx)).Run(graph, context);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("'fc'"), absl::string_view::npos);
}

}  // namespace
}  // namespace halftone
