// SPDX-License-Identifier: Apache-2.0
// Quantized graphs as TensorFlow's ops on quantized tensors: legal, read back, and computed in integers again.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/simplify/passes.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

struct NetCase {
  const char* name;
  const char* text;
  std::multiset<std::string> ops;  // on quantized tensors
};

const NetCase kNets[] = {
    {"convolutions",
     R"(graph format=graphdef layout=channels_last (x: f32[2,6,5,3]) {
  w1 = const f32[3,3,3,8] uniform(-0.5, 0.5)
  b1 = const f32[8] uniform(-0.25, 0.5)
  c1 = conv(x, w1, b1) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", activation="relu"}
  w2 = const f32[3,3,8,1] uniform(-1, 1)
  c2 = conv(c1, w2) {layout="NHWC", weights_layout="HWCM", auto_pad="SAME_UPPER", group=8, strides=[2, 2], activation="relu"}
  w3 = const f32[1,1,8,4] uniform(-1, 1)
  c3 = conv(c2, w3) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID"}
  p = max_pool(c3) {layout="NHWC", kernel=[2, 2], strides=[1, 1], auto_pad="VALID"}
  w4 = const f32[1,1,4,4] uniform(-1, 1)
  y = conv(p, w4) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID", activation="relu"}
  return y
})",
     {"QuantizeV2", "QuantizedConv2DWithBiasAndReluAndRequantize",
      "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", "QuantizedConv2DAndRequantize", "QuantizedMaxPool",
      "QuantizedConv2DAndReluAndRequantize", "Dequantize"}},
    {"sums",
     R"(graph format=graphdef layout=channels_last (x: f32[1,4,4,4]) {
  w1 = const f32[1,1,4,4] uniform(-1, 1)
  c1 = conv(x, w1) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID", activation="relu"}
  w2 = const f32[3,3,4,4] uniform(-1, 1)
  b2 = const f32[4] uniform(-0.5, 0.5)
  y = conv(c1, w2, b2, c1) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", activation="relu"}
  return y
})",
     {"QuantizeV2", "QuantizedConv2DAndReluAndRequantize", "QuantizedConv2DWithBiasSumAndReluAndRequantize",
      "Dequantize"}},
    {"product",
     R"(graph format=graphdef layout=channels_last (u: f32[3,7]) {
  w = const f32[7,5] uniform(-1, 1)
  b = const f32[5] uniform(-1, 1)
  y = matmul(u, w, b) {activation="relu"}
  return y
})",
     {"QuantizeV2", "QuantizedMatMulWithBiasAndReluAndRequantize", "Dequantize"}},
    {"concat",
     R"(graph format=graphdef layout=channels_last (x: f32[1,4,4,4]) {
  w1 = const f32[1,1,4,6] uniform(-1, 1)
  c1 = conv(x, w1) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID", activation="relu"}
  w2 = const f32[3,3,4,2] uniform(-1, 1)
  c2 = conv(x, w2) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", activation="relu"}
  j = concat(c1, c2, 3)
  w4 = const f32[1,1,8,4] uniform(-1, 1)
  y = conv(j, w4) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID", activation="relu"}
  return y
})",
     {"QuantizeV2", "QuantizedConv2DAndReluAndRequantize", "QuantizedConv2DAndReluAndRequantize", "QuantizedConcatV2",
      "QuantizedConv2DAndReluAndRequantize", "Dequantize"}},
};

// Products whose result stays a number: with a bias, without one, and what their kernels do not take.
struct ProductCase {
  const char* name;
  const char* input;
  const char* text;
  bool per_channel;
  std::multiset<std::string> ops;
};

const ProductCase kProducts[] = {
    {"bias", "u", "y = matmul(u, w, b) return y", false, {"QuantizeV2", "QuantizedMatMulWithBiasAndDequantize"}},
    {"no bias", "u", "y = matmul(u, w) return y", false, {"QuantizeV2", "QuantizedMatMulWithBiasAndDequantize"}},
    {"relu",
     "u",
     "m = matmul(u, w, b) return y=relu(m)",
     false,
     {"QuantizeV2", "QuantizedMatMulWithBiasAndDequantize"}},
    {"negative numbers", "x", "y = matmul(x, w, b) return y", false, {"Dequantize"}},
    {"transposed", "u", "y = matmul(u, v, b) {transpose_b=true} return y", false, {"Dequantize"}},
    {"a range a column", "u", "y = matmul(u, w, b) return y", true, {"Dequantize"}},
};

void MustRun(const Pipeline& pipeline, Graph& graph) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(pipeline.Run(graph, context), absl::OkStatus());
}

// Pairs around what can be integers.
void QuantizeWith(const QuantizeOptions& options, const std::string& text, Graph& graph) {
  const absl::StatusOr<Graph> net = ParseGraph(text);
  ASSERT_TRUE(net.ok()) << net.status();
  graph = *net;
  ValueRanges ranges;
  const std::pair<const char*, std::pair<float, float>> all[] = {
      {"x", {-1, 1.3f}}, {"c1", {0, 2.7f}}, {"c2", {0, 4.3f}}, {"c3", {-5.1f, 4.3f}}, {"p", {-5.1f, 4.3f}},
      {"j", {0, 4.3f}},  {"u", {0, 1.3f}},  {"m", {-5, 5}},    {"y", {0, 6.1f}}};
  std::set<NodeId> nodes;
  for (const auto& [name, range] : all) {
    const NodeId id = graph.FindNode(name);
    ranges.values[name].min = range.first;
    ranges.values[name].max = range.second;
    if (id.valid() && QuantizedRoleOf(graph, id) != QuantizedRole::kNone) nodes.insert(id);
  }
  Pipeline pipeline("quantize");
  pipeline.Add<InsertQuantization>(ranges, nodes, options);
  pipeline.Add<RemoveDeadNodes>();
  MustRun(pipeline, graph);
}

// ... the results included.
void Quantize(const char* text, Graph& graph) {
  QuantizeWith({.symmetric_activations = true, .per_channel_products = false, .quantize_results = true}, text, graph);
  GraphEditor edit(graph);
  const ValueId y = graph.outputs()[0].value;
  Tensor zero(DataType::kUInt8, {});
  const ValueId scale = edit.AddConstant("", Tensor::Scalar(6.1f / 255)), point = edit.AddConstant("", std::move(zero));
  const NodeId q = edit.Add(OpKind::kQuantizeLinear, "", {y, scale, point}, {DataType::kUInt8, graph.shape(y), ""});
  const NodeId dq = edit.Add(OpKind::kDequantizeLinear, "result", {graph.output(q), scale, point},
                             {DataType::kFloat32, graph.shape(y), "result"});
  edit.SetGraphOutputs({{"result", graph.output(dq)}});
}

// The file of a graph, and its ops on quantized tensors.
void Write(Graph graph, std::string& bytes, std::multiset<std::string>& ops) {
  MustRun(MakeExportPipeline(GraphDefDialect()), graph);
  const absl::StatusOr<std::string> written = ExportGraphDef(graph, /*as_text=*/false, /*quantized_ops=*/true);
  ASSERT_TRUE(written.ok()) << written.status() << PrintGraph(graph);
  bytes = *written;
  tf::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(bytes));
  for (const tf::NodeDef& node : def.node()) {
    if (node.op().find("uantize") != std::string::npos) ops.insert(node.op());
  }
  if (const auto path = testing::SharedData("tensorflow_ops.pbtxt"); path.has_value()) {
    auto registry = testing::ReadRegistry(*path);
    ASSERT_TRUE(registry.ok()) << registry.status();
    registry->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kOneDnn));
    EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
  }
}

void ExpectSameOutputs(const Graph& before, const Graph& after, float tolerance) {
  const std::vector<Tensor> inputs = reference::RandomInputs(before, /*seed=*/3);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(before, inputs);
  const absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateGraph(after, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(reference::Compare((*results)[0], (*expected)[0], 0, tolerance), "") << PrintGraph(after);
}

TEST(QuantizedOperators, AreLegalAndReadBack) {
  for (const NetCase& net : kNets) {
    SCOPED_TRACE(net.name);
    Graph graph;
    Quantize(net.text, graph);
    std::string bytes;
    std::multiset<std::string> ops;
    Write(graph, bytes, ops);
    EXPECT_EQ(ops, net.ops) << PrintGraph(graph);
    const absl::StatusOr<Graph> read = ImportGraphDef(bytes, /*is_text=*/false, {.outputs = {"result"}});
    ASSERT_TRUE(read.ok()) << read.status();
    Graph folded = *read;
    MustRun(MakeOptimizePipeline(), folded);
    MustRun(MakeRunPipeline(), folded);
    for (const NodeId id : folded.nodes()) {
      if (Info(folded.op(id)).group != OpGroup::kContraction) continue;
      EXPECT_NE(folded.type(folded.output(id)), DataType::kFloat32) << PrintGraph(folded);
      EXPECT_NE(folded.type(folded.input(id, 0)), DataType::kFloat32) << PrintGraph(folded);
    }
    // Scales may be neighbours: a number that lay between two steps may be one apart.
    for (const Graph* after : {&*read, const_cast<const Graph*>(&folded)}) {
      ExpectSameOutputs(graph, *after, 2.1f * 6.1f / 255);
    }
  }
}

TEST(QuantizedOperators, ProductsThatStayNumbers) {
  for (const ProductCase& product : kProducts) {
    SCOPED_TRACE(product.name);
    const std::string text = Concat("graph format=graphdef layout=channels_last (", product.input, R"(: f32[3,7]) {
        w = const f32[7,5] uniform(-1, 1)
        v = const f32[5,7] uniform(-1, 1)
        b = const f32[5] uniform(-1, 1)
        )",
                                    product.text, " }");
    Graph graph;
    QuantizeWith({.symmetric_activations = true, .per_channel_products = product.per_channel}, text, graph);
    std::string bytes;
    std::multiset<std::string> ops;
    Write(graph, bytes, ops);
    EXPECT_EQ(ops, product.ops) << PrintGraph(graph);
    const absl::StatusOr<Graph> read = ImportGraphDef(bytes, /*is_text=*/false, {.outputs = {"y"}});
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectSameOutputs(graph, *read, 1.3f / 255);  // one step of u by the largest weight
  }
}

// Zero points between the ends have no such op.
TEST(QuantizedOperators, OtherZeroPointsStayPairs) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph format=graphdef layout=channels_last (x: f32[3,7]) {
    q = quantize_linear(x, 0.125:f32, 7:u8)   return y=relu(dequantize_linear(q, 0.125:f32, 7:u8)) })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::string> bytes = ExportGraphDef(*graph, /*as_text=*/true, /*quantized_ops=*/true);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_NE(bytes->find("FakeQuantWithMinMaxVars"), std::string::npos);
  EXPECT_EQ(bytes->find("QuantizeV2"), std::string::npos);
}

}  // namespace
}  // namespace halftone
