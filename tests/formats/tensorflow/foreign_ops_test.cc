// SPDX-License-Identifier: Apache-2.0
// Internal ops in forms that we do not write: older ones, other versions' words, what a remapper made of a batch norm.
// Each is read as canonical nodes, computes what its parts compute, and is written again as it was.

#include <string>
#include <vector>

#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/formats/tensorflow/graph_difference.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

// Nodes in text: "name op input,input attr=value ...". Values: 1 (int), 0.5 (float), true, DT_..., "word", [1,2],
// ["a"], [DT_...]. A Const has a seeded value of dims=[...], or is paddings=[...].
std::string ValueText(const std::string& text) {
  const auto quoted = [](const std::string& item) { return item.starts_with('"'); };
  const auto field = [&](const std::string& item) {
    if (quoted(item)) return std::string("s: ");
    if (item.starts_with("DT_")) return std::string("type: ");
    if (item == "true" || item == "false") return std::string("b: ");
    return std::string(item.find('.') == std::string::npos ? "i: " : "f: ");
  };
  if (!text.starts_with('[')) return field(text) + text;
  std::string list, item;
  for (const char c : text.substr(1)) {
    if (c != ',' && c != ']') {
      item += c;
    } else if (!item.empty()) {
      list += field(item) + item + " ";
      item.clear();
    }
  }
  return "list { " + list + "}";
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == separator && depth == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

// Of a seeded value.
std::string TensorText(const std::string& name, const std::vector<std::string>& dims) {
  std::string shape, values;
  int64_t count = 1;
  for (const std::string& dim : dims) {
    shape += "dim { size: " + dim + " } ";
    count *= std::stoll(dim);
  }
  unsigned state = static_cast<unsigned>(std::hash<std::string>()(name)) | 1u;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values += "float_val: " + std::to_string(0.25 + static_cast<double>(state >> 8) / (1 << 24)) + " ";
  }
  return shape + "} " + values;
}

tf::GraphDef Graphdef(const std::vector<std::string>& nodes) {
  std::string text = "versions { producer: 134 } ";
  for (const std::string& line : nodes) {
    const std::vector<std::string> words = SplitAt(line, ' ');
    text += "node { name: \"" + words[0] + "\" op: \"" + words[1] + "\" ";
    for (size_t i = 2; i < words.size(); ++i) {
      const size_t equals = words[i].find('=');
      if (equals == std::string::npos) {
        for (const std::string& input : SplitAt(words[i], ',')) text += "input: \"" + input + "\" ";
        continue;
      }
      const std::string key = words[i].substr(0, equals), value = words[i].substr(equals + 1);
      const std::vector<std::string> list =
          value.starts_with('[') ? SplitAt(value.substr(1, value.size() - 2), ',') : std::vector<std::string>();
      if (words[1] == "Const" && key == "dims") {
        text +=
            "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT "
            "tensor_shape { " +
            TensorText(words[0], list) + "} } } ";
      } else if (words[1] == "Const" && key == "paddings") {
        text +=
            "attr { key: \"dtype\" value { type: DT_INT32 } } attr { key: \"value\" value { tensor { dtype: DT_INT32 "
            "tensor_shape { dim { size: " +
            std::to_string(list.size() / 2) + " } dim { size: 2 } } ";
        for (const std::string& number : list) text += "int_val: " + number + " ";
        text += "} } } ";
      } else if (key == "shape") {
        text += "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape { ";
        for (const std::string& dim : list) text += "dim { size: " + dim + " } ";
        text += "} } } ";
      } else {
        text += "attr { key: \"" + key + "\" value { " + ValueText(value) + " } } ";
      }
    }
    text += "} ";
  }
  tf::GraphDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def)) << text;
  return def;
}

std::vector<Tensor> Outputs(const Graph& graph) {
  const auto outputs = reference::EvaluateGraph(graph, reference::RandomInputs(graph, /*seed=*/3));
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *outputs : std::vector<Tensor>();
}

void ExpectSameOutputs(const Graph& graph, const std::vector<Tensor>& expected) {
  const std::vector<Tensor> outputs = Outputs(graph);
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(expected.size(), 1u);
  EXPECT_EQ(reference::Compare(outputs[0], expected[0], 1e-5f, 1e-5f), "");
}

Graph Imported(const tf::GraphDef& def) {
  const absl::StatusOr<Graph> graph = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false, {{"y"}});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

// `fused` is read as supported ops, has the outputs of `parts`, is written unchanged, and is portable after the pipeline.
// With `same_file` false, only its op is: with new constants.
void ExpectSame(const std::vector<std::string>& fused, const std::vector<std::string>& parts, bool same_file = true) {
  const tf::GraphDef def = Graphdef(fused);
  const Graph graph = Imported(def);
  for (const NodeId id : graph.nodes()) EXPECT_NE(graph.op(id), OpKind::kOpaque) << graph.Label(id);
  const std::vector<Tensor> expected = Outputs(Imported(Graphdef(parts)));
  ExpectSameOutputs(graph, expected);

  const absl::StatusOr<std::string> again = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << PrintGraph(graph);
  tf::GraphDef written;
  ASSERT_TRUE(written.ParseFromString(*again));
  if (same_file) {
    EXPECT_EQ(Difference(def, written), "");
  }
  EXPECT_EQ(written.node(written.node_size() - 1).op(), def.node(def.node_size() - 1).op());

  Graph portable = graph;
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(MakeExportPipeline(GraphDefDialect()).Run(portable, context), absl::OkStatus());
  const absl::StatusOr<std::string> split = ExportGraphDef(portable, /*as_text=*/false);
  ASSERT_TRUE(split.ok()) << split.status() << "\n" << PrintGraph(portable);
  ASSERT_TRUE(written.ParseFromString(*split));
  for (const tf::NodeDef& node : written.node()) {
    EXPECT_FALSE(IsFusedTensorFlowOp(node.op())) << node.name() << " is a " << node.op();
  }
  ExpectSameOutputs(Imported(written), expected);
}

// `nodes` are read as supported ops, have the outputs of the graph `parts`, which has the same inputs, and are written
// unchanged.
void ExpectParts(const std::vector<std::string>& nodes, const std::string& parts) {
  const tf::GraphDef def = Graphdef(nodes);
  const Graph graph = Imported(def);
  for (const NodeId id : graph.nodes()) EXPECT_NE(graph.op(id), OpKind::kOpaque) << graph.Label(id);
  const auto expected_graph = ParseGraph(parts);
  ASSERT_TRUE(expected_graph.ok()) << expected_graph.status();
  ExpectSameOutputs(graph, Outputs(*expected_graph));
  const absl::StatusOr<std::string> again = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(again.ok()) << again.status();
  tf::GraphDef written;
  ASSERT_TRUE(written.ParseFromString(*again));
  EXPECT_EQ(Difference(def, written), "");
}

const char kX[] = "x Placeholder shape=[2,5,7,3]";
const char kW[] = "w Const dims=[3,2,3,5]";
const char kB[] = "b Const dims=[5]";
const char kConv[] = "c Conv2D x,w T=DT_FLOAT strides=[1,1,1,1] padding=\"VALID\"";

TEST(ForeignOps, AFusedConvFromBeforeItsNewerForm) {
  ExpectSame({kX, kW, kB,
              "y _FusedConv2D x,w,b T=DT_FLOAT strides=[1,1,1,1] padding=\"VALID\" num_args=1 "
              "fused_ops=[\"BiasAdd\",\"Relu\"] epsilon=0.0001"},
             {kX, kW, kB, kConv, "d BiasAdd c,b T=DT_FLOAT", "y Relu d T=DT_FLOAT"});
}

TEST(ForeignOps, WordsOfOtherVersions) {
  for (const std::string word : {"_MklSwish", "_FusedSwish", "Swish"}) {
    SCOPED_TRACE(word);
    ExpectSame({kX, kW, kB,
                "y _FusedConv2D x,w,b T=DT_FLOAT TArgs=[DT_FLOAT] num_host_args=0 num_args=1 strides=[1,1,1,1] "
                "padding=\"VALID\" fused_ops=[\"BiasAdd\",\"" +
                    word + "\"]"},
               {kX, kW, kB, kConv, "d BiasAdd c,b T=DT_FLOAT", "s Sigmoid d T=DT_FLOAT", "y Mul d,s T=DT_FLOAT"});
  }
}

TEST(ForeignOps, ABatchNormBehindAConv) {
  const std::vector<std::string> constants = {"s Const dims=[5]", "o Const dims=[5]", "m Const dims=[5]",
                                              "v Const dims=[5]"};
  for (const std::string form : {"", "TArgs=[DT_FLOAT,DT_FLOAT,DT_FLOAT,DT_FLOAT] num_host_args=0 "}) {
    std::vector<std::string> fused = {kX, kW}, parts = {kX, kW};
    fused.insert(fused.end(), constants.begin(), constants.end());
    parts.insert(parts.end(), constants.begin(), constants.end());
    fused.push_back(
        "y _FusedConv2D x,w,s,o,m,v T=DT_FLOAT " + form +
        "num_args=4 strides=[1,1,1,1] padding=\"VALID\" fused_ops=[\"FusedBatchNorm\",\"Relu\"] epsilon=0.01");
    parts.insert(parts.end(),
                 {kConv, "n FusedBatchNormV3 c,s,o,m,v T=DT_FLOAT U=DT_FLOAT epsilon=0.01 is_training=false",
                  "y Relu n T=DT_FLOAT"});
    ExpectSame(fused, parts);
  }
}

TEST(ForeignOps, APadBeforeAConv) {
  const std::string pads = "p Const paddings=[0,0,1,0,2,1,0,0]";
  const char pad[] = "q Pad x,p T=DT_FLOAT Tpaddings=DT_INT32";
  const char conv[] = "c Conv2D q,w T=DT_FLOAT strides=[1,1,1,1] padding=\"VALID\"";
  ExpectSame({kX, kW, kB, pads,
              "y _ITEXPadWithFusedConv2D x,w,b,p T=DT_FLOAT Tpaddings=DT_INT32 num_args=1 strides=[1,1,1,1] "
              "padding=\"VALID\" fused_ops=[\"BiasAdd\",\"LeakyRelu\"] leakyrelu_alpha=0.125"},
             {kX, kW, kB, pads, pad, conv, "d BiasAdd c,b T=DT_FLOAT", "y LeakyRelu d T=DT_FLOAT alpha=0.125"},
             /*same_file=*/false);
  // Of the channels, too: no pads of a convolution.
  const std::string all = "p Const paddings=[0,0,1,0,2,1,1,1]";
  const char wide[] = "w Const dims=[3,2,5,4]";
  ExpectSame(
      {kX, wide, all, "y _ITEXPadWithConv2D x,w,p T=DT_FLOAT Tpaddings=DT_INT32 strides=[1,1,1,1] padding=\"VALID\""},
      {kX, wide, all, pad, "y Conv2D q,w T=DT_FLOAT strides=[1,1,1,1] padding=\"VALID\""});
}

TEST(ForeignOps, AnAttention) {
  ExpectParts(
      {"q Placeholder shape=[2,3,5,4]", "k Placeholder shape=[2,3,7,4]", "v Placeholder shape=[2,3,7,4]",
       "m Placeholder shape=[2,1,5,7]",
       "y ScaledDotProductAttentionInference q,k,v,m T=DT_FLOAT use_mask=true use_causal=false is_inference=true"},
      "graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,7,4], v: f32[2,3,7,4], m: f32[2,1,5,7]) "
      "{ half = const f32[] {0.5} "
      "s = matmul(q, k) {transpose_b=true} d = mul(s, half) e = add(d, m) p = softmax(e) o = matmul(p, v) "
      "perm = const s32[4] {0, 2, 1, 3} y = transpose(o, perm) name=\"y\" return y }");
}

// How many nodes of this op the optimizer leaves; it must not change the outputs.
int NodesWhenOptimized(const std::vector<std::string>& nodes, OpKind op) {
  Graph graph = Imported(Graphdef(nodes));
  const std::vector<Tensor> expected = Outputs(graph);
  const PermissiveTarget target;
  PassContext context{.target = target};
  EXPECT_EQ(MakeOptimizePipeline().Run(graph, context), absl::OkStatus());
  ExpectSameOutputs(graph, expected);
  int count = 0;
  for (const NodeId id : graph.nodes()) count += graph.op(id) == op ? 1 : 0;
  return count;
}

TEST(BlockCells, GruBlockCell) {
  const std::string parts =
      "graph format=graphdef layout=channels_last (x: f32[2,3], h: f32[2,4], w: f32[7,8], v: f32[7,4], b: f32[8], d: "
      "f32[4]) { "
      "r, u = split(sigmoid(add(matmul(concat(x, h, 1:s32), w), b)), _, 1:s32) "
      "c = tanh(add(matmul(concat(x, mul(r, h), 1:s32), v), d)) "
      "return y=";
  const auto cell = [](const std::string& y) {
    return std::vector<std::string>{"x Placeholder shape=[2,3]",
                                    "h Placeholder shape=[2,4]",
                                    "w Placeholder shape=[7,8]",
                                    "v Placeholder shape=[7,4]",
                                    "b Placeholder shape=[8]",
                                    "d Placeholder shape=[4]",
                                    "g GRUBlockCell x,h,w,v,b,d T=DT_FLOAT",
                                    y};
  };
  ExpectParts(cell("y Identity g:3 T=DT_FLOAT"), parts + "add(mul(u, h), mul(sub(1.0:f32, u), c)) }");
  ExpectParts(cell("y Sub g:1,g T=DT_FLOAT"), parts + "sub(u, r) }");
  ExpectParts(cell("y Identity g:2 T=DT_FLOAT"), parts + "c }");

  std::vector<std::string> nodes = cell("y Identity g:3 T=DT_FLOAT");
  nodes[2] = "w Const dims=[7,8]";
  nodes[3] = "v Const dims=[7,4]";
  nodes[4] = "b Const dims=[8]";
  nodes[5] = "d Const dims=[4]";
  EXPECT_EQ(NodesWhenOptimized(nodes, OpKind::kGru), 1);
  EXPECT_EQ(NodesWhenOptimized(nodes, OpKind::kCall), 0);
}

TEST(BlockCells, GruBlockCellWithTheResetGateBehindTheProductIsNotRead) {
  const Graph graph =
      Imported(Graphdef({"x Placeholder shape=[2,3]", "h Placeholder shape=[2,4]", "w Placeholder shape=[7,8]",
                         "v Placeholder shape=[7,4]", "b Placeholder shape=[8]", "d Placeholder shape=[8]",
                         "g GRUBlockCell x,h,w,v,b,d T=DT_FLOAT lbr=true", "y Identity g:3 T=DT_FLOAT"}));
  int opaque = 0;
  for (const NodeId id : graph.nodes()) opaque += graph.op(id) == OpKind::kOpaque ? 1 : 0;
  EXPECT_EQ(opaque, 1);
}

TEST(BlockCells, LstmBlockCell) {
  const std::string begin =
      "graph format=graphdef layout=channels_last (x: f32[2,3], s: f32[2,4], h: f32[2,4], w: f32[7,16], p: f32[4], q: "
      "f32[4], r: f32[4], b: "
      "f32[16]) { "
      "i, j, f, o = split(add(matmul(concat(x, h, 1:s32), w), b), _, 1:s32) ";
  const auto cell = [](const std::string& attributes) {
    return std::vector<std::string>{"x Placeholder shape=[2,3]",
                                    "s Placeholder shape=[2,4]",
                                    "h Placeholder shape=[2,4]",
                                    "w Placeholder shape=[7,16]",
                                    "p Placeholder shape=[4]",
                                    "q Placeholder shape=[4]",
                                    "r Placeholder shape=[4]",
                                    "b Placeholder shape=[16]",
                                    "c LSTMBlockCell x,s,h,w,p,q,r,b T=DT_FLOAT" + attributes,
                                    "y Sub c:6,c:1 T=DT_FLOAT"};
  };
  // The defaults: a forget bias of 1, a clip at 3.
  ExpectParts(cell(""),
              begin +
                  "c = clip(add(mul(sigmoid(i), tanh(j)), mul(s, sigmoid(add(f, 1.0:f32)))), -3.0:f32, 3.0:f32) "
                  "return y=sub(mul(tanh(c), sigmoid(o)), c) }");
  ExpectParts(cell(" forget_bias=0.5 cell_clip=-1.0 use_peephole=true"),
              begin +
                  "c = add(mul(sigmoid(add(i, mul(s, p))), tanh(j)), mul(s, sigmoid(add(add(f, 0.5:f32), mul(s, q))))) "
                  "return y=sub(mul(tanh(c), sigmoid(add(o, mul(c, r)))), c) }");

  std::vector<std::string> nodes = cell(" cell_clip=-1.0");
  nodes[3] = "w Const dims=[7,16]";
  nodes[7] = "b Const dims=[16]";
  EXPECT_EQ(NodesWhenOptimized(nodes, OpKind::kLstm), 1);
  nodes[8] += " use_peephole=true";  // no rule yet: its parts run
  EXPECT_EQ(NodesWhenOptimized(nodes, OpKind::kLstm), 0);
}

}  // namespace
}  // namespace halftone
