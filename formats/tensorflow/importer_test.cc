// SPDX-License-Identifier: Apache-2.0
// Small GraphDefs in text form: what each op becomes, and that it is written again as it was read.

#include "formats/tensorflow/importer.h"

#include <string>
#include <string_view>

#include "base/strings.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kInput = R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 5 } dim { size: 7 } dim { size: 3 } } } } })";

std::string FloatConst(std::string_view name, std::string_view shape) {
  return Concat("node { name: '", name,
                "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value {",
                "tensor { dtype: DT_FLOAT tensor_shape {", shape, "} float_val: 0.5 } } } }");
}

std::string IntConst(std::string_view name, std::string_view values, int count) {
  return Concat("node { name: '", name,
                "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value {",
                "tensor { dtype: DT_INT32 tensor_shape { dim { size: ", count, " } } ", values, " } } } }");
}

constexpr std::string_view kFloat = "attr { key: 'T' value { type: DT_FLOAT } }";

std::string Canonical(std::string_view text) {
  tf::GraphDef graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &graph)) << text;
  std::string printed;
  for (tf::NodeDef& node : *graph.mutable_node()) {
    std::sort(node.mutable_attr()->begin(), node.mutable_attr()->end(),
              [](const auto& a, const auto& b) { return a.key() < b.key(); });
  }
  google::protobuf::TextFormat::PrintToString(graph, &printed);
  return printed;
}

// The graph, which must be written again as it was read.
Graph Import(std::string_view text, const GraphDefOptions& options = {}) {
  absl::StatusOr<Graph> graph = ImportGraphDef(text, /*is_text=*/true, options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return Graph();
  const absl::StatusOr<std::string> back = ExportGraphDef(*graph, /*as_text=*/true);
  EXPECT_TRUE(back.ok()) << back.status();
  if (back.ok()) {
    EXPECT_EQ(*back, Canonical(text));
  }
  return *std::move(graph);
}

const Node& NodeOf(const Graph& graph, std::string_view name) {
  const NodeId id = graph.FindNode(name);
  EXPECT_TRUE(id.valid()) << name;
  return graph.node(id);
}

TEST(ImportGraphDef, TextUnderABinaryName) {
  const std::string text = Concat(kInput, "node { name: 'y' op: 'Relu' input: 'x'", kFloat, "}");
  const absl::StatusOr<Graph> graph = ImportGraphDef(text, /*is_text=*/false, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->FindNode("y").valid());
  const absl::Status wrong = ImportGraphDef("node { nmae: 'x' }", /*is_text=*/false, {}).status();
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("not a GraphDef in text form: line 1"));
}

TEST(ImportGraphDef, Conv2D) {
  const Graph graph =
      Import(Concat(kInput, FloatConst("w", "dim { size: 3 } dim { size: 2 } dim { size: 3 } dim { size: 11 }"),
                    "node { name: 'y' op: 'Conv2D' input: 'x' input: 'w' device: '/cpu:0'", kFloat, R"(
    attr { key: 'strides' value { list { i: 1 i: 2 i: 3 i: 1 } } } attr { key: 'dilations' value { list { i: 1 i: 1 i: 2 i: 1 } } }
    attr { key: 'padding' value { s: 'EXPLICIT' } } attr { key: 'use_cudnn_on_gpu' value { b: true } }
    attr { key: 'explicit_paddings' value { list { i: 0 i: 0 i: 1 i: 2 i: 3 i: 4 i: 0 i: 0 } } } })"));
  const Node& conv = NodeOf(graph, "y");
  EXPECT_EQ(conv.op, OpKind::kConv);
  EXPECT_EQ(conv.spelling, "Conv2D");
  EXPECT_EQ(conv.device, "/cpu:0");
  EXPECT_EQ(conv.attributes.String("layout", ""), "NHWC");  // written out: the canonical default is another
  EXPECT_EQ(conv.attributes.String("weights_layout", ""), "HWIO");
  EXPECT_THAT(conv.attributes.Ints("strides"), ElementsAre(2, 3));
  EXPECT_THAT(conv.attributes.Ints("dilations"), ElementsAre(1, 2));
  EXPECT_THAT(conv.attributes.Ints("pads"), ElementsAre(1, 3, 2, 4));  // begins, then ends
  EXPECT_FALSE(conv.attributes.has("auto_pad"));
  EXPECT_TRUE(conv.extra.Bool("use_cudnn_on_gpu", false));
  EXPECT_EQ(graph.type(conv.outputs[0]), DataType::kFloat32);
  ASSERT_EQ(graph.outputs().size(), 1u);
  EXPECT_EQ(graph.outputs()[0].name, "y");
}

TEST(ImportGraphDef, DepthwiseConvolutionKnowsItsGroupsThroughIdentity) {
  const Graph graph =
      Import(Concat(kInput, FloatConst("w", "dim { size: 3 } dim { size: 2 } dim { size: 3 } dim { size: 2 }"),
                    "node { name: 'r' op: 'Identity' input: 'w'", kFloat, "}",
                    "node { name: 'y' op: 'DepthwiseConv2dNative' input: 'x' input: 'r'", kFloat, R"(
    attr { key: 'strides' value { list { i: 1 i: 1 i: 2 i: 2 } } } attr { key: 'data_format' value { s: 'NCHW' } }
    attr { key: 'padding' value { s: 'SAME' } } })"));
  const Node& conv = NodeOf(graph, "y");
  EXPECT_EQ(conv.attributes.String("weights_layout", ""), "HWCM");
  EXPECT_EQ(conv.attributes.String("layout", ""), "NCHW");
  EXPECT_EQ(conv.attributes.String("auto_pad", ""), "SAME_UPPER");
  EXPECT_EQ(conv.attributes.Int("group", 0), 3);
  EXPECT_THAT(conv.attributes.Ints("strides"), ElementsAre(2, 2));
}

TEST(ImportGraphDef, AbsentAttributesMeanTensorFlowsDefaultsAndStayAbsent) {
  const Graph graph = Import(Concat(kInput, FloatConst("s", "dim { size: 3 }"), IntConst("axes", "int_val: [1, 2]", 2),
                                    "node { name: 'leaky' op: 'LeakyRelu' input: 'x' }",
                                    "node { name: 'bn' op: 'FusedBatchNormV3' input: ['leaky', 's', 's', 's', 's']",
                                    kFloat, "attr { key: 'U' value { type: DT_FLOAT } } }",
                                    "node { name: 'mean' op: 'Mean' input: 'bn' input: 'axes'", kFloat, "}"));
  EXPECT_EQ(NodeOf(graph, "leaky").attributes.Float("alpha", 0), 0.2f);
  const Node& norm = NodeOf(graph, "bn");
  EXPECT_EQ(norm.attributes.Float("epsilon", 0), 1e-4f);
  EXPECT_TRUE(norm.attributes.Bool("is_training", false));
  EXPECT_EQ(norm.outputs.size(), 6u);
  EXPECT_FALSE(NodeOf(graph, "mean").attributes.Bool("keepdims", true));
}

TEST(ImportGraphDef, SqueezeDimsBecomeAConstantAndBack) {
  const Graph graph = Import(Concat(kInput, "node { name: 'y' op: 'Squeeze' input: 'x'", kFloat,
                                    "attr { key: 'squeeze_dims' value { list { i: 1 i: -2 } } } }",
                                    "node { name: 'z' op: 'Squeeze' input: 'x'", kFloat,
                                    "attr { key: 'squeeze_dims' value { list { } } } }",
                                    "node { name: 'w' op: 'Squeeze' input: 'x'", kFloat, "}"));
  EXPECT_THAT(*graph.ConstantInts(graph.input(graph.FindNode("y"), 1)), ElementsAre(1, -2));
  EXPECT_EQ(NodeOf(graph, "z").inputs.size(), 1u);
  EXPECT_EQ(NodeOf(graph, "w").inputs.size(), 1u);
}

TEST(ImportGraphDef, ConcatWithTheAxisInFront) {
  const Graph graph = Import(Concat(kInput,
                                    "node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } "
                                    "attr { key: 'value' value { tensor {",
                                    "dtype: DT_INT32 tensor_shape { } int_val: 3 } } } }",
                                    "node { name: 'y' op: 'Concat' input: ['axis', 'x', 'x'] ", kFloat,
                                    "attr { key: 'N' value { i: 2 } } }"));
  const Node& concat = NodeOf(graph, "y");
  EXPECT_EQ(concat.op, OpKind::kConcat);
  EXPECT_EQ(graph.producer_node(concat.inputs[2]).name, "axis");
}

TEST(ImportGraphDef, SizesOfASliceBecomeItsEnds) {
  const std::string sizes = IntConst("size", "int_val: [1, 2, 3, 3]", 4);
  const std::string slice = Concat("node { name: 'y' op: 'Slice' input: ['x', 'begin', 'size']", kFloat,
                                   "attr { key: 'Index' value { type: DT_INT32 } } }");
  EXPECT_EQ(NodeOf(Import(Concat(kInput, IntConst("begin", "int_val: 0", 4), sizes, slice)), "y").op, OpKind::kSlice);
  const Graph graph = Import(Concat(kInput, IntConst("begin", "int_val: [0, 1, 0, 0]", 4), sizes, slice));
  EXPECT_EQ(NodeOf(graph, "y").op, OpKind::kSlice);
  EXPECT_EQ(graph.op(graph.input(graph.FindNode("y"), 2)), OpKind::kAdd);
}

TEST(ImportGraphDef, StridedSliceWithoutMasks) {
  const std::string_view consts = "Index' value { type: DT_INT32 } }";
  const auto slice = [&](std::string_view masks) {
    return Concat(kInput, IntConst("b", "int_val: [0, 1]", 2), IntConst("e", "int_val: [2, -1]", 2),
                  IntConst("s", "int_val: [1, 2]", 2),
                  "node { name: 'y' op: 'StridedSlice' input: ['x', 'b', 'e', 's']", kFloat, "attr { key: '", consts,
                  masks, "}");
  };
  const Graph graph = Import(slice("attr { key: 'begin_mask' value { i: 0 } }"));
  const Node& node = NodeOf(graph, "y");
  EXPECT_EQ(node.op, OpKind::kSlice);
  ASSERT_EQ(node.inputs.size(), 5u);
  EXPECT_EQ(node.inputs[3], kNoValue);
  const Graph masked = Import(slice("attr { key: 'shrink_axis_mask' value { i: 1 } }"));
  EXPECT_EQ(NodeOf(masked, "y").op, OpKind::kStridedSlice);
  EXPECT_EQ(NodeOf(masked, "y").attributes.Int("shrink_axis_mask", 0), 1);
}

TEST(ImportGraphDef, WhatTheTableDoesNotSayIsOpaque) {
  const Graph graph =
      Import(Concat(kInput, "node { name: 'split' op: 'Bincount' input: ['x', 'x', 'x']", kFloat, "}",
                    "node { name: 'tops' op: 'FractionalMaxPool' input: 'x'", kFloat, "}",
                    "node { name: 'own' op: 'MyOp' input: ['tops:2', 'x', '^split'] attr { key: 'f' value { func { "
                    "name: 'g' attr { key: 'k' ",
                    "value { i: 7 } } } } } attr { key: '_output_shapes' value { list { shape { unknown_rank: true } "
                    "shape { dim { size: -1 } } } } } }",
                    "node { name: 'r' op: 'Relu' input: 'own:1'", kFloat, "}",
                    "node { name: 'q' op: 'Cast' input: 'x' attr { key: 'SrcT' value { type: DT_FLOAT } } attr { key: "
                    "'DstT' value { type: DT_FLOAT8_E5M2 } } }"));
  const Node& split = NodeOf(graph, "split");
  EXPECT_EQ(split.op, OpKind::kOpaque);
  EXPECT_EQ(split.spelling, "Bincount");
  ASSERT_EQ(NodeOf(graph, "tops").outputs.size(), 3u);
  EXPECT_EQ(graph.type(NodeOf(graph, "tops").outputs[2]), DataType::kInt64);
  const Node& own = NodeOf(graph, "own");
  EXPECT_EQ(own.outputs.size(), 2u);                          // as many as are read
  EXPECT_EQ(graph.type(own.outputs[1]), DataType::kFloat32);  // r says so
  EXPECT_EQ(graph.type(own.outputs[0]), DataType::kUnknown);
  EXPECT_EQ(own.control_inputs.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<RawBytes>(*own.extra.find("f")));
  EXPECT_TRUE(std::holds_alternative<std::vector<Shape>>(*own.extra.find("_output_shapes")));
  EXPECT_EQ(NodeOf(graph, "q").op, OpKind::kOpaque);
}

TEST(ImportGraphDef, LoopsCloseThroughNextIteration) {
  const Graph graph = Import(Concat(
      kInput,
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'value' value { tensor {",
      "dtype: DT_BOOL tensor_shape { } bool_val: true } } } }", "node { name: 'e' op: 'Enter' input: 'x'", kFloat,
      "attr { key: 'frame_name' value { s: 'loop' } } }", "node { name: 'm' op: 'Merge' input: ['e', 'n']", kFloat,
      "attr { key: 'N' value { i: 2 } } }", "node { name: 'l' op: 'LoopCond' input: 'c' }",
      "node { name: 's' op: 'Switch' input: ['m', 'l']", kFloat, "}", "node { name: 'r' op: 'Relu' input: 's:1'",
      kFloat, "}", "node { name: 'n' op: 'NextIteration' input: 'r'", kFloat, "}",
      "node { name: 'out' op: 'Exit' input: 's:0'", kFloat, "}"));
  EXPECT_EQ(NodeOf(graph, "m").op, OpKind::kMerge);
  EXPECT_EQ(graph.producer_node(NodeOf(graph, "m").inputs[1]).name, "n");
  ASSERT_EQ(graph.outputs().size(), 1u);
  EXPECT_EQ(graph.outputs()[0].name, "out");  // nothing else is left over
}

TEST(ImportGraphDef, ConstantsKeepTheirEncoding) {
  const Graph graph = Import(R"(
    node { name: "splat" op: "Const" attr { key: "dtype" value { type: DT_BFLOAT16 } } attr { key: "value" value { tensor {
      dtype: DT_BFLOAT16 tensor_shape { dim { size: 2 } dim { size: 3 } } half_val: [16256, 16384] } } } }
    node { name: "zeros" op: "Const" attr { key: "dtype" value { type: DT_INT64 } } attr { key: "value" value { tensor {
      dtype: DT_INT64 tensor_shape { dim { size: 4 } } } } } }
    node { name: "named" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor {
      dtype: DT_STRING tensor_shape { dim { size: 2 name: "letters" } } string_val: "a" string_val: "\000b" } } } }
    node { name: "scalar" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { } tensor_content: "\000\000\200?" } } } }
    node { name: "odd" op: "Const" attr { key: "dtype" value { type: DT_INT8 } } attr { key: "value" value { tensor {
      dtype: DT_INT8 tensor_shape { } int_val: 300 } } } }
    node { name: "q" op: "Const" attr { key: "dtype" value { type: DT_QUINT8 } } attr { key: "value" value { tensor {
      dtype: DT_QUINT8 tensor_shape { } int_val: 3 } } } })",
                             {.outputs = {"splat"}});
  EXPECT_THAT(graph.ConstantTensor(NodeOf(graph, "splat").outputs[0])->ToFloats(), ElementsAre(1, 2, 2, 2, 2, 2));
  EXPECT_THAT(*graph.ConstantInts(NodeOf(graph, "zeros").outputs[0]), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(graph.ConstantScalar(NodeOf(graph, "scalar").outputs[0]), 1.0);
  EXPECT_EQ(graph.ConstantScalar(NodeOf(graph, "odd").outputs[0]), 44.0);
  EXPECT_EQ(NodeOf(graph, "q").op, OpKind::kConstant);  // bytes whose range stands elsewhere
  EXPECT_EQ(graph.type(NodeOf(graph, "q").outputs[0]), DataType::kUInt8);
}

TEST(ImportGraphDef, OldPlaceholdersOfUnknownShape) {
  const std::string_view text = R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { } } } } node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } })";
  const Graph old_graph = Import(Concat(text, "versions { producer: 21 }"));
  EXPECT_FALSE(old_graph.shape(old_graph.output(old_graph.inputs()[0])).has_rank());
  const Graph new_graph = Import(
      Concat(text, "versions { producer: 22 bad_consumers: 3 } library { function { signature { name: 'f' } } }"));
  EXPECT_EQ(new_graph.shape(new_graph.output(new_graph.inputs()[0])), Shape::Scalar());
  EXPECT_EQ(new_graph.header().Int("producer", 0), 22);
}

TEST(ImportGraphDef, OutputsByNameAndUnread) {
  const std::string text = Concat(
      kInput, "node { name: 'a' op: 'Relu' input: 'x:0'", kFloat, "}",
      "node { name: 'k' op: 'TopKV2' input: ['x', 'n']", kFloat, "}",
      "node { name: 'n' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value ",
      "{ tensor { dtype: DT_INT32 tensor_shape { } int_val: 2 } } } }", "node { name: 'go' op: 'NoOp' input: '^a' }");
  const auto names = [](const Graph& graph) {
    std::vector<std::string> result;
    for (const GraphOutput& output : graph.outputs()) result.push_back(output.name);
    return result;
  };
  const absl::StatusOr<Graph> graph = ImportGraphDef(text, /*is_text=*/true);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(names(*graph), ElementsAre("a", "k", "k:1"));
  EXPECT_THAT(names(*ImportGraphDef(text, true, {.outputs = {"k:1", "x:0"}})), ElementsAre("k:1", "x"));
  const absl::Status missing = ImportGraphDef(text, true, {.outputs = {"kk"}}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("Did you mean"));
  EXPECT_THAT(std::string(ImportGraphDef(text, true, {.outputs = {"k:2"}}).status().message()),
              HasSubstr("has 2 outputs"));
}

TEST(ImportGraphDef, UnknownFieldsSurvive) {
  tf::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      Concat(kInput, "node { name: 'y' op: 'Relu' input: 'x' experimental_debug_info { original_node_names: 'z' }",
             kFloat, "}"),
      &def));
  const auto add = [](google::protobuf::Message& message) {
    message.GetReflection()->MutableUnknownFields(&message)->AddVarint(999, 5);
  };
  add(def);
  add(*def.mutable_node(1));
  add(*def.mutable_node(1)->mutable_attr(0)->mutable_value());
  add(*def.mutable_versions());
  const absl::StatusOr<Graph> graph = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::string> back = ExportGraphDef(*graph, /*as_text=*/false);
  ASSERT_TRUE(back.ok()) << back.status();
  tf::GraphDef again;
  ASSERT_TRUE(again.ParseFromString(*back));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(def, again)) << again.DebugString();
}

}  // namespace
}  // namespace halftone
