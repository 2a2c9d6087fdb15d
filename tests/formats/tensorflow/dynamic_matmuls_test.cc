// SPDX-License-Identifier: Apache-2.0
// Matmuls with dynamic quantization as TensorFlow's ops: the file is legal, and what is read back computes in int8 again.

#include <set>
#include <string>

#include "base/strings.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "passes/quantize/quantize_dynamically.h"
#include "passes/simplify/passes.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::HasSubstr;

struct MatmulCase {
  const char* name;
  const char* text;
  int matmuls;
  std::multiset<std::string> ops;  // without constants and placeholders
};

const MatmulCase kCases[] = {
    {"plain",
     "(x: f32[4,33]) { w = const f32[33,19] uniform(-1, 1)   return y=matmul(x, w) }",
     1,
     {"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "Dequantize"}},
    {"bias and relu",
     "(x: f32[4,33]) { w = const f32[33,19] uniform(-1, 1)   b = const f32[19] uniform(-1, 1)"
     "  return y=matmul(x, w, b) {activation=\"relu\"} }",
     1,
     {"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBiasAndRelu", "Dequantize"}},
    {"a bias that might overflow int32 sums",
     "(x: f32[4,33]) { w = const f32[33,19] uniform(-1, 1)   b = const f32[19] uniform(-90000, 90000)"
     "  return y=matmul(x, w, b) {activation=\"relu\"} }",
     1,
     {"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "Dequantize", "BiasAdd", "Relu"}},
    {"another activation",
     "(x: f32[4,33]) { w = const f32[33,19] uniform(-1, 1)   return y=matmul(x, w) {activation=\"tanh\"} }",
     1,
     {"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "Dequantize", "Tanh"}},
    {"two matmuls read one quantized tensor, transposed weights",
     "(x: f32[4,33]) { w = const f32[33,19] uniform(-1, 1)   v = const f32[17,33] uniform(-1, 1)"
     "  return y=matmul(x, w), z=matmul(x, v) {transpose_b=true} }",
     2,
     {"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "Dequantize", "QuantizedMatMulWithBias",
      "Dequantize"}},
    {"a batch of matrices",
     "(x: f32[2,7,33]) { w = const f32[33,19] uniform(-1, 1)   v = const f32[33,5] uniform(-1, 1)"
     "  b = const f32[19] uniform(-1, 1)   return y=matmul(x, w, b) {activation=\"relu\"}, z=matmul(x, v) }",
     2,
     {"Reshape", "Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBiasAndRelu", "Dequantize", "Reshape",
      "QuantizedMatMulWithBias", "Dequantize", "Reshape"}},
    {"a batch with dynamic dimensions",
     "(x: f32[n,m,33]) { w = const f32[33,19] uniform(-1, 1)   return y=matmul(x, w) }",
     1,
     {"Reshape", "Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMulWithBias", "Dequantize", "Shape",
      "StridedSlice", "ConcatV2", "Reshape"}},
};

void MustRun(const Pipeline& pipeline, Graph& graph) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(pipeline.Run(graph, context), absl::OkStatus());
}

int CountOf(const Graph& graph, OpKind op) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += graph.op(id) == op ? 1 : 0;
  return count;
}

// The file of a graph, and its ops but constants and placeholders.
void Write(Graph graph, std::string& bytes, std::multiset<std::string>& ops) {
  MustRun(MakeExportPipeline(GraphDefDialect()), graph);
  const absl::StatusOr<std::string> written = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(written.ok()) << written.status() << PrintGraph(graph);
  bytes = *written;
  tf::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(bytes));
  for (const tf::NodeDef& node : def.node()) {
    if (node.op() != "Const" && node.op() != "Placeholder") ops.insert(node.op());
  }
  if (const auto path = testing::SharedData("tensorflow_ops.pbtxt"); path.has_value()) {
    const auto registry = testing::ReadRegistry(*path);
    ASSERT_TRUE(registry.ok()) << registry.status();
    EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
  }
}

void ExpectSameOutputs(const Graph& before, const Graph& after, float tolerance) {
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, /*seed=*/3, tolerance);
  ASSERT_TRUE(difference.ok()) << difference.status() << PrintGraph(after);
  EXPECT_EQ(*difference, "") << PrintGraph(after);
}

void Quantize(Graph& graph, const QuantizeOptions& options) {
  std::set<NodeId> nodes;
  for (const NodeId id : graph.nodes()) {
    if (WhyNotDynamic(graph, id).empty()) nodes.insert(id);
  }
  Pipeline pipeline("quantize");
  pipeline.Add<QuantizeDynamically>(nodes, options);
  pipeline.Add<RemoveDeadNodes>();
  MustRun(pipeline, graph);
}

TEST(DynamicMatmuls, AreLegalAndReadBack) {
  for (const MatmulCase& one : kCases) {
    SCOPED_TRACE(one.name);
    const absl::StatusOr<Graph> net = ParseGraph(Concat("graph format=graphdef layout=channels_last ", one.text));
    ASSERT_TRUE(net.ok()) << net.status();
    Graph graph = *net;
    Quantize(graph, {.per_channel_dynamic = false});  // as OptionsFor has it for a GraphDef
    ASSERT_EQ(CountOf(graph, OpKind::kMatMulIntegerToFloat), one.matmuls);
    ExpectSameOutputs(*net, graph, 0.05f);
    std::string bytes;
    std::multiset<std::string> ops;
    Write(graph, bytes, ops);
    EXPECT_EQ(ops, one.ops);
    std::vector<std::string> outputs;
    for (const GraphOutput& output : graph.outputs()) outputs.push_back(output.name);
    const absl::StatusOr<Graph> read = ImportGraphDef(bytes, /*is_text=*/false, {.outputs = outputs});
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectSameOutputs(graph, *read, 1e-5f);
    Graph fused = *read;
    MustRun(MakeOptimizePipeline(), fused);
    EXPECT_EQ(CountOf(fused, OpKind::kMatMulIntegerToFloat), one.matmuls) << PrintGraph(fused);
    EXPECT_EQ(CountOf(fused, OpKind::kDynamicQuantizeLinear), 1) << PrintGraph(fused);
    EXPECT_EQ(CountOf(fused, OpKind::kReduceMax), 0) << PrintGraph(fused);
    ExpectSameOutputs(graph, fused, 1e-5f);
    std::string bytes_again;
    std::multiset<std::string> ops_again;
    Write(fused, bytes_again, ops_again);
    ops_again.erase("Identity");  // keeps the name of an output that Dequantize made
    EXPECT_EQ(ops_again, one.ops) << "written again";
  }
}

// Scales per column, and others that QuantizedMatMulWithBias does not support, are written as f32 ops. The reader makes
// an integer matmul of them again.
TEST(DynamicMatmuls, WithOtherWeightsAreWrittenInFloat) {
  for (const char* matmul :
       {"w = const s8[33,5]   ws = const f32[5] {0.5, 0.25, 0.125, 0.0625, 1}   b = const f32[5] uniform(-1, 1)"
        "   return y=matmul_integer_to_float(q, w, s, ws, z, _, b) {activation=\"relu\"}",
        "w = const s8[33,5]   return y=matmul_integer_to_float(q, w, s, 0.125:f32, z, 3:s8)"}) {
    SCOPED_TRACE(matmul);
    const absl::StatusOr<Graph> graph = ParseGraph(
        Concat("graph format=graphdef layout=channels_last (x: f32[4,33]) { q, s, z = dynamic_quantize_linear(x)   ",
               matmul, " }"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::string bytes;
    std::multiset<std::string> ops;
    Write(*graph, bytes, ops);
    EXPECT_EQ(ops.count("MatMul"), 1u);
    EXPECT_EQ(ops.count("QuantizeV2"), 1u);
    const absl::StatusOr<Graph> read = ImportGraphDef(bytes, /*is_text=*/false, {.outputs = {"y"}});
    ASSERT_TRUE(read.ok()) << read.status();
    Graph fused = *read;
    MustRun(MakeOptimizePipeline(), fused);
    ExpectSameOutputs(*graph, fused, 1e-5f);
  }
}

// uint8 weights, as quantize_graph.py writes them.
TEST(DynamicMatmuls, WithUint8WeightsAreWrittenWithoutBias) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph format=graphdef layout=channels_last (x: f32[4,33]) {
    w = const u8[33,5]   b = const f32[5] uniform(-1, 1)   q, s, z = dynamic_quantize_linear(x)
    return y=matmul_integer_to_float(q, w, s, 0.0078125:f32, z, 131:u8, b) {activation="relu"} })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::string bytes;
  std::multiset<std::string> ops, ops_again;
  Write(*graph, bytes, ops);
  EXPECT_EQ(ops, (std::multiset<std::string>{"Reshape", "Min", "Max", "QuantizeV2", "QuantizedMatMul", "Dequantize",
                                             "BiasAdd", "Relu"}));
  const absl::StatusOr<Graph> read = ImportGraphDef(bytes, /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(read.ok()) << read.status();
  Graph fused = *read;
  MustRun(MakeOptimizePipeline(), fused);
  EXPECT_EQ(CountOf(fused, OpKind::kMatMulIntegerToFloat), 1) << PrintGraph(fused);
  ExpectSameOutputs(*graph, fused, 1e-5f);
  Write(fused, bytes, ops_again);
  EXPECT_EQ(ops_again, ops);
}

TEST(DynamicMatmuls, ErrorNamesWhatIsNotRepresentable) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph format=graphdef layout=channels_last (x: f32[4,33]) {
    q, s, z = dynamic_quantize_linear(x)   return y=dequantize_linear(q, s, z), s })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status refused = ExportGraphDef(*graph, /*as_text=*/false).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is a graph output or is read by another op"));
}

}  // namespace
}  // namespace halftone
