// SPDX-License-Identifier: Apache-2.0
// Import and export of com.microsoft's fused operators.
#include <string>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

onnx::ModelProto MicrosoftModel(const std::string& graph) {
  onnx::ModelProto model;
  const std::string header = "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n";
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, (header + graph).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

// What the file becomes here, and what comes out again.
std::string There(const onnx::ModelProto& model) { return PrintGraph(Imported(model)); }
std::string Back(const onnx::ModelProto& model) { return NodesOf(Exported(Imported(model))); }

// What a graph is written as, its nodes spelled as a pass has spelled them.
onnx::ModelProto Written(const std::string& text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? Exported(*graph) : onnx::ModelProto();
}

TEST(FusedRules, FusedConvIsAConv) {
  const auto model = MicrosoftModel(
      "g (float[1,3,8,8] x, float[4,3,3,3] w, float[4] b, float[1,4,6,6] z) => (float[1,4,6,6] y) { "
      "y = com.microsoft.FusedConv<activation=\"LeakyRelu\", activation_params=[0.125]>(x, w, b, z) }");
  EXPECT_THAT(There(model), HasSubstr("activation=\"leaky_relu\", activation_alpha=0.125"));
  EXPECT_THAT(Back(model), HasSubstr("FusedConv(x,w,b,z)->y"));
  EXPECT_THAT(Back(model), HasSubstr("activation=LeakyRelu"));
  const auto other = MicrosoftModel(
      "g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { "
      "y = com.microsoft.FusedConv<activation=\"Softsign\">(x, w) }");
  EXPECT_THAT(There(other), HasSubstr("opaque \"FusedConv\""));
}

TEST(FusedRules, ARelu6IsAClip) {
  const onnx::ModelProto model = Written(R"(graph format=onnx (x: f32[1,3,8,8]) { w = const f32[4,3,3,3]
      return y=conv "FusedConv" domain="com.microsoft" (x, w) {activation="relu6"} })");
  EXPECT_THAT(NodesOf(model), HasSubstr("activation=Clip"));
  EXPECT_THAT(There(model), HasSubstr("activation=\"clip\", activation_alpha=0.0, activation_beta=6.0"));
}

TEST(FusedRules, ProductsOfIntegersWithRealResults) {
  const auto product = MicrosoftModel(
      "g (uint8[3,5] a, int8[5,7] b, float[1] s, float[7] t, uint8[1] z, int8[1] w, float[7] c) => (float[3,7] y) { "
      "y = com.microsoft.MatMulIntegerToFloat(a, b, s, t, z, w, c) }");
  EXPECT_THAT(There(product), HasSubstr("matmul_integer_to_float(a, b, s, t, z, w, c)"));
  EXPECT_THAT(Back(product), HasSubstr("MatMulIntegerToFloat(a,b,s,t,z,w,c)->y"));
  const auto dynamic = MicrosoftModel(
      "g (float[3,5] x, int8[5,7] b, float[7] t, int8[1] w, float[7] c) => (float[3,7] y) { "
      "y = com.microsoft.DynamicQuantizeMatMul(x, b, t, w, c) }");
  EXPECT_THAT(There(dynamic), AllOf(HasSubstr("dynamic_quantize_linear(x)"), HasSubstr("matmul_integer_to_float(")));
  EXPECT_THAT(Back(dynamic), AllOf(HasSubstr("DynamicQuantizeLinear(x)"), HasSubstr("MatMulIntegerToFloat(")));
}

TEST(FusedRules, AnLstmWithWeightsOfBytes) {
  const std::string weights =
      "int8[1,3,8] w = {1, -2, 3, 4, 5, -6, 7, 8, 9, 10, 11, -12, 13, 14, 15, 16, -17, 18, 19, 20, 21, -22, 23, 24}, "
      "int8[1,2,8] r = {1, 2, 3, -4, 5, 6, 7, 8, 9, -10, 11, 12, 13, 14, -15, 16}";
  const std::string one = ", float[1] s = {0.1}";
  const std::string of_channels = ", float[1,8] s = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}";
  for (const std::string& scales : {one, of_channels}) {
    const auto model =
        MicrosoftModel("g (float[4,2,3] x) => (float[4,1,2,2] y) <" + weights + scales +
                       "> { y = com.microsoft.DynamicQuantizeLSTM<hidden_size=2>(x, w, r, , , , , , s, , s) }");
    EXPECT_THAT(There(model),
                AllOf(HasSubstr("lstm("), HasSubstr("dynamic_quantize_linear(x)"), Not(HasSubstr("opaque"))));
    EXPECT_THAT(Back(model), HasSubstr("LSTM("));
  }
  const auto computed =
      MicrosoftModel("g (float[4,2,3] x, float[1] s) => (float[4,1,2,2] y) <" + weights +
                     "> { y = com.microsoft.DynamicQuantizeLSTM<hidden_size=2>(x, w, r, , , , , , s, , s) }");
  EXPECT_THAT(There(computed), HasSubstr("opaque \"DynamicQuantizeLSTM\""));
}

TEST(FusedRules, TheDomainIsNamedOnce) {
  const onnx::ModelProto model = Written(R"(graph format=onnx (x: f32[2,3]) {
      return y=gelu "Gelu" domain="com.microsoft" (swish "QuickGelu" domain="com.microsoft" (x)) })");
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "com.microsoft");
  EXPECT_EQ(model.opset_import(1).version(), 1);
}

TEST(FusedRules, FusedMatMulKeepsItsFactor) {
  const auto product = MicrosoftModel(
      "g (float[2,5,3] a, float[2,5,7] b) => (float[2,3,7] y) { y = com.microsoft.FusedMatMul<alpha=0.5, transA=1>(a, "
      "b) }");
  EXPECT_THAT(There(product), HasSubstr("{scale=0.5, transpose_a=true}"));
  EXPECT_THAT(Back(product), AllOf(HasSubstr("FusedMatMul(a,b)->y"), HasSubstr("alpha=0.5"), HasSubstr("transA=1")));
  const auto plain =
      MicrosoftModel("g (float[2,3,5] a, float[2,5,7] b) => (float[2,3,7] y) { y = com.microsoft.FusedMatMul(a, b) }");
  EXPECT_THAT(Back(plain), Not(HasSubstr("Fused")));
}

TEST(FusedRules, FusedGemmComesApart) {
  const auto gemm = MicrosoftModel(
      "g (float[2,5] a, float[5,7] b, float[7] c) => (float[2,7] y) { "
      "y = com.microsoft.FusedGemm<alpha=0.5, activation=\"LeakyRelu\", activation_alpha=0.25>(a, b, c) }");
  EXPECT_THAT(There(gemm), HasSubstr("f32[2,7] = gemm(a, b, c) {alpha=0.5}\n  y: f32[2,7] = leaky_relu("));
  const onnx::ModelProto written = Written(R"(graph format=onnx (x: f32[2,5]) { w = const f32[7,5]   b = const f32[7]
      return y=matmul "FusedGemm" domain="com.microsoft" (x, w, b) {activation="hard_sigmoid", scale=0.5, transpose_b=true} })");
  EXPECT_THAT(NodesOf(written),
              AllOf(HasSubstr("FusedGemm(x,w,b)->y alpha=0.5"), HasSubstr("transB=1"),
                    HasSubstr("activation=HardSigmoid activation_alpha=0.2"), HasSubstr("activation_beta=0.5")));
}

TEST(FusedRules, GelusWithABias) {
  const onnx::ModelProto model = Written(R"(graph format=onnx (x: f32[2,3]) { b = const f32[3]
      return y=binary_chain "BiasGelu" domain="com.microsoft" (x, b) {activation="gelu", ops=["add"]},
             z=binary_chain "FastGelu" domain="com.microsoft" (x, b) {activation="gelu_tanh", ops=["add"]} })");
  EXPECT_EQ(NodesOf(model), "BiasGelu(x,b)->y\nFastGelu(x,b)->z\n");
  EXPECT_THAT(There(model), AllOf(HasSubstr("= add(x, b)"), HasSubstr("approximate=\"tanh\"")));
}

constexpr char kHeads[] = R"(graph format=onnx (x: f32[N,5,12], z: f32[N,7,12], v: f32[N,7,8], m: f32[N,4,5,7]) {
    q = transpose(reshape(x, [0, 0, 4, 3]), [0, 2, 1, 3])
    k = transpose(reshape(z, [0, 0, 4, 3]), [0, 2, 3, 1])
    w = transpose(reshape(v, [0, 0, 4, 2]), [0, 2, 1, 3])
    a = scaled_dot_product_attention "MultiHeadAttention" domain="com.microsoft" (q, k, w, m) {k_transposed=true, scale=0.5}
    y = reshape(transpose(a, [0, 2, 1, 3]), [0, 0, 8])
    return y })";

TEST(FusedRules, AnAttentionSplitsAndJoinsHeadsItself) {
  const onnx::ModelProto model = Written(kHeads);
  EXPECT_EQ(NodesOf(model), "MultiHeadAttention(x,z,v,,,m)->y num_heads=4 scale=0.500000\n");
  EXPECT_EQ(model.graph().initializer_size(), 0) << "the shapes have no consumers";
  EXPECT_THAT(There(model), AllOf(HasSubstr("scaled_dot_product_attention("), HasSubstr("f32[N,4,5,3] = transpose("),
                                  HasSubstr("y: f32[N,5,8] = reshape(")));
}

TEST(FusedRules, ShapesThatOnlyAnAttentionNeedsAreNotWritten) {
  const onnx::ModelProto model = Written(R"(graph format=onnx (x: f32[2,5,12]) {
    s = concat(gather(shape(x), [0], 0), [5, 4, 3], 0)
    q = transpose(reshape(x, s), [0, 2, 1, 3])
    k = transpose(reshape(x, s), [0, 2, 1, 3])
    v = transpose(reshape(relu(x), s), [0, 2, 1, 3])
    a = scaled_dot_product_attention "MultiHeadAttention" domain="com.microsoft" (q, k, v)
    return y=reshape(transpose(a, [0, 2, 1, 3]), [2, 5, 12]) })");
  EXPECT_EQ(NodesOf(model), "Relu(x)->relu\nMultiHeadAttention(x,x,relu)->y num_heads=4\n");
}

TEST(FusedRules, WhatOthersReadOfAnAttentionIsWritten) {
  std::string text = kHeads;
  text.replace(text.find("return y"), 8, "return y, k");  // keys, split and transposed
  EXPECT_THAT(NodesOf(Written(text)), AllOf(HasSubstr("Transpose("), HasSubstr("MultiHeadAttention(x,z,v,,,m)->y")));
  text = kHeads;
  text.replace(text.find("return y"), 8, "return y, a");  // the heads themselves
  EXPECT_THAT(NodesOf(Written(text)), AllOf(HasSubstr("MultiHeadAttention(x,z,v,,,m)->a_whole"),
                                            HasSubstr("->a perm=0;2;1;3"), HasSubstr("->y\n")));
}

TEST(FusedRules, HeadsAndMasksOfOtherFormsAreBroughtIntoForm) {
  const onnx::ModelProto model =
      Written(R"(graph format=onnx (q: f32[2,4,5,3], k: f32[2,4,7,3], v: f32[2,4,7,2], m: f32[2,1,1,7]) {
      return y=scaled_dot_product_attention "MultiHeadAttention" domain="com.microsoft" (q, k, v, m) })");
  const std::string nodes = NodesOf(model);
  EXPECT_THAT(nodes, AllOf(HasSubstr("Expand(m,"), HasSubstr("num_heads=4"), HasSubstr("->y perm=0;2;1;3")));
  EXPECT_THAT(There(model), HasSubstr("y: f32[2,4,5,2] = transpose("));
}

TEST(FusedRules, AttentionsOfOtherKindsStayOpaque) {
  for (const char* call :
       {"MultiHeadAttention<num_heads=2>(x)", "MultiHeadAttention<num_heads=2, unidirectional=1>(x, x, x)",
        "MultiHeadAttention<num_heads=2>(x, x, x, b)"}) {
    const auto model = MicrosoftModel(
        std::string("g (float[2,3,4] x, float[12] b) => (float[2,3,4] y) { y = com.microsoft.") + call + " }");
    EXPECT_THAT(There(model), HasSubstr("opaque \"MultiHeadAttention\"")) << call;
    EXPECT_THAT(Back(model), HasSubstr("MultiHeadAttention(")) << call;
  }
}

TEST(FusedRules, WhatWasNotSpelledMustBeSplit) {
  const absl::StatusOr<Graph> graph =
      ParseGraph(R"(graph format=onnx (q: f32[2,4,5,3], k: f32[2,4,7,3], v: f32[2,4,7,2]) {
      return y=scaled_dot_product_attention(q, k, v) })");
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(ExportOnnx(*graph).status().message(), HasSubstr("it must be split before export"));
}

}  // namespace
}  // namespace halftone::onnx_format
