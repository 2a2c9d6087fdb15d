// SPDX-License-Identifier: Apache-2.0
// Lines of oneDNN, taken apart and done again. The lines of the primitives that are covered come from oneDNN itself:
// from small plans, executed here.
#include "runtime/cpu/onednn/repeat.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "runtime/cpu/onednn/primitive_line.h"
#include "runtime/cpu/onednn/verbose.h"
#include "runtime/cpu/target.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

using onednn::ParsePrimitiveLine;
using onednn::ParseProblemDims;
using onednn::ParseProblemLetters;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kConv =
    "onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core_bf16,forward_inference,"
    "src:bf16:a:blocked:acdb::f0 wei:bf16:ap:blocked:AcdB64a2b::f0 bia:f32::blocked:a::f0 dst:f32::blocked:acdb::f0,"
    "attr-scratchpad:user attr-post-ops:binary_add:f32:14:acdb+eltwise_relu,alg:convolution_direct,"
    "mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3,1.5";

TEST(PrimitiveLineTest, IsTakenApart) {
  const auto line = ParsePrimitiveLine(kConv);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->primitive, "convolution");
  EXPECT_EQ(line->kernel, "brg_conv_fwd:avx512_core_bf16");
  EXPECT_EQ(line->tensor("wei").tag, "AcdB64a2b");
  EXPECT_TRUE(line->tensor("wei").any);
  EXPECT_FALSE(line->tensor("dst").any);
  EXPECT_FALSE(line->tensor("stats").present());
  EXPECT_EQ(line->attributes.at("post-ops"), "binary_add:f32:14:acdb+eltwise_relu");
  EXPECT_EQ(line->setting("alg"), "convolution_direct");
  EXPECT_EQ(line->ms, 1.5);
  const auto letters = ParseProblemLetters(line->problem);
  ASSERT_TRUE(letters.ok());
  EXPECT_EQ(letters->at("ic"), 3);
  EXPECT_EQ(letters->at("kw"), 7);
  EXPECT_THAT(*ParseProblemDims("2x3:4"), ElementsAre(ElementsAre(2, 3), ElementsAre(4)));
}

TEST(PrimitiveLineTest, BecomesACommandOfBenchdnn) {
  EXPECT_EQ(BenchdnnCommandOf(kConv),
            "benchdnn --mode=P --conv --dir=FWD_B --dt=bf16:bf16:f32 --stag=acdb --wtag=any --dtag=acdb "
            "--attr-post-ops=add:f32:14:acdb+relu --attr-scratchpad=user "
            "mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3");
}

TEST(PrimitiveLineTest, WhatIsNoLineIsAnError) {
  for (const std::string_view text :
       {"", "onednn_verbose,v1,info,cpu,isa:x", "onednn_verbose,v1,primitive,exec,cpu,matmul",
        "onednn_verbose,v1,primitive,exec,cpu,reorder,x,undef,src,,,1x1,0.1",
        "onednn_verbose,v1,primitive,exec,cpu,reorder,x,undef,src:f32::blocked:ab::f0,,,1x1,fast"}) {
    EXPECT_EQ(ParsePrimitiveLine(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(RepeatPrimitive(text, 1).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_FALSE(ParseProblemDims("2x").ok());
  EXPECT_FALSE(ParseProblemLetters("mb").ok());
}

// What oneDNN says when this graph runs.
std::vector<std::string> LinesOf(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto plan = CompilePlan(*graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::vector<Tensor> inputs;
  for (const NodeId input : graph->inputs())
    inputs.emplace_back(graph->type(graph->output(input)), graph->shape(graph->output(input)).values());
  const auto capture = VerboseCapture::Start();
  EXPECT_TRUE(capture.ok());
  EXPECT_TRUE((*plan)->Run(inputs).ok());
  std::vector<std::string> lines;
  for (std::string& line : (*capture)->TakeLines()) {
    if (IsExecLine(line)) lines.push_back(std::move(line));
  }
  return lines;
}

constexpr std::string_view kGraphs[] = {
    R"(graph (x: f32[2,17,13,11]) { w = const f32[24,17,3,3]  b = const f32[24]
       c = conv(x, w, b) {pads=[0,2,1,3], strides=[2,1], activation="relu"}
       v = const f32[24,1,3,3]  d = conv(c, v) {group=24, pads=[1,1,1,1], dilations=[1,1]}
       return max_pool(d) {kernel=[3,2], strides=[2,1]}, average_pool(d) {kernel=[2,2]} })",
    "graph (x: f32[2,16,9]) { w = const f32[8,16,3]  return conv(x, w) {pads=[1,1]} }",
    "graph (x: bf16[4,9,40]) { w = const bf16[40,24]  b = const bf16[24]  return matmul(x, w, b) {activation=\"tanh\"} "
    "}",
    "graph (a: f32[3,5,7], b: f32[3,9,7]) { return matmul(a, b) {transpose_b=true} }",
    "graph (x: f32[6,33]) { a = softmax(x)  b = exp(x)  c = add(a, b)  return c }",
    R"(graph (x: f32[2,9,64]) { s = const f32[64]  b = const f32[64]  return layer_norm(x, s, b) })",
    "graph (x: f32[1,8,7,5]) { w = const f32[8,4,3,3]  return conv_transpose(x, w) {strides=[2,2]} }",
    R"(graph (x: f32[7,3,16]) { w = const f32[1,128,16]  r = const f32[1,128,32]  b = const f32[1,256]
       return lstm(x, w, r, b) {hidden_size=32} })",
    "graph (x: f32[2,3,8,9]) { y: bf16[2,3,8,9] = cast(x)  return y }",
};

TEST(RepeatTest, WhatPlansExecuteIsDoneAgainByTheSameKernel) {
  std::set<std::string> covered;
  for (const std::string_view text : kGraphs) {
    for (const std::string& line : LinesOf(text)) {
      const auto repeated = RepeatPrimitive(line, 1, 0.001);
      ASSERT_TRUE(repeated.ok()) << line << "\n" << repeated.status();
      EXPECT_EQ(repeated->kernel, repeated->wanted) << line;
      EXPECT_GT(repeated->best_us, 0);
      covered.emplace(PrimitiveOf(line));
    }
  }
  for (const std::string primitive : {"convolution", "matmul", "pooling"})
    EXPECT_TRUE(covered.contains(primitive)) << primitive;
}

TEST(RepeatTest, WhatIsNotThereIsDoneByTheFirstKernel) {
  for (std::string line : LinesOf("graph (a: f32[3,5,7], b: f32[3,9,7]) { return matmul(a, b) {transpose_b=true} }")) {
    const size_t at = line.find(",matmul,") + std::string_view(",matmul,").size();
    line.replace(at, line.find(',', at) - at, "jit:none");
    const auto repeated = RepeatPrimitive(line, 1, 0.001);
    ASSERT_TRUE(repeated.ok()) << line << "\n" << repeated.status();
    EXPECT_EQ(repeated->wanted, "jit:none");
    EXPECT_FALSE(repeated->kernel.starts_with("ref")) << repeated->kernel << " " << line;
  }
}

// Of each kind that is covered, as oneDNN 3.7 said it.
constexpr std::string_view kLines[] = {
    kConv,
    "onednn_verbose,v1,primitive,exec,cpu,inner_product,brgemm:avx512_core,forward_inference,src:f32:a:blocked:ab::f0 "
    "wei:f32:ap:blocked:AB16b64a::f0 bia:undef::undef::: dst:f32:a:blocked:ab::f0,,,mb1ic2048oc1000,0.7",
    "onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,src:f32::blocked:abc:24576x192x1:f0 "
    "wei:f32::blocked:acb:24576x1x192:f0 "
    "dst:f32::blocked:abc::f0,attr-post-ops:eltwise_linear:0.125+sum+binary_add:f32:5:abc+"
    "eltwise_clip_v2:0:6+eltwise_swish:1,,4x128x64:4x64x128,6.7",
    "onednn_verbose,v1,primitive,exec,cpu,softmax,jit:avx512_core_bf16,forward_inference,src:f32::blocked:abc::f0 "
    "dst:f32::blocked:abc::f0,,alg:softmax_accurate axis:2,4x128x64,19.3",
    "onednn_verbose,v1,primitive,exec,cpu,eltwise,jit:avx512_core,forward_inference,data:f32::blocked:abc::f0,,"
    "alg:eltwise_gelu_erf alpha:0 beta:0,4x128x64,18.7",
    "onednn_verbose,v1,primitive,exec,cpu,layer_normalization,jit:uni,forward_inference,src:f32::blocked:abc::f0 "
    "dst:f32::blocked:abc::f0 stats:undef::undef::: scale:f32::blocked:a::f0 "
    "shift:f32::blocked:a::f0,,flags:CH,4x128x64,20.8",
    "onednn_verbose,v1,primitive,exec,cpu,binary,jit:uni,undef,src:f32::blocked:abc::f0 src:f32::blocked:abc::f0 "
    "dst:f32::blocked:abc::f0,,alg:binary_add,4x128x64:1x1x64,0.01",
    "onednn_verbose,v1,primitive,exec,cpu,pooling,jit:avx512_core,forward_inference,src:f32::blocked:acdb::f0 "
    "dst:f32:a:blocked:acdb::f0,,alg:pooling_max,mb1ic64_ih112oh56kh3sh2dh0ph1_iw112ow56kw3sw2dw0pw1,0.3",
    "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 dst:bf16::blocked:acdb::f0,,,"
    "1x3x224x224,19.8",
    "onednn_verbose,v1,primitive,exec,cpu,batch_normalization,bnorm_jit:avx512_core,forward_inference,"
    "data:f32::blocked:acdb::f0,,flags:GCHR,mb1ic64ih12iw12,23.8",
    "onednn_verbose,v1,primitive,exec,cpu,concat,simple:any,undef,src:f32::blocked:acdb::f0 src:f32::blocked:acdb::f0 "
    "dst:f32:a:blocked:acdb::f0,,axis:1,1x64x12x12:1x64x12x12,35.8",
    "onednn_verbose,v1,primitive,exec,cpu,reduction,ref:any,undef,src:f32::blocked:acdb::f0 dst:f32::blocked:acdb::f0,,"
    "alg:reduction_mean p:0 eps:0,1x64x12x12:1x64x1x1,36.5",
    "onednn_verbose,v1,primitive,exec,cpu,resampling,jit:avx512_core_bf16,forward_inference,src:f32::blocked:acdb::f0 "
    "dst:f32:a:blocked:acdb::f0,,alg:resampling_linear,mb1ic64_ih12oh24_iw12ow24,19",
    "onednn_verbose,v1,primitive,exec,cpu,prelu,jit_uni,forward_inference,data:f32::blocked:abcd::f0 "
    "wei:f32:a:blocked:abcd::f0,,,2x16x8x8:1x16x1x1,19.6",
    "onednn_verbose,v1,primitive,exec,cpu,deconvolution,brg_deconv:avx512_core+brgconv_strided:avx512_core,"
    "forward_inference,src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Acdb32a::f0 bia:undef::undef::: "
    "dst:f32:a:blocked:acdb::f0,,alg:deconvolution_direct,mb2_ic16oc32_ih8oh16kh3sh2dh0ph1_iw9ow18kw3sw2dw0pw1,0.16",
    "onednn_verbose,v1,primitive,exec,cpu,rnn,brgemm:avx512_core,forward_inference,src_layer:f32::blocked:abc::f0 "
    "src_iter:f32::blocked:abcd::f0 wei_layer:f32:a:blocked:abdEc32e::f0 wei_iter:f32:a:blocked:abdEc32e::f0 "
    "bias:f32::blocked:abcd::f0 dst_layer:f32::blocked:abc::f0 dst_iter:f32::blocked:abcd::f0,,"
    "alg:vanilla_lstm direction:unidirectional_left2right activation:undef flags:,l1t5mb3sic32slc16dhc32dic32,422.9",
};

TEST(RepeatTest, EachKindIsCovered) {
  const bool avx2 = DescribeCpu().isa.starts_with("avx2");
  for (const std::string_view line : kLines) {
    if (!DescribeCpu().native_bf16 && line == kConv) continue;  // oneDNN's reference, which takes minutes
    if (avx2 && line.find(",rnn,") != line.npos) {
      const absl::Status status = CanRepeat(line);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("as brgemm:avx512_core has them; this CPU has "));
      EXPECT_EQ(RepeatPrimitive(line, 1, 0.001).status(), status);
      continue;
    }
    const auto repeated = RepeatPrimitive(line, 1, 0.001);
    ASSERT_TRUE(repeated.ok()) << line << "\n" << repeated.status();  // the kernel depends on the CPU
    EXPECT_TRUE(CanRepeat(line).ok());
  }
}

TEST(RepeatTest, WhatIsNotCoveredIsRefusedWithTheReason) {
  const auto refused = [](std::string_view line) {
    const absl::Status status = CanRepeat(line);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << line;
    return std::string(status.message());
  };
  EXPECT_THAT(refused("onednn_verbose,v1,primitive,exec,cpu,lrn,jit:avx2,forward_inference,data:f32::blocked:abcd::f0,,"
                      "alg:lrn_across_channels,mb2ic16ih8iw8ls5beta0.75,0.01"),
              HasSubstr("primitive 'lrn'"));
  EXPECT_THAT(refused("onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab::f0 "
                      "dst:s8::blocked:ba::f0,attr-scales:dst:0:f32,,8x8,0.01"),
              HasSubstr("attribute 'scales:dst:0:f32'"));
  EXPECT_THAT(refused("onednn_verbose,v1,primitive,exec,cpu,eltwise,x,backward_data,data:f32::blocked:ab::f0,,"
                      "alg:eltwise_relu alpha:0 beta:0,8x8,0.01"),
              HasSubstr("direction 'backward_data'"));
}

}  // namespace
}  // namespace halftone
