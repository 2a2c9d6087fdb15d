// SPDX-License-Identifier: Apache-2.0
// What passes make of a graph, written as TensorFlow wants it.

#include "formats/tensorflow/exporter.h"

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

tf::GraphDef Export(const Graph& graph) {
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  tf::GraphDef def;
  if (bytes.ok()) {
    EXPECT_TRUE(def.ParseFromString(*bytes)) << "not a GraphDef";
  }
  return def;
}

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

const tf::NodeDef& Node(const tf::GraphDef& def, std::string_view name) {
  for (const tf::NodeDef& node : def.node()) {
    if (node.name() == name) return node;
  }
  ADD_FAILURE() << "no node '" << name << "' in\n" << def.DebugString();
  static const tf::NodeDef& none = *new tf::NodeDef;
  return none;
}

tf::AttrValue Attr(const tf::NodeDef& node, std::string_view name) {
  for (const tf::AttrEntry& entry : node.attr()) {
    if (entry.key() == name) return entry.value();
  }
  return {};
}

std::vector<int64_t> Ints(const tf::AttrValue& value) { return {value.list().i().begin(), value.list().i().end()}; }

std::vector<int32_t> IntContent(const tf::NodeDef& node) {
  const std::string bytes = Attr(node, "value").tensor().tensor_content();
  std::vector<int32_t> values(bytes.size() / 4);
  std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(values.data()));
  return values;
}

std::vector<std::string> Ops(const tf::GraphDef& def) {
  std::vector<std::string> ops;
  for (const tf::NodeDef& node : def.node()) ops.push_back(node.op());
  return ops;
}

TEST(ExportGraphDef, LoweredNodesHaveTheirTypes) {
  const tf::GraphDef def = Export(Parse(R"(graph format=graphdef layout=channels_last (x: f32[1,5,7,3]) {
    w = const bf16[3,2,3,11]
    s = const f32[11]
    x16: bf16[1,5,7,3] = cast(x)
    y: bf16[1,5,7,11] = conv "Conv2D" (x16, w) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER"}
    n: bf16[1,5,7,11], _, _ = batch_norm "FusedBatchNorm" (y, s, s, s, s) {layout="NHWC", epsilon=0.25}
    r: f32[1,5,7,11] = cast(n)
    return r
  })"));
  EXPECT_EQ(Attr(Node(def, "x16"), "SrcT").type(), tf::DT_FLOAT);
  EXPECT_EQ(Attr(Node(def, "x16"), "DstT").type(), tf::DT_BFLOAT16);
  EXPECT_EQ(Attr(Node(def, "w"), "dtype").type(), tf::DT_BFLOAT16);
  EXPECT_EQ(Attr(Node(def, "y"), "T").type(), tf::DT_BFLOAT16);
  EXPECT_THAT(Ints(Attr(Node(def, "y"), "strides")),
              ElementsAre(1, 1, 1, 1));  // required: written though it is the default
  EXPECT_EQ(Attr(Node(def, "y"), "padding").s(), "SAME");
  EXPECT_EQ(Node(def, "n").op(), "FusedBatchNormV3");  // V1 knows no bf16
  EXPECT_EQ(Attr(Node(def, "n"), "T").type(), tf::DT_BFLOAT16);
  EXPECT_EQ(Attr(Node(def, "n"), "U").type(), tf::DT_FLOAT);
  EXPECT_EQ(Attr(Node(def, "n"), "epsilon").f(), 0.25f);
  EXPECT_FALSE(Attr(Node(def, "n"), "is_training").b());
  EXPECT_TRUE(Attr(Node(def, "n"), "is_training").has_b());  // TensorFlow's default is true
}

TEST(ExportGraphDef, DequantizeReadsQuantizedTypes) {
  const tf::GraphDef def = Export(Parse(R"(graph format=graphdef (x: f32[2,2]) {
    q = const u8[2,2] {0, 1, 2, 255}
    w = dequantize_range(q, -1:f32, 1:f32)
    return y=matmul(x, w)
  })"));
  EXPECT_EQ(Attr(Node(def, "q"), "dtype").type(), tf::DT_QUINT8);
  EXPECT_EQ(Attr(Node(def, "q"), "value").tensor().dtype(), tf::DT_QUINT8);
  EXPECT_EQ(Attr(Node(def, "w"), "T").type(), tf::DT_QUINT8);
}

TEST(ExportGraphDef, TypesThatTheRegistryTiesMustAgree) {
  const Graph graph = Parse(
      "graph format=graphdef layout=channels_last (x: f32[2,3], w: f32[3,5]) { y: f32[2,5] = matmul(x, w) return y }");
  Graph mixed = graph;
  GraphEditor edit(mixed);
  edit.SetType(mixed.output(mixed.inputs()[1]), DataType::kBFloat16);
  const absl::Status status = ExportGraphDef(mixed, /*as_text=*/false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'y' (matmul): MatMul has ports of types f32 and bf16"));
}

TEST(ExportGraphDef, UnnamedConstantsGetNamesAndAttributesTheirValues) {
  const tf::GraphDef def = Export(Parse(R"(graph format=graphdef layout=channels_last (x: f32[2,1,3]) {
    s = squeeze(x, [1])
    m = reduce_mean(s, [0]:s32) {keepdims=false}
    u = unsqueeze(m, [0, 2])
    return u
  })"));
  EXPECT_THAT(Ints(Attr(Node(def, "s"), "squeeze_dims")), ElementsAre(1));
  EXPECT_EQ(Node(def, "s").input_size(), 1);
  EXPECT_EQ(Node(def, "m").input(1), "m/axes");
  EXPECT_EQ(Attr(Node(def, "m"), "Tidx").type(), tf::DT_INT32);
  EXPECT_FALSE(Attr(Node(def, "m"), "keep_dims").b());
  EXPECT_THAT(Ops(def),
              ElementsAre("Placeholder", "Squeeze", "Const", "Mean", "Const", "ExpandDims", "Const", "ExpandDims"));
}

TEST(ExportGraphDef, PadsThatAnOpCannotSayStandBeforeIt) {
  const tf::GraphDef def = Export(Parse(R"(graph format=graphdef layout=channels_last (x: f32[1,5,7,3]) {
    w = const f32[3,3,3,2]
    c = conv "Conv2D" (x, w) {layout="NHWC", weights_layout="HWIO", pads=[1, 0, 2, 3]}
    d = conv "DepthwiseConv2dNative" (x, w) {layout="NHWC", weights_layout="HWCM", group=3, pads=[1, 0, 2, 3]}
    m = max_pool(x) {layout="NHWC", kernel=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1]}
    return c, d, m
  })"));
  EXPECT_EQ(Attr(Node(def, "c"), "padding").s(), "EXPLICIT");
  EXPECT_THAT(Ints(Attr(Node(def, "c"), "explicit_paddings")), ElementsAre(0, 0, 1, 2, 0, 3, 0, 0));
  EXPECT_EQ(Attr(Node(def, "d"), "padding").s(), "VALID");
  EXPECT_EQ(Node(def, "d").input(0), "d/pad");
  EXPECT_EQ(Node(def, "d/pad").op(), "Pad");
  EXPECT_THAT(IntContent(Node(def, "d/paddings")), ElementsAre(0, 0, 1, 2, 0, 3, 0, 0));
  EXPECT_EQ(Node(def, "m/pad").op(), "PadV2");
  EXPECT_EQ(Attr(Node(def, "m/pad_value"), "value").tensor().float_val(0), -std::numeric_limits<float>::infinity());
}

TEST(ExportGraphDef, WeightsOfOnnxAreRearranged) {
  const tf::GraphDef def = Export(Parse(R"(graph (x: f32[1,2,4,4]) {
    w = const f32[2,1,1,2] {1, 2, 3, 4}
    v = const f32[3,2,1,1] {1, 2, 3, 4, 5, 6}
    a = conv(x, w) {group=2}
    b = conv(x, v)
    return a, b
  })"));
  const tf::NodeDef& a = Node(def, "a");
  EXPECT_EQ(a.op(), "DepthwiseConv2dNative");
  EXPECT_EQ(Attr(a, "data_format").s(), "NCHW");
  const tf::TensorProto depthwise = Attr(Node(def, "a/weights"), "value").tensor();
  EXPECT_THAT(depthwise.tensor_shape().ShortDebugString(),
              HasSubstr("dim { size: 1 } dim { size: 2 } dim { size: 2 } dim { size: 1 }"));
  const auto floats = [](const tf::TensorProto& proto) {
    std::vector<float> values(proto.tensor_content().size() / 4);
    std::copy_n(proto.tensor_content().data(), proto.tensor_content().size(), reinterpret_cast<char*>(values.data()));
    return values;
  };
  EXPECT_THAT(floats(depthwise), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(floats(Attr(Node(def, "b/weights"), "value").tensor()), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(ExportGraphDef, OpsThatTensorFlowSaysOtherwise) {
  const tf::GraphDef def = Export(Parse(R"(graph (x: f32[2,3,4,5], a: f32[2,3], b: f32[3,4], c: f32[4]) {
    p = clip(x, 0.0, 6.0)
    q = clip(x, -1.0, 1.0)
    g = gemm(a, b, c) {alpha=0.5, beta=2.0}
    h = global_average_pool(x)
    f = flatten(x) {axis=2}
    d = dropout(x)
    return p, q, g, h, f, d
  })"));
  EXPECT_EQ(Node(def, "p").op(), "Relu6");
  EXPECT_EQ(Node(def, "q").op(), "Maximum");
  EXPECT_EQ(Node(def, "q/minimum").op(), "Minimum");
  EXPECT_EQ(Node(def, "g").op(), "AddV2");
  EXPECT_EQ(Node(def, "h").op(), "Mean");
  EXPECT_TRUE(Attr(Node(def, "h"), "keep_dims").b());
  EXPECT_THAT(IntContent(Node(def, "h/axes")), ElementsAre(2, 3));
  EXPECT_EQ(Node(def, "f").op(), "Reshape");
  EXPECT_THAT(IntContent(Node(def, "f/shape")), ElementsAre(6, 20));
  EXPECT_EQ(Node(def, "d").op(), "Identity");
  EXPECT_GT(def.versions().producer(), 21);
}

TEST(ExportGraphDef, RefusesWhatItCannotSay) {
  const auto status = [](std::string_view text) { return ExportGraphDef(Parse(text), /*as_text=*/false).status(); };
  const absl::Status fused =
      status(R"(graph format=graphdef layout=channels_last (x: f32[2,3]) { w = const f32[3,5] b = const f32[5]
    y = matmul(x, w, b) {activation="relu"} return y })");
  EXPECT_EQ(fused.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(fused.message()), HasSubstr("node 'y'"));
  const absl::Status softmax =
      status("graph format=graphdef layout=channels_last (x: f32[2,3,4]) { y = softmax(x) {axis=1} return y }");
  EXPECT_EQ(softmax.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(softmax.message()), HasSubstr("node 'y' (softmax): a softmax along another dimension"));
  EXPECT_EQ(status("graph format=graphdef layout=channels_last (x: f32[1,3,8,8]) { y = max_pool(x) {kernel=[2,2], "
                   "ceil_mode=true} return y }")
                .code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ExportGraphDef, OutputsKeepTheirNames) {
  // A cast took the place of 'y', an output; what computed it before still stands under the name.
  Graph graph = Parse(R"(graph format=graphdef layout=channels_last (x: f32[2,3]) {
    y: f32[2,3] = relu(x)
    z: f32[2,3] = tanh(y)
    return y, "other"=z, "x2"=x
  })");
  GraphEditor edit(graph);
  const ValueId y = graph.FindValue("y");
  const NodeId cast = edit.Add(OpKind::kCast, "", {y}, {DataType::kFloat32, graph.shape(y), ""});
  edit.SetGraphOutputs({{"y", graph.output(cast)}, graph.outputs()[1], graph.outputs()[2]});
  const tf::GraphDef def = Export(graph);
  EXPECT_EQ(Node(def, "y").op(), "Cast");
  EXPECT_EQ(Node(def, "y").input(0), "y_inner");
  EXPECT_EQ(Node(def, "y_inner").op(), "Relu");
  EXPECT_EQ(Node(def, "z").input(0), "y_inner");
  EXPECT_EQ(Node(def, "other").op(), "Identity");
  EXPECT_EQ(Node(def, "other").input(0), "z");
  EXPECT_EQ(Node(def, "x2").input(0), "x");
}

TEST(ExportGraphDef, OneOfSeveralOutputsReplaced) {
  Graph graph = Parse(R"(graph format=graphdef layout=channels_last (x: f32[2,4]) {
    axis = const s32[] {1}
    "s": f32[2,2], "s:1": f32[2,2] = opaque "Split" (axis, x) extra {T=type:f32, num_split=2} name="s"
    return "s", "s:1"
  })");
  GraphEditor edit(graph);
  const ValueId second = graph.FindValue("s:1");
  const NodeId relu = edit.Add(OpKind::kRelu, "r", {second}, {DataType::kFloat32, graph.shape(second), ""});
  edit.SetGraphOutputs({graph.outputs()[0], {"s:1", graph.output(relu)}});
  const tf::GraphDef def = Export(graph);
  EXPECT_EQ(Node(def, "s").op(), "IdentityN");
  EXPECT_THAT(Node(def, "s").input(), ElementsAre("s_inner", "r"));
}

TEST(ExportGraphDef, NewNodesGetLegalUniqueNames) {
  const tf::GraphDef def = Export(Parse(R"(graph (x: f32[2,3]) {
    "a:b c" = relu(x)
    "1" = tanh("a:b c") name="x"
    "2" = tanh("1") name=""
    return "2"
  })"));
  std::set<std::string> names;
  for (const tf::NodeDef& node : def.node()) {
    EXPECT_TRUE(names.insert(node.name()).second) << node.name();
    EXPECT_EQ(node.name().find_first_of(": "), std::string::npos) << node.name();
  }
  EXPECT_TRUE(names.contains("2"));
}

TEST(ExportGraphDef, ColocationFollowsTheNodes) {
  constexpr std::string_view kText = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "v" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Relu" input: "v" attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "_class" value { list { s: "loc:@v" s: "loc:@x" } } } })";
  Graph graph = *ImportGraphDef(kText, /*is_text=*/true);
  EXPECT_THAT(Attr(Node(Export(graph), "y"), "_class").list().s(), ElementsAre("loc:@v", "loc:@x"));
  GraphEditor edit(graph);
  edit.ReplaceUses(graph.FindValue("v"), graph.FindValue("x"));
  edit.RemoveDeadNodes();
  EXPECT_THAT(Attr(Node(Export(graph), "y"), "_class").list().s(), ElementsAre("loc:@x"));
}

TEST(ExportGraphDef, AttributesOfAnotherOpAreLeftOut) {
  constexpr std::string_view kText = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "PreventGradient" input: "x" attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "message" value { s: "no" } } attr { key: "_keep" value { i: 1 } } })";
  Graph graph = *ImportGraphDef(kText, /*is_text=*/true);
  GraphEditor edit(graph);
  edit.SetOp(graph.FindNode("y"), OpKind::kRelu);
  const tf::GraphDef def = Export(graph);
  EXPECT_FALSE(Attr(Node(def, "y"), "message").has_s());
  EXPECT_EQ(Attr(Node(def, "y"), "_keep").i(), 1);
}

}  // namespace
}  // namespace halftone
