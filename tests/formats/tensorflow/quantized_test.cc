// SPDX-License-Identifier: Apache-2.0
// Quantized graphs through GraphDefs of TensorFlow's standard ops: legal, small, with bit-exact outputs.

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
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

constexpr char kNet[] = R"(graph format=graphdef layout=channels_last (x: f32[2,6,5,3]) {
  w1 = const f32[3,3,3,8] uniform(-0.5, 0.5)
  b1 = const f32[8] uniform(-0.25, 0.5)
  c1 = conv(x, w1, b1) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", activation="relu"}
  w2 = const f32[3,3,8,1] uniform(-1, 1)
  c2 = conv(c1, w2) {layout="NHWC", weights_layout="HWCM", auto_pad="SAME_UPPER", group=8}
  p = max_pool(c2) {layout="NHWC", kernel=[2, 2], strides=[2, 2], auto_pad="VALID"}
  f = reshape(p, [2, 48])
  w3 = const f32[48,5] uniform(-1, 1)
  y = matmul(f, w3)
  return y
})";

const QuantizeOptions kOptions[] = {
    {},
    {.activations = DataType::kInt8},
    {.activations = DataType::kInt8, .symmetric_activations = true, .per_channel_weights = false},
    {.quantize_results = true},
};

ValueRanges Ranges() {
  ValueRanges ranges;
  const std::pair<const char*, std::pair<float, float>> all[] = {
      {"x", {-1.0f, 1.3f}}, {"c1", {0.0f, 2.7f}}, {"c2", {-5.1f, 4.3f}}, {"f", {-5.1f, 4.3f}}, {"y", {-9.7f, 11.9f}}};
  for (const auto& [name, range] : all) {
    ranges.values[name].min = range.first;
    ranges.values[name].max = range.second;
  }
  return ranges;
}

void MustRun(const Pipeline& pipeline, Graph& graph) {
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(pipeline.Run(graph, context), absl::OkStatus());
}

// The net with pairs around all that can be integers.
void Quantize(const QuantizeOptions& options, Graph& graph) {
  const absl::StatusOr<Graph> net = ParseGraph(kNet);
  ASSERT_TRUE(net.ok()) << net.status();
  graph = *net;
  const ValueRanges ranges = Ranges();
  std::set<NodeId> nodes;
  for (const NodeId id : graph.nodes()) {
    if (QuantizedRoleOf(graph, id) != QuantizedRole::kNone) nodes.insert(id);
  }
  Pipeline pipeline("quantize");
  pipeline.Add<InsertQuantization>(ranges, nodes, options);
  pipeline.Add<RemoveDeadNodes>();
  MustRun(pipeline, graph);
}

std::multiset<std::string> OpsOf(const tf::GraphDef& def) {
  std::multiset<std::string> ops;
  for (const tf::NodeDef& node : def.node()) ops.insert(node.op());
  return ops;
}

int Count(const Graph& graph, OpKind op) {
  const std::vector<NodeId> nodes = graph.nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.op(id) == op; }));
}

int64_t LargestFloatConst(const tf::GraphDef& def) {
  int64_t largest = 0;
  for (const tf::NodeDef& node : def.node()) {
    for (const tf::AttrEntry& attr : node.attr()) {
      if (attr.key() != "value" || attr.value().tensor().dtype() != tf::DT_FLOAT) continue;
      int64_t count = 1;
      for (const auto& dim : attr.value().tensor().tensor_shape().dim()) count *= dim.size();
      largest = std::max(largest, count);
    }
  }
  return largest;
}

void ExpectSameOutputs(const Graph& before, const Graph& after) {
  const std::vector<Tensor> inputs = reference::RandomInputs(before, /*seed=*/3);
  const absl::StatusOr<std::vector<Tensor>> a = reference::EvaluateGraph(before, inputs);
  const absl::StatusOr<std::vector<Tensor>> b = reference::EvaluateGraph(after, inputs);
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  ASSERT_EQ(a->size(), b->size());
  for (size_t i = 0; i < a->size(); ++i) {
    EXPECT_TRUE((*a)[i].SameBytes((*b)[i])) << reference::Compare((*b)[i], (*a)[i], 0, 0) << "\n" << PrintGraph(after);
  }
}

void ExpectLegal(const tf::GraphDef& def) {
  const auto path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value()) return;
  const auto registry = testing::ReadRegistry(*path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
}

// Through a file and the pipelines on either side of it.
void ThroughFile(Graph graph, tf::GraphDef& def, Graph& after) {
  MustRun(MakeExportPipeline(GraphDefDialect()), graph);
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status() << "\n" << PrintGraph(graph);
  ASSERT_TRUE(def.ParseFromString(*bytes));
  const absl::StatusOr<Graph> read = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(read.ok()) << read.status();
  // Untouched, it is written as it was read.
  const absl::StatusOr<std::string> again = ExportGraphDef(*read, /*as_text=*/false);
  ASSERT_TRUE(again.ok()) << again.status();
  tf::GraphDef written;
  ASSERT_TRUE(written.ParseFromString(*again));
  EXPECT_EQ(OpsOf(written), OpsOf(def));
  after = *read;
  MustRun(MakeOptimizePipeline(), after);
}

TEST(QuantizedGraphDef, PairsAreFakeQuantAndWeightsAreBytes) {
  for (const QuantizeOptions& options : kOptions) {
    SCOPED_TRACE(std::string(DataTypeName(options.activations)) + (options.quantize_results ? ", results" : ""));
    Graph graph, after;
    tf::GraphDef def;
    Quantize(options, graph);
    ThroughFile(graph, def, after);
    ExpectLegal(def);
    const std::multiset<std::string> ops = OpsOf(def);
    EXPECT_EQ(static_cast<int>(ops.count("FakeQuantWithMinMaxVars")), Count(graph, OpKind::kQuantizeLinear));
    EXPECT_EQ(ops.count("Dequantize"), 3u);  // the weights; biases are numbers
    EXPECT_EQ(ops.count("Round"), 0u);
    EXPECT_LE(LargestFloatConst(def), 8);
    EXPECT_EQ(Count(after, OpKind::kQuantizeLinear), Count(graph, OpKind::kQuantizeLinear)) << PrintGraph(after);
    EXPECT_EQ(Count(after, OpKind::kFakeQuant), 0);
    EXPECT_EQ(Count(after, OpKind::kDequantizeRange), 0);
    ExpectSameOutputs(graph, after);
  }
}

// What is folded of the file is what is folded of the graph: as many nodes of integers.
TEST(QuantizedGraphDef, TheFileRunsInIntegers) {
  Graph graph, after;
  tf::GraphDef def;
  Quantize({}, graph);
  ThroughFile(graph, def, after);
  MustRun(MakeRunPipeline(), graph);
  MustRun(MakeRunPipeline(), after);
  EXPECT_EQ(Count(after, OpKind::kQuantizeLinear), Count(graph, OpKind::kQuantizeLinear)) << PrintGraph(after);
  EXPECT_EQ(Count(after, OpKind::kDequantizeLinear) + 1, Count(graph, OpKind::kDequantizeLinear))
      << PrintGraph(after);  // one less: the file has the bias in f32
  ExpectSameOutputs(graph, after);
}

// A quantized tensor that is also an output or another op's input is computed by float ops.
TEST(QuantizedGraphDef, QuantizedOutputsAreFloatOps) {
  for (const char* text :
       {R"(graph format=graphdef layout=channels_last (x: f32[2,5]) { return y=quantize_linear(x, 0.125:f32, 7:u8) })",
        R"(graph format=graphdef layout=channels_last (x: f32[2,5]) { return y=quantize_linear(x, 0.0625:f32) })",
        R"(graph format=graphdef layout=channels_last (x: s8[2,5]) { return y=dequantize_linear(x, 0.125:f32, 7:s8) })",
        R"(graph format=graphdef layout=channels_last (x: f32[2,5]) {
                                q = quantize_linear(x, 0.5:f32, 3:u8)
                                return y=dequantize_linear(q, 0.25:f32, 3:u8) })"}) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status() << text;
    Graph after;
    tf::GraphDef def;
    ThroughFile(*graph, def, after);
    ExpectLegal(def);
    EXPECT_EQ(OpsOf(def).count("FakeQuantWithMinMaxVars"), 0u);
    ExpectSameOutputs(*graph, after);
  }
}

// ---- A model that was trained with FakeQuant nodes.

void AddAttr(tf::NodeDef& node, const std::string& name, const tf::AttrValue& value) {
  tf::AttrEntry& entry = *node.add_attr();
  entry.set_key(name);
  *entry.mutable_value() = value;
}

tf::NodeDef& AddNode(tf::GraphDef& def, const std::string& op, const std::string& name,
                     const std::vector<std::string>& inputs, tf::DataType type = tf::DT_INVALID) {
  tf::NodeDef& node = *def.add_node();
  node.set_op(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  tf::AttrValue value;
  value.set_type(tf::DT_FLOAT);
  if (type != tf::DT_INVALID) AddAttr(node, op == "Placeholder" || op == "Const" ? "dtype" : "T", value);
  return node;
}

void AddConst(tf::GraphDef& def, const std::string& name, const std::vector<int64_t>& dims,
              const std::vector<float>& numbers) {
  tf::AttrValue value;
  value.mutable_tensor()->set_dtype(tf::DT_FLOAT);
  for (const int64_t dim : dims) value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(dim);
  for (const float number : numbers) value.mutable_tensor()->add_float_val(number);
  AddAttr(AddNode(def, "Const", name, {}, tf::DT_FLOAT), "value", value);
}

void SetBool(tf::NodeDef& node, const std::string& name) {
  tf::AttrValue value;
  value.set_b(true);
  AddAttr(node, name, value);
}

tf::GraphDef TrainedNet() {
  tf::GraphDef def;
  tf::AttrValue shape;
  for (const int64_t dim : {2, 3}) shape.mutable_shape()->add_dim()->set_size(dim);
  AddAttr(AddNode(def, "Placeholder", "x", {}, tf::DT_FLOAT), "shape", shape);
  AddConst(def, "x_low", {}, {-0.9f});
  AddConst(def, "x_high", {}, {1.1f});
  AddNode(def, "FakeQuantWithMinMaxVars", "xq", {"x", "x_low", "x_high"});
  AddConst(def, "w", {3, 2}, {0.45f, -0.25f, 1.0f, 0.75f, -0.8f, 0.3f});
  AddConst(def, "w_low", {2}, {-1.0f, -0.75f});
  AddConst(def, "w_high", {2}, {1.0f, 0.75f});
  SetBool(AddNode(def, "FakeQuantWithMinMaxVarsPerChannel", "wq", {"w", "w_low", "w_high"}), "narrow_range");
  AddNode(def, "MatMul", "m", {"xq", "wq"}, tf::DT_FLOAT);
  tf::NodeDef& args = AddNode(def, "FakeQuantWithMinMaxArgs", "y", {"m"});
  tf::AttrValue low, high;
  low.set_f(-3);
  high.set_f(2.5f);
  AddAttr(args, "min", low);
  AddAttr(args, "max", high);
  return def;
}

// TensorFlow's own words, in f64.
double FakeQuant(double x, double low, double high, double first) {
  const double scale = (high - low) / (255 - first);
  const double zero = std::clamp(std::round(first - low / scale), first, 255.0);
  return (std::clamp(std::round(x / scale) + zero, first, 255.0) - zero) * scale;
}

TEST(TrainedWithFakeQuant, IsReadAsPairs) {
  const tf::GraphDef def = TrainedNet();
  ExpectLegal(def);
  const absl::StatusOr<Graph> read = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Count(*read, OpKind::kQuantizeLinear), 3) << PrintGraph(*read);
  EXPECT_EQ(Count(*read, OpKind::kFakeQuant), 0);
  const absl::StatusOr<std::string> again = ExportGraphDef(*read, /*as_text=*/false);
  ASSERT_TRUE(again.ok()) << again.status();
  tf::GraphDef written;
  ASSERT_TRUE(written.ParseFromString(*again));
  EXPECT_EQ(OpsOf(written), OpsOf(def));
  for (int i = 0; i < def.node_size() && i < written.node_size(); ++i) {
    const auto same = std::find_if(written.node().begin(), written.node().end(),
                                   [&](const tf::NodeDef& node) { return node.name() == def.node(i).name(); });
    ASSERT_NE(same, written.node().end()) << def.node(i).name();
    EXPECT_EQ(std::vector<std::string>(same->input().begin(), same->input().end()),
              std::vector<std::string>(def.node(i).input().begin(), def.node(i).input().end()));
    EXPECT_EQ(same->attr_size(), def.node(i).attr_size()) << same->ShortDebugString();
  }

  // No number lies just between two steps.
  const std::vector<float> x = {0.33f, -2.0f, 0.7f, 0.97f, -0.41f, 5.0f};
  const std::vector<float> w = {0.45f, -0.25f, 1.0f, 0.75f, -0.8f, 0.3f};
  const double w_ends[] = {1.0, 0.75};
  const absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateGraph(*read, {Tensor::Of<float>({2, 3}, x)});
  ASSERT_TRUE(results.ok()) << results.status();
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        const double weight = FakeQuant(w[k * 2 + column], -w_ends[column], w_ends[column], 1);
        sum += FakeQuant(x[row * 3 + k], -0.9f, 1.1f, 0) * weight;
      }
      EXPECT_NEAR((*results)[0].ToFloats()[row * 2 + column], FakeQuant(sum, -3, 2.5, 0), 1e-5) << row << "," << column;
    }
  }

  Graph folded = *read;
  MustRun(MakeOptimizePipeline(), folded);
  MustRun(MakeRunPipeline(), folded);
  bool in_integers = false;
  for (const NodeId id : folded.nodes()) {
    if (folded.op(id) != OpKind::kMatMul) continue;
    in_integers =
        folded.type(folded.output(id)) == DataType::kUInt8 && folded.type(folded.input(id, 1)) == DataType::kInt8;
  }
  EXPECT_TRUE(in_integers) << PrintGraph(folded);
}

// No pair says these.
TEST(TrainedWithFakeQuant, OtherRangesKeepTheirOp) {
  const auto edit = [](const char* what) {
    tf::GraphDef def = TrainedNet();
    for (tf::NodeDef& node : *def.mutable_node()) {
      tf::AttrValue value;
      value.set_i(4);
      if (node.name() == "xq" && std::string(what) == "4 bits") AddAttr(node, "num_bits", value);
      if (node.name() == "xq" && std::string(what) == "narrow") SetBool(node, "narrow_range");
      if (node.name() != "x_low" || std::string(what) != "computed") continue;
      node.set_op("Neg");
      node.add_input("x_high");
      node.clear_attr();
      value.set_type(tf::DT_FLOAT);
      AddAttr(node, "T", value);
    }
    return def;
  };
  for (const char* what : {"4 bits", "narrow", "computed"}) {
    const absl::StatusOr<Graph> read =
        ImportGraphDef(edit(what).SerializeAsString(), /*is_text=*/false, {.outputs = {"y"}});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->op(read->FindNode("xq")), OpKind::kFakeQuant) << what;
    EXPECT_EQ(Count(*read, OpKind::kQuantizeLinear), 2) << what;
  }
}

}  // namespace
}  // namespace halftone
