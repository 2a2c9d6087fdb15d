// Quantized graphs as TensorFlow's ops on quantized tensors: legal, read back, and computed in integers again.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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
     R"(graph graphdef (x: f32[2,6,5,3]) {
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
     R"(graph graphdef (x: f32[1,4,4,4]) {
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
     R"(graph graphdef (x: f32[3,7]) {
  w = const f32[7,5] uniform(-1, 1)
  b = const f32[5] uniform(-1, 1)
  y = matmul(x, w, b) {activation="relu"}
  return y
})",
     {"QuantizeV2", "QuantizedMatMulWithBiasAndReluAndRequantize", "Dequantize"}},
};

void MustRun(const Pipeline& pipeline, Graph& graph) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(pipeline.Run(graph, context), absl::OkStatus());
}

// Pairs around all of it, the results included.
void Quantize(const char* text, Graph& graph) {
  const absl::StatusOr<Graph> net = ParseGraph(text);
  ASSERT_TRUE(net.ok()) << net.status();
  graph = *net;
  ValueRanges ranges;
  const std::pair<const char*, std::pair<float, float>> all[] = {{"x", {-1, 1.3f}},    {"c1", {0, 2.7f}},
                                                                 {"c2", {0, 4.3f}},    {"c3", {-5.1f, 4.3f}},
                                                                 {"p", {-5.1f, 4.3f}}, {"y", {0, 6.1f}}};
  std::set<NodeId> nodes;
  for (const auto& [name, range] : all) {
    const NodeId id = graph.FindNode(name);
    ranges.values[name].min = range.first;
    ranges.values[name].max = range.second;
    if (id.valid() && QuantizedRoleOf(graph, id) != QuantizedRole::kNone) nodes.insert(id);
  }
  Pipeline pipeline("quantize");
  pipeline.Add<InsertQuantization>(ranges, nodes,
                                   QuantizeOptions{.symmetric_activations = true, .quantize_results = true});
  pipeline.Add<RemoveDeadNodes>();
  MustRun(pipeline, graph);
  // The result, too.
  GraphEditor edit(graph);
  const ValueId y = graph.outputs()[0].value;
  Tensor zero(DataType::kUInt8, {});
  const ValueId scale = edit.AddConstant("", Tensor::Scalar(6.1f / 255)), point = edit.AddConstant("", std::move(zero));
  const NodeId q = edit.Add(OpKind::kQuantizeLinear, "", {y, scale, point}, {DataType::kUInt8, graph.shape(y), ""});
  const NodeId dq = edit.Add(OpKind::kDequantizeLinear, "result", {graph.output(q), scale, point},
                             {DataType::kFloat32, graph.shape(y), "result"});
  edit.SetGraphOutputs({{"result", graph.output(dq)}});
}

TEST(QuantizedOperators, AreLegalAndReadBack) {
  for (const NetCase& net : kNets) {
    SCOPED_TRACE(net.name);
    Graph graph;
    Quantize(net.text, graph);
    Graph lowered = graph;
    MustRun(MakeExportPipeline(GraphFormat::kGraphDef), lowered);
    const absl::StatusOr<std::string> bytes = ExportGraphDef(lowered, /*as_text=*/false, /*quantized_ops=*/true);
    ASSERT_TRUE(bytes.ok()) << bytes.status() << PrintGraph(lowered);
    tf::GraphDef def;
    ASSERT_TRUE(def.ParseFromString(*bytes));
    std::multiset<std::string> ops;
    for (const tf::NodeDef& node : def.node()) {
      if (node.op().find("uantize") != std::string::npos || node.op().starts_with("Quantize")) ops.insert(node.op());
    }
    EXPECT_EQ(ops, net.ops) << PrintGraph(lowered);
    if (const auto path = testing::SharedData("tensorflow_ops.pbtxt"); path.has_value()) {
      const auto registry = testing::ReadRegistry(*path);
      ASSERT_TRUE(registry.ok()) << registry.status();
      EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
    }
    const absl::StatusOr<Graph> read = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"result"}});
    ASSERT_TRUE(read.ok()) << read.status();
    Graph squashed = *read;
    MustRun(MakeOptimizePipeline(), squashed);
    MustRun(MakeRunPipeline(), squashed);
    for (const NodeId id : squashed.nodes()) {
      if (Info(squashed.op(id)).group != OpGroup::kContraction) continue;
      EXPECT_NE(squashed.type(squashed.output(id)), DataType::kFloat32) << PrintGraph(squashed);
      EXPECT_NE(squashed.type(squashed.input(id, 0)), DataType::kFloat32) << PrintGraph(squashed);
    }
    const std::vector<Tensor> inputs = reference::RandomInputs(graph, /*seed=*/3);
    const absl::StatusOr<std::vector<Tensor>> before = reference::EvaluateGraph(graph, inputs);
    ASSERT_TRUE(before.ok()) << before.status();
    for (const Graph* after : {&*read, const_cast<const Graph*>(&squashed)}) {
      const absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateGraph(*after, inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      // Scales may be neighbours: a number that lay between two steps may be one apart.
      EXPECT_EQ(reference::Compare((*results)[0], (*before)[0], 0, 2.1f * 6.1f / 255), "") << PrintGraph(*after);
    }
  }
}

// Zero points between the ends have no such op.
TEST(QuantizedOperators, OtherZeroPointsStayPairs) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph graphdef (x: f32[3,7]) {
    q = quantize_linear(x, 0.125:f32, 7:u8)   return y=relu(dequantize_linear(q, 0.125:f32, 7:u8)) })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::string> bytes = ExportGraphDef(*graph, /*as_text=*/true, /*quantized_ops=*/true);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_NE(bytes->find("FakeQuantWithMinMaxVars"), std::string::npos);
  EXPECT_EQ(bytes->find("QuantizeV2"), std::string::npos);
}

}  // namespace
}  // namespace halftone
