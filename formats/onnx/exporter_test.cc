// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/exporter.h"

#include <string>
#include <vector>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using testing::HasSubstr;
using testing::Not;

Graph Parsed(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

int64_t OpsetOf(const onnx::ModelProto& model) { return model.opset_import(0).version(); }

// Import and export at the same opset, and at a higher one.
struct Case {
  const char* name;
  int opset;
  const char* graph;
  int min_opset;
  const char* nodes;         // at its own opset
  const char* raised_nodes;  // at min_opset
};

const Case kCases[] = {
    {"Clip", 9, "agraph (float[3] x) => (float[3] y) { y = Clip<min=0.5, max=6.0>(x) }", 13,
     "Clip(x)->y min=0.500000 max=6.000000\n", "Clip(x,const,const_1)->y\n"},
    {"ClipOneSided", 9, "agraph (float[3] x) => (float[3] y) { y = Clip<max=6.0>(x) }", 13, "Clip(x)->y max=6.000000\n",
     "Clip(x,,const)->y\n"},
    {"Slice", 9, "agraph (float[4,6] x) => (float[4,2] y) { y = Slice<axes=[1], starts=[2], ends=[4]>(x) }", 10,
     "Slice(x)->y starts=2; ends=4; axes=1;\n", "Slice(x,const,const_1,const_2)->y\n"},
    {"Squeeze", 11, "agraph (float[1,3] x) => (float[3] y) { y = Squeeze<axes=[0]>(x) }", 13, "Squeeze(x)->y axes=0;\n",
     "Squeeze(x,const)->y\n"},
    {"Unsqueeze", 11, "agraph (float[3] x) => (float[1,3] y) { y = Unsqueeze<axes=[0]>(x) }", 21,
     "Unsqueeze(x)->y axes=0;\n", "Unsqueeze(x,const)->y\n"},
    {"Pad", 10, "agraph (float[3] x) => (float[6] y) { y = Pad<pads=[1,2], value=3.0>(x) }", 18,
     "Pad(x)->y pads=1;2; value=3.000000\n", "Pad(x,const,const_1)->y\n"},
    {"ReduceMean", 13, "agraph (float[2,3] x) => (float[2] y) { y = ReduceMean<axes=[1], keepdims=0>(x) }", 18,
     "ReduceMean(x)->y axes=1; keepdims=0\n", "ReduceMean(x,const)->y keepdims=0\n"},
    {"ReduceSumAll", 11, "agraph (float[2,3] x) => (float[1,1] y) { y = ReduceSum(x) }", 13, "ReduceSum(x)->y\n",
     "ReduceSum(x)->y\n"},
    {"Gather", 9, "agraph (float[2,3] x, int64[2] i) => (float[2,2] y) { y = Gather<axis=1>(x, i) }", 13,
     "Gather(x,i)->y axis=1\n", "Gather(x,i)->y axis=1\n"},
    {"Concat", 9, "agraph (float[2] x) => (float[4] y) { y = Concat<axis=0>(x, x) }", 13, "Concat(x,x)->y axis=0\n",
     "Concat(x,x)->y axis=0\n"},
    {"Transpose", 9, "agraph (float[2,3] x) => (float[3,2] y) { y = Transpose<perm=[1,0]>(x) }", 22,
     "Transpose(x)->y perm=1;0;\n", "Transpose(x)->y perm=1;0;\n"},
    {"SoftmaxLast", 9, "agraph (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }", 13, "Softmax(x)->y axis=1\n",
     "Softmax(x)->y axis=-1\n"},
    {"SoftmaxFlatten", 9, "agraph (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }", 13,
     "Softmax(x)->y axis=1\n",
     "Flatten(x)->x_matrix axis=1\nSoftmax(x_matrix)->x_softmax "
     "axis=1\nShape(x)->x_shape\nReshape(x_softmax,x_shape)->y\n"},
    {"Dropout", 7, "agraph (float[2] x) => (float[2] y) { y, mask = Dropout<ratio=0.25>(x) }", 13,
     "Dropout(x)->y,mask ratio=0.250000\n", "Dropout(x,ratio)->y,mask\n"},
    {"BatchNorm", 9,
     "agraph (float[2,3,4] x, float[3] s) => (float[2,3,4] y) { y = BatchNormalization<epsilon=0.001>(x, s, s, s, s) }",
     15, "BatchNormalization(x,s,s,s,s)->y epsilon=0.001000\n", "BatchNormalization(x,s,s,s,s)->y epsilon=0.001000\n"},
    {"Resize10", 10,
     "agraph (float[1,1,2,3] x) => (float[1,1,4,6] y) <float[4] scales = {1,1,2,2}> { y = Resize<mode=\"nearest\">(x, "
     "scales) }",
     11, "Resize(x,scales)->y mode=nearest\n",
     "Resize(x,empty,scales)->y coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=floor\n"},
    {"Constant", 13, "agraph (float[2] x) => (float[2] y) { c = Constant<value_float=0.5>()  y = Add(x, c) }", 19,
     "Constant()->c value=tensor\nAdd(x,c)->y\n", "Constant()->c value=tensor\nAdd(x,c)->y\n"},
    {"DepthToSpace", 9, "agraph (float[1,4,2,3] x) => (float[1,1,4,6] y) { y = DepthToSpace<blocksize=2>(x) }", 13,
     "DepthToSpace(x)->y blocksize=2\n", "DepthToSpace(x)->y blocksize=2\n"},
    {"Sum", 8, "agraph (float[2] x, float[2] z) => (float[2] y) { y = Sum(x, z) }", 13, "Sum(x,z)->y\n",
     "Sum(x,z)->y\n"},
    {"Opaque", 13, "agraph (float[2] x) => (float[2] y) { y = com.acme.Magic<strength=3, mode=\"x\">(x, , x) }", 0,
     "Magic(x,,x)->y mode=x strength=3\n", "Magic(x,,x)->y mode=x strength=3\n"},
};

class FormTest : public testing::TestWithParam<Case> {};

TEST_P(FormTest, InBothOpsets) {
  const Case& c = GetParam();
  const Graph graph = Imported(Model(c.opset, c.graph));
  const onnx::ModelProto same = Exported(graph);
  EXPECT_EQ(OpsetOf(same), c.opset);
  EXPECT_EQ(NodesOf(same), c.nodes);
  const onnx::ModelProto raised = Exported(graph, c.min_opset);
  EXPECT_EQ(OpsetOf(raised), std::max(c.opset, c.min_opset));
  EXPECT_EQ(NodesOf(raised), c.raised_nodes);
  EXPECT_TRUE(Import(raised).ok()) << Import(raised).status();
}

INSTANTIATE_TEST_SUITE_P(Table, FormTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(Exporter, BFloat16NeedsNewOpsets) {
  EXPECT_EQ(OnnxOpset(Parsed("graph (x: f32[2]) { c: bf16[2] = cast(x)  return c }")).value(), 17);
  const Graph conv =
      Imported(Model(9, R"(agraph (float[1,1,5,5] x, float[1,1,3,3] w) => (float[1,1,3,3] y) { y = Conv(x, w) })"));
  EXPECT_EQ(*OnnxOpset(conv), 9);
  Graph lowered = conv;
  GraphEditor edit(lowered);
  for (int i = 0; i < lowered.num_values(); ++i) edit.SetType(ValueId{i}, DataType::kBFloat16);
  EXPECT_EQ(*OnnxOpset(lowered), 22);
  const onnx::ModelProto model = Exported(lowered);
  EXPECT_EQ(OpsetOf(model), 22);
  EXPECT_EQ(model.ir_version(), 10);
  EXPECT_EQ(model.graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::BFLOAT16);
}

TEST(Exporter, MatMulInBFloat16NeedsOnly13) {
  Graph graph = Imported(Model(9, "agraph (float[2,3] x, float[3,5] w) => (float[2,5] y) { y = MatMul(x, w) }"));
  GraphEditor edit(graph);
  for (int i = 0; i < graph.num_values(); ++i) edit.SetType(ValueId{i}, DataType::kBFloat16);
  EXPECT_EQ(*OnnxOpset(graph), 13);
}

// What passes make of the nodes of an old file is written with operators of its opset.
TEST(Exporter, OpsThatPassesMakeStayInTheOpset) {
  const auto made = [](int opset, std::string_view op, const char* attribute, AttributeValue value) {
    Graph graph = Imported(Model(opset, "agraph (float[2,3] x, float[3] s) => (float[2,3] y) { y = PRelu(x, s) }"));
    GraphEditor edit(graph);
    const NodeId node = graph.producer(graph.outputs()[0].value);
    const ValueId x = graph.input(node, 0), s = graph.input(node, 1);
    edit.SetInputs(node, op == "gelu" ? std::vector{x} : std::vector{x, s, s});
    edit.SetOp(node, *OpFromName(op));
    edit.SetAttribute(node, attribute, std::move(value));
    return graph;
  };
  const Graph gelu = made(13, "gelu", "approximate", std::string("none"));
  EXPECT_EQ(NodesOf(Exported(gelu)),
            "Div(x,x_number)->x_part\nErf(x_part)->x_part_1\nAdd(x_part_1,x_number_1)->x_part_2\n"
            "Mul(x,x_number_2)->x_part_3\nMul(x_part_3,x_part_2)->y\n");
  EXPECT_EQ(NodesOf(Exported(gelu, 20)), "Gelu(x)->y\n");
  const Graph tanh = made(9, "gelu", "approximate", std::string("tanh"));
  EXPECT_THAT(NodesOf(Exported(tanh)), HasSubstr("Tanh("));
  EXPECT_EQ(OpsetOf(Exported(tanh)), 9);
  EXPECT_EQ(NodesOf(Exported(tanh, 20)), "Gelu(x)->y approximate=tanh\n");
  const Graph norm = made(13, "layer_norm", "epsilon", 0.25f);
  EXPECT_EQ(NodesOf(Exported(norm)),
            "ReduceMean(x)->x_mean axes=1;\nSub(x,x_mean)->x_norm\nMul(x_norm,x_norm)->x_norm_1\n"
            "ReduceMean(x_norm_1)->x_mean_1 axes=1;\nAdd(x_mean_1,x_epsilon)->x_norm_2\nSqrt(x_norm_2)->x_norm_3\n"
            "Div(x_norm,x_norm_3)->x_norm_4\nMul(x_norm_4,s)->x_norm_5\nAdd(x_norm_5,s)->y\n");
  EXPECT_EQ(NodesOf(Exported(norm, 17)), "LayerNormalization(x,s,s)->y epsilon=0.250000\n");
}

TEST(Exporter, NodesKeptVerbatimPinTheOpset) {
  const Graph changed =
      Imported(Model(7, "agraph (float[4] x) => (float[2] y) { a = Upsample<scales=[0.5]>(x)  y = Relu(a) }"));
  const absl::Status status = ExportOnnx(changed, {.min_opset = 13}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("passed through unchanged, and ONNX has another Upsample or none since opset 9"));
  EXPECT_EQ(OpsetOf(Exported(changed, 8)), 8);
  const Graph kept = Imported(Model(11, "agraph (float[2,3] x) => (float[2,3] y) { a = com.acme.Up(x)  y = Relu(a) }"));
  EXPECT_EQ(OpsetOf(Exported(kept, 22)), 22);  // the version of its own domain stays
  const Graph inside = Imported(Model(11, R"(agraph (bool c, float[1,2] x) => (float[2] y) {
      y = com.acme.Either(c) <then_branch = t () => (float[2] a) { a = Squeeze<axes=[0]>(x) }, else_branch = e () => (float[2] b) { b = Squeeze<axes=[0]>(x) }> })"));
  EXPECT_EQ(ExportOnnx(inside, {.min_opset = 13}).status().code(), absl::StatusCode::kUnimplemented);
}

// ONNX Runtime loads them up to opset 9; ONNX's own registry has never had them.
TEST(Exporter, ExperimentalOperatorsExistInTheirOpsetAlone) {
  const Graph graph = Imported(Model(7, R"(agraph (float[1,3,8,8] x) => (float[1,3,6,6] y) {
      a = ImageScaler<scale=0.5, bias=[0.1, 0.2, 0.3]>(x)  b = Crop<border=[1, 1, 1, 1]>(a)  y = Relu(b) })"));
  EXPECT_EQ(OpsetOf(Exported(graph)), 7);
  const absl::Status status = OnnxOpset(graph, {.min_opset = 8}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "the graph needs opset 8, the model has 7: node 'a' is passed through unchanged, and ONNX has another "
            "ImageScaler or none since opset 8");
}

// Opaque nodes make values of unknown type and shape: these are no reason for a newer opset.
TEST(Exporter, WhatIsNotKnownNeedsNoNewerOpset) {
  const Graph graph = Imported(Model(7, R"(agraph (float[1,3,8,8] x, float c, float[1] s) => (float y) {
      a = ImageScaler<scale=0.5, bias=[0.1, 0.2, 0.3]>(x)
      b = Pad<pads=[0,0,1,1,0,0,1,1]>(a)  e = Max(b, a)  f = Sum(e, b, a)  g = Pow(f, s)  h = Softmax<axis=1>(g)
      y = Add(h, c) })"));
  EXPECT_EQ(OpsetOf(Exported(graph)), 7);
}

// A pass makes a gemm of a matmul that reads its weights transposed; C is an input of every gemm before opset 11.
TEST(Exporter, AGemmWithoutCHasZerosInOldOpsets) {
  const auto of_opset = [](int opset) {
    Graph graph = Imported(Model(
        opset, "agraph (float[2,3] a, float[5,3] b, float[5] c) => (float[2,5] y) { y = Gemm<transB=1>(a, b, c) }"));
    const NodeId gemm = graph.producer(graph.outputs()[0].value);
    GraphEditor(graph).SetInputs(gemm, {graph.input(gemm, 0), graph.input(gemm, 1)});
    return Exported(graph);
  };
  EXPECT_EQ(OpsetOf(of_opset(7)), 7);
  EXPECT_EQ(NodesOf(of_opset(7)), "Gemm(a,b,zeros)->y transB=1\n");
  EXPECT_EQ(of_opset(7).graph().initializer(0).dims(0), 5);
  EXPECT_EQ(NodesOf(of_opset(11)), "Gemm(a,b)->y transB=1\n");
}

// From here to the file nothing may take ONNX Runtime's legacy operators out of the opset in which it knows them.
TEST(Exporter, OpsThatPassesMakeSayWhoHoldsTheOpset) {
  Graph graph = Imported(Model(7, R"(agraph (float[2,3] x) => (float[2,3] y) {
      a = Affine<alpha=0.5, beta=0.25>(x)  y = Relu(x) })"));
  GraphEditor edit(graph);
  const NodeId relu = graph.producer(graph.outputs()[0].value);
  edit.SetOp(relu, *OpFromName("mish"));
  edit.AddGraphOutput("kept", graph.FindValue("a"));
  const absl::Status status = ExportOnnx(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node 'y' (Mish) needs opset 18, the model has 7: node 'a' is passed through unchanged"));
}

TEST(Exporter, CanonicalOpsWithoutAnOperator) {
  const onnx::ModelProto model = Exported(Parsed(R"(graph (x: f32[2,3,4], b: f32[3]) {
      s = square(x)  r = rsqrt(s)  c = relu6(r)  y = bias_add(c, b)  d = squared_difference(y, x)  return d })"));
  EXPECT_EQ(NodesOf(model),
            "Mul(x,x)->s\nSqrt(s)->s_sqrt\nReciprocal(s_sqrt)->r\nClip(r,min,max)->c\nUnsqueeze(b,axes)->b_column\nAdd("
            "c,b_column)->y\n"
            "Sub(y,x)->y_difference\nMul(y_difference,y_difference)->d\n");
  const onnx::ModelProto transposed =
      Exported(Parsed("graph (a: f32[2,3], b: f32[5,3]) { y = matmul(a, b) {transpose_b=true}  return y }"));
  EXPECT_EQ(NodesOf(transposed), "Transpose(b)->b_transposed perm=1;0;\nMatMul(a,b_transposed)->y\n");
}

TEST(Exporter, RefusesWhatOnnxCannotSay) {
  struct Refused {
    const char* graph;
    absl::StatusCode code;
    const char* says;
  };
  const Refused cases[] = {
      {"graph (x: f32[1,5,5,2], w: f32[3,3,2,4]) { y = conv(x, w) {layout=\"NHWC\", weights_layout=\"HWIO\"}  return y "
       "}",
       absl::StatusCode::kUnimplemented, "node 'y': layout NHWC"},
      {"graph (x: f32[1,2,5,5], w: f32[4,2,3,3]) { y = conv(x, w) {activation=\"relu\"}  return y }",
       absl::StatusCode::kInternal, "must be split"},
      {"graph (x: f32[2,3], w: f32[3,5], b: f32[5]) { y = matmul(x, w, b)  return y }", absl::StatusCode::kInternal,
       "must be split"},
      {"graph (x: f32[3], p: s64[2]) { y = pad(x, p) {mode=\"symmetric\"}  return y }",
       absl::StatusCode::kUnimplemented, "symmetric"},
  };
  for (const Refused& refused : cases) {
    const absl::Status status = ExportOnnx(Parsed(refused.graph)).status();
    EXPECT_EQ(status.code(), refused.code) << refused.graph << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refused.says));
  }
}

TEST(Exporter, OutputsKeepTheirNames) {
  // One value for two outputs, an input that is an output, a constant that is one, and a name that a pass has moved.
  const onnx::ModelProto model = Exported(Parsed(R"(graph (x: f32[2]) {
      w = const f32[2] {1, 2}  y = relu(x)  return first=y, second=y, same=x, weights=w })"));
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& output : model.graph().output()) names.push_back(output.name());
  EXPECT_THAT(names, testing::ElementsAre("first", "second", "same", "weights"));
  EXPECT_THAT(NodesOf(model), HasSubstr("Relu(x)->first\nIdentity(first)->second\n"));
  EXPECT_THAT(NodesOf(model), HasSubstr("Identity(x)->same\n"));
  EXPECT_EQ(model.graph().initializer(0).name(), "weights");
  EXPECT_TRUE(Import(model).ok()) << Import(model).status();
}

TEST(Exporter, CapturedValuesKeepTheirNames) {
  Graph graph = Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      h = Relu(x)
      y = com.acme.Either(c) <then_branch = t () => (float[2] a) { a = Neg(h) }, else_branch = e () => (float[2] b) { b = Neg(h) }> })"));
  GraphEditor edit(graph);
  const ValueId h = graph.FindValue("h");
  edit.ReplaceUses(h, graph.FindValue("x"));  // an input keeps its name: the subgraphs need another one
  edit.RemoveDeadNodes();
  const onnx::ModelProto model = Exported(graph);
  EXPECT_THAT(NodesOf(model), HasSubstr("Identity(x)->h\nEither(c)->y"));
  EXPECT_TRUE(Import(model).ok()) << Import(model).status();
}

TEST(Exporter, NewNamesMeetNoOldOnes) {
  const onnx::ModelProto model =
      Exported(Parsed("graph (x: f32[2], relu: f32[2]) { y = add(relu(x), relu)  return y }"));
  EXPECT_EQ(NodesOf(model), "Relu(x)->relu_1\nAdd(relu_1,relu)->y\n");
}

TEST(Exporter, InitializersThatAreInputsComeBackAsBoth) {
  const char* text = "agraph (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1,2}> { y = Add(x, w) }";
  const Graph old = Imported(Model(8, text, 3));
  EXPECT_EQ(old.inputs().size(), 1u);
  EXPECT_TRUE(old.IsConstant(old.FindValue("w")));
  EXPECT_EQ(Exported(old).graph().input_size(), 2);
  EXPECT_EQ(Exported(old).graph().initializer_size(), 1);
  EXPECT_EQ(Exported(old, 13).ir_version(), 7);
  EXPECT_EQ(Exported(old, 13).graph().input_size(),
            1);  // since IR version 4 it would be a default that callers may replace
  EXPECT_EQ(Exported(Imported(Model(13, text, 8))).graph().input_size(), 2);
  EXPECT_EQ(
      Exported(Imported(Model(13, "agraph (float[2] x) => (float[2] y) <float[2] w = {1,2}> { y = Add(x, w) }", 8)))
          .graph()
          .input_size(),
      1);
}

TEST(Exporter, UnreadConstantsAreLeftOut) {
  const onnx::ModelProto model =
      Exported(Imported(Model(9, R"(agraph (float[1,3] x) => (float[3] y) <float[1] unused = {1}> {
      c = Constant<value = float[1] {2}>()  y = Squeeze<axes=[0]>(x) })")));
  EXPECT_EQ(model.graph().initializer_size(), 0);
  EXPECT_EQ(model.graph().node_size(), 1);
}

TEST(Exporter, TextInBetweenChangesNothing) {
  for (const Case& c : kCases) {
    const Graph graph = Imported(Model(c.opset, c.graph));
    const Graph parsed = Parsed(PrintGraph(graph, {.with_weights = true}));
    EXPECT_EQ(Exported(parsed).SerializeAsString(), Exported(graph).SerializeAsString()) << c.name;
  }
}

TEST(Exporter, TypesWithoutAWordInTheGraphComeBack) {
  onnx::ModelProto model = Model(16, R"(agraph (float[2] x, seq(float[2]) s) => (seq(float[2]) t, float[2] y)
      { t = SequenceInsert(s, x)  y = Relu(x) })");
  onnx::TensorProto& nibbles = *model.mutable_graph()->add_initializer();
  nibbles.set_name("n");
  nibbles.set_data_type(onnx::TensorProto::FLOAT8E4M3FN);
  nibbles.add_dims(3);
  nibbles.set_raw_data("abc");
  onnx::NodeProto& cast = *model.mutable_graph()->add_node();
  cast.set_op_type("Magic");
  cast.set_domain("com.acme");
  cast.add_input("n");
  cast.add_output("z");
  *model.mutable_graph()->add_output() = model.graph().output(1);
  model.mutable_graph()->mutable_output(2)->set_name("z");
  const onnx::ModelProto back = Exported(Parsed(PrintGraph(Imported(model), {.with_weights = true})));
  EXPECT_TRUE(back.graph().input(1).type().has_sequence_type());
  EXPECT_TRUE(back.graph().output(0).type().has_sequence_type());
  EXPECT_EQ(back.graph().node(0).op_type(), "Constant");
  EXPECT_EQ(back.graph().node(0).attribute(0).t().raw_data(), "abc");
}

TEST(Exporter, GraphsOfOtherFormatsAreRefused) {
  Graph graph = Parsed("graph (x: f32[2]) { y = relu(x)  return y }");
  GraphEditor(graph).SetHeader(std::string(kHeaderFormat), "graphdef");
  EXPECT_EQ(ExportOnnx(graph).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace halftone::onnx_format
