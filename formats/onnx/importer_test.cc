// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/importer.h"

#include <string>
#include <vector>

#include "base/version.h"
#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace halftone::onnx_format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The only node that is neither an input nor a constant.
const Node& OnlyNode(const Graph& graph) {
  const Node* found = nullptr;
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant) found = &graph.node(id);
  }
  EXPECT_NE(found, nullptr);
  return *found;
}

std::vector<int64_t> IntsOf(const Graph& graph, const Node& node, int input) {
  return graph.ConstantInts(node.inputs[input]).value_or(std::vector<int64_t>{-999});
}

TEST(Importer, ConvKeepsItsAttributesAndInfersItsShape) {
  const Graph graph = Imported(Model(11, R"(agraph (float[N,2,5,7] x, float[4,2,3,3] w) => (float[N,4,3,7] y)
      { y = Conv<kernel_shape=[3,3], pads=[0,1,0,1], strides=[1,1]>(x, w) })"));
  const Node& conv = OnlyNode(graph);
  EXPECT_EQ(conv.op, OpKind::kConv);
  EXPECT_THAT(conv.attributes.Ints("pads"), ElementsAre(0, 1, 0, 1));
  EXPECT_FALSE(conv.attributes.has("kernel_shape"));
  EXPECT_EQ(graph.shape(conv.outputs[0]).ToString(), "[N,4,3,7]");
  EXPECT_EQ(graph.type(conv.outputs[0]), DataType::kFloat32);
  EXPECT_TRUE(VerifyGraph(graph).ok()) << VerifyGraph(graph);
}

TEST(Importer, AttributesOfOldOpsetsBecomeInputs) {
  const Graph squeeze = Imported(Model(11, "agraph (float[1,3,1] x) => (float[3,1] y) { y = Squeeze<axes=[0]>(x) }"));
  EXPECT_THAT(IntsOf(squeeze, OnlyNode(squeeze), 1), ElementsAre(0));
  const Graph slice =
      Imported(Model(9, "agraph (float[4,6] x) => (float[4,2] y) { y = Slice<axes=[1], starts=[2], ends=[4]>(x) }"));
  const Node& node = OnlyNode(slice);
  EXPECT_THAT(IntsOf(slice, node, 1), ElementsAre(2));
  EXPECT_THAT(IntsOf(slice, node, 2), ElementsAre(4));
  EXPECT_THAT(IntsOf(slice, node, 3), ElementsAre(1));
  EXPECT_EQ(slice.shape(node.outputs[0]).ToString(), "[4,2]");
  const Graph clip =
      Imported(Model(6 + 1, "agraph (float16[3] x) => (float16[3] y) { y = Clip<min=-1.5, max=2.0>(x) }"));
  const Tensor* low = clip.ConstantTensor(OnlyNode(clip).inputs[1]);
  ASSERT_NE(low, nullptr);
  EXPECT_EQ(low->type(), DataType::kFloat16);  // of x
  EXPECT_THAT(low->ToFloats(), ElementsAre(-1.5f));
  const Graph concat =
      Imported(Model(13, "agraph (float[2,3] a, float[2,5] b) => (float[2,8] y) { y = Concat<axis=-1>(a, b) }"));
  EXPECT_EQ(OnlyNode(concat).inputs.size(), 3u);
  EXPECT_EQ(concat.shape(OnlyNode(concat).outputs[0]).ToString(), "[2,8]");
}

TEST(Importer, TransposeWithoutPermReverses) {
  const Graph graph = Imported(Model(13, "agraph (float[2,3,5] x) => (float[5,3,2] y) { y = Transpose(x) }"));
  EXPECT_THAT(IntsOf(graph, OnlyNode(graph), 1), ElementsAre(2, 1, 0));
}

TEST(Importer, SoftmaxBeforeOpset13IsCutAtItsAxis) {
  const Graph cut = Imported(Model(12, "agraph (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }"));
  EXPECT_TRUE(OnlyNode(cut).attributes.Bool("flatten", false));
  EXPECT_EQ(OnlyNode(cut).attributes.Int("axis", 99), 1);
  const Graph last = Imported(Model(12, "agraph (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }"));
  EXPECT_FALSE(OnlyNode(last).attributes.Bool("flatten", false));
  EXPECT_EQ(OnlyNode(last).attributes.Int("axis", 99), -1);
  const Graph modern = Imported(Model(13, "agraph (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }"));
  EXPECT_EQ(OnlyNode(modern).attributes.Int("axis", -1), -1);
  EXPECT_FALSE(OnlyNode(modern).attributes.has("flatten"));
}

TEST(Importer, WhatTheTableCannotSayStaysOpaque) {
  for (const char* body :
       {"y = Relu<alpha=1>(x)", "y = LRN<size=3, width=1>(x)", "y = Cast<to=17>(x)", "y = Relu.nofunction(x)"}) {
    const std::string text = std::string(body).starts_with("y = Relu.") ? "y = com.acme.Relu(x)" : body;
    const Graph graph =
        Imported(Model(19, "agraph (float[2,3] x, bool t, int64[4] p, float[3] s) => (float[2,3] y) {" + text + "}"));
    EXPECT_EQ(OnlyNode(graph).op, OpKind::kOpaque) << text;
    EXPECT_TRUE(VerifyGraph(graph).ok()) << text << VerifyGraph(graph);
  }
}

TEST(Importer, SubgraphsReadOuterValuesAsEdges) {
  const Graph graph = Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      h = Relu(x)
      y = com.acme.Either(c) <then_branch = t () => (float[2] a) { a = Neg(h) }, else_branch = e () => (float[2] b) { k = Identity(x)  b = Add(k, h) }>
  })"));
  const Node* found = nullptr;
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kOpaque) found = &graph.node(id);
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->spelling, "Either");
  EXPECT_THAT(found->captures, ElementsAre("h", "x"));
  ASSERT_EQ(found->inputs.size(), 3u);
  EXPECT_EQ(graph.value(found->inputs[1]).name, "h");
  EXPECT_TRUE(graph.IsCaptured(found->inputs[1]));
}

TEST(Importer, ConstantOfShapeIsAConstantWithinABudget) {
  const Graph small = Imported(Model(9, R"(agraph (float[2,3] x) => (float[2,3] y) {
      s = Constant<value = int64[2] {2, 3}>()  w = ConstantOfShape<value = float[1] {0.5}>(s)  y = Add(x, w) })"));
  const Tensor* w = small.ConstantTensor(small.FindValue("w"));
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->ToFloats(), std::vector<float>(6, 0.5f));
  EXPECT_THAT(NodesOf(Exported(small)), HasSubstr("ConstantOfShape(w_shape)->w value=tensor"));
  // A shape that is computed, as PyTorch pads it with zeros.
  const Graph computed = Imported(Model(13, R"(agraph (float[2,2] x) => (float[2,2] y) {
      s = Shape(x)  one = Constant<value = int64[1] {1}>()  t = Sub(s, one)  p = ConstantOfShape(t)  y = Add(x, p) })"));
  const Tensor* p = computed.ConstantTensor(computed.FindValue("p"));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->dims(), (std::vector<int64_t>{1, 1}));
  const Graph huge = Imported(Model(9, R"(agraph (float[1] x) => (float[1048576,1048576] y) {
      s = Constant<value = int64[2] {1048576, 1048576}>()  w = ConstantOfShape(s)  y = Add(x, w) })"));
  EXPECT_EQ(huge.op(huge.FindValue("w")), OpKind::kFill);
}

TEST(Importer, ModelsOfOtherDomainsOnly) {
  onnx::ModelProto model = Model(13, "agraph (float[2] x) => (float[2] y) { y = com.acme.Magic(x) }");
  model.mutable_opset_import(0)->set_domain("com.acme");
  EXPECT_TRUE(Import(model).ok()) << Import(model).status();
}

TEST(Importer, NodesInAnyOrder) {
  const Graph graph = Imported(Model(13, "agraph (float[2] x) => (float[2] y) { y = Relu(a)  a = Neg(x) }"));
  EXPECT_EQ(graph.shape(graph.outputs()[0].value).ToString(), "[2]");
}

TEST(Importer, KeepsWhatTheFileSays) {
  onnx::ModelProto model = Model(9, "agraph (float[batch,3] x) => (float[batch,3] y) { y = Relu(x) }", 4);
  model.set_producer_name("pytorch");
  model.set_producer_version("2.1");
  onnx::StringStringEntryProto& entry = *model.add_metadata_props();
  entry.set_key("labels");
  entry.set_value("cat,dog");
  const Graph graph = Imported(model);
  EXPECT_EQ(graph.header().Int("ir_version", 0), 4);
  EXPECT_THAT(graph.header().Ints("opset"), ElementsAre(9));
  EXPECT_EQ(graph.header().String("producer_name", ""), "pytorch");
  EXPECT_EQ(graph.shape(graph.output(graph.inputs()[0])).ToString(), "[batch,3]");
  const onnx::ModelProto back = Exported(graph);
  EXPECT_EQ(back.producer_name(), "halftone");
  EXPECT_EQ(back.producer_version(), kVersion);
  EXPECT_EQ(back.metadata_props(0).value(), "cat,dog");
  ASSERT_EQ(back.metadata_props_size(), 2);
  EXPECT_EQ(back.metadata_props(1).key(), "source_producer");
  EXPECT_EQ(back.metadata_props(1).value(), "pytorch 2.1");
  EXPECT_EQ(Exported(Imported(back)).SerializeAsString(), back.SerializeAsString());
  EXPECT_EQ(back.graph().output(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
}

struct Wrong {
  const char* graph;
  const char* says;
};

TEST(Importer, ErrorsNameTheNode) {
  const Wrong cases[] = {
      {"agraph (float[2] x) => (float[2] y) { y = Relu(missing) }", "reads 'missing'"},
      {"agraph (float[2] x) => (float[2] y) { a = Add(x, b)  b = Relu(a)  y = Neg(b) }", "cycle"},
      {"agraph (float[2] x) => (float[2] z) { y = Relu(x) }", "output 'z' of the graph is made by no node"},
      {"agraph (float[2] x) => (float[2] y) { y = Conv(x) }", "node 'y' (Conv): input 'weights' is missing"},
      {"agraph (float[2] x) => (float[2] y) { y = Relu(x, x) }", "has 2 inputs, at most 1"},
      {"agraph (float[2] x, int64[2] n) => (float[2] y) { y = Add(x, n) }", "'b' is s64 but 'a' is f32"},
      {"agraph (float[2,3] x, float[2,3] w) => (float y) { y = MatMul(x, w) }", "node 'y' (MatMul)"},
      {"agraph (float[2] x) => (int32[2] y) { y = Relu(x) }", "'y' is declared as s32, but is f32"},
      {"agraph (float[2] x) => (float[2] y) { y = Elu<alpha=\"big\">(x) }", "attribute 'alpha' is of type STRING"},
      {"agraph (float[2] x) => (float[2] y) { y = Concat(x, x) }", "attribute 'axis' is missing"},
      {"agraph (float[1,1,4,4] x, float[1,1,3,3] w) => (float y) { y = Conv<kernel_shape=[2,2]>(x, w) }",
       "kernel_shape is [2,2]"},
      {"agraph (float[2] x) => (float[2] y) { a, y = Relu(x) }", "has 2 outputs"},
  };
  for (const Wrong& wrong : cases) {
    const absl::Status status = Import(Model(13, wrong.graph)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong.graph;
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.says));
  }
}

TEST(Importer, BigWeightsAreNotCopiedTwice) {
  onnx::ModelProto model = Model(13, "agraph (float[1,70000] x) => (float[1,70000] y) { y = Add(x, w) }  ");
  onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(70000);
  std::vector<float> values(70000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5f;
  w.set_raw_data(values.data(), values.size() * sizeof(float));
  const Graph graph = Imported(model);
  const Tensor* tensor = graph.ConstantTensor(graph.FindValue("w"));
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->ToFloats(), values);
  EXPECT_EQ(Exported(graph).graph().initializer(0).raw_data(), w.raw_data());
}

TEST(Importer, TypedDataOfSmallTypes) {
  onnx::ModelProto model = Model(13,
                                 "agraph (float[2] x) => (bfloat16[2] b, uint8[2] u, bool[2] t) { b = Identity(vb)  u "
                                 "= Identity(vu)  t = Identity(vt) }");
  const auto add = [&model](const char* name, int type, std::vector<int32_t> data) {
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    tensor.add_dims(static_cast<int64_t>(data.size()));
    for (const int32_t v : data) tensor.add_int32_data(v);
  };
  add("vb", onnx::TensorProto::BFLOAT16, {0x3fc0, 0xc000});
  add("vu", onnx::TensorProto::UINT8, {7, 255});
  add("vt", onnx::TensorProto::BOOL, {0, 5});
  const Graph graph = Imported(model);
  EXPECT_THAT(graph.ConstantTensor(graph.FindValue("vb"))->ToFloats(), ElementsAre(1.5f, -2.0f));
  EXPECT_THAT(graph.ConstantTensor(graph.FindValue("vu"))->ToInts(), ElementsAre(7, 255));
  EXPECT_THAT(graph.ConstantTensor(graph.FindValue("vt"))->ToInts(), ElementsAre(0, 1));
}

}  // namespace
}  // namespace halftone::onnx_format
