// SPDX-License-Identifier: Apache-2.0
// The cases of dialect_test.cc: odd sizes, both layouts, every op that a dialect writes, and what only in part can be
// said.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_DIALECT_CASES_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_DIALECT_CASES_H_

#include <ostream>
#include <string_view>

#include "formats/dialects.h"

namespace halftone::testing {

// `ops`: of the file without Placeholder and Const, sorted by name of their nodes, with the words of fused_ops:
// "_FusedConv2D[BiasAdd]".
struct DialectCase {
  std::string_view name;
  Dialect dialect;
  std::string_view graph;
  std::string_view ops;
};

inline void PrintTo(const DialectCase& dialect_case, std::ostream* out) { *out << dialect_case.name; }

inline constexpr Dialect kTf = Dialect::kTensorFlow;
inline constexpr Dialect kItex = Dialect::kItex;

// clang-format off
inline constexpr DialectCase kDialectCases[] = {
    // --- tensorflow: convolutions.
    {"TfConvBias", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", strides=[2, 1], auto_pad="SAME_UPPER"} name="y"  return y })",
     "_FusedConv2D[BiasAdd]"},
    {"TfConvBiasRelu6Nchw", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NCHW", weights_layout="HWIO", pads=[1, 0, 2, 1], dilations=[1, 2], activation="relu6"} name="y"  return y })",
     "_FusedConv2D[BiasAdd,Relu6]"},
    {"TfConvElu", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]
        y = conv(x, w) {layout="NHWC", weights_layout="HWIO", auto_pad="VALID", activation="elu"} name="y"  return y })",
     "_FusedConv2D[Elu]"},
    {"TfConvBiasLeaky", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="leaky_relu", activation_alpha=0.125} name="y"  return y })",
     "_FusedConv2D[BiasAdd,LeakyRelu]"},
    {"TfConvBiasHardSwish", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="hard_swish"} name="y"  return y })",
     "_FusedConv2D[BiasAdd,_FusedHardSwish]"},
    {"TfConvBiasAddRelu", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3], r: f32[2,3,6,5]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b, r) {layout="NHWC", weights_layout="HWIO", activation="relu"} name="y"  return y })",
     "_FusedConv2D[BiasAdd,Add,Relu]"},
    {"TfConvOfOnnxWeights", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7]) { w = const f32[5,3,3,2]  b = const f32[5]
        y = conv(x, w, b) {activation="relu"} name="y"  return y })",
     "_FusedConv2D[BiasAdd,Relu]"},
    {"TfConvBf16", kTf,
     R"(graph format=graphdef layout=channels_last (x: bf16[2,5,7,3]) { w = const bf16[3,2,3,5]  b = const bf16[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="relu"} name="y"  return y })",
     "_FusedConv2D[BiasAdd,Relu]"},
    {"TfConvBiasSwishInPart", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="swish"} name="y"  return y })",
     "_MklSwish _FusedConv2D[BiasAdd]"},
    {"TfConvActivationFirstInPart", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3], r: f32[2,3,6,5]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b, r) {layout="NHWC", weights_layout="HWIO", activation="relu", activation_first=true} name="y"  return y })",
     "AddV2 _FusedConv2D[BiasAdd,Relu]"},
    {"TfConvHalfPrecisionHasNone", kTf,
     R"(graph format=graphdef layout=channels_last (x: f16[2,5,7,3]) { w = const f16[3,2,3,5]
        y = conv(x, w) {layout="NHWC", weights_layout="HWIO", activation="relu"} name="y"  return y })",
     "Relu Conv2D"},
    {"TfDepthwiseBiasRelu6", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,2]  b = const f32[6]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWCM", group=3, auto_pad="SAME_UPPER", activation="relu6"} name="y"  return y })",
     "_FusedDepthwiseConv2dNative[BiasAdd,Relu6]"},
    {"TfDepthwisePadsInFront", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,1]  b = const f32[3]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWCM", group=3, pads=[0, 2, 1, 1], activation="relu"} name="y"  return y })",
     "_FusedDepthwiseConv2dNative[BiasAdd,Relu] Pad"},
    {"TfConv3DPadsBiasAddLeaky", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[1,3,4,5,2], r: f32[1,4,3,5,3]) { w = const f32[2,2,3,2,3]  b = const f32[3]
        y = conv(x, w, b, r) {layout="NHWC", weights_layout="HWIO", pads=[1, 0, 1, 1, 0, 1], activation="leaky_relu", activation_alpha=0.25} name="y"  return y })",
     "_FusedConv3D[BiasAdd,Add,LeakyRelu]"},
    {"TfConv3DPadsAlone", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[1,2,3,4,5]) { w = const f32[2,2,3,2,3]
        y = conv(x, w) {layout="NCHW", weights_layout="HWIO", pads=[1, 0, 1, 0, 2, 1]} name="y"  return y })",
     "_FusedConv3D[]"},
    // --- tensorflow: products.
    {"TfMatMulBias", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { w = const f32[7,5]  b = const f32[7]
        y = matmul(x, w, b) {transpose_b=true} name="y"  return y })",
     "_FusedMatMul[BiasAdd]"},
    {"TfMatMulBiasTanh", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b) {activation="tanh"} name="y"  return y })",
     "_FusedMatMul[BiasAdd,Tanh]"},
    {"TfMatMulBiasSigmoid", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b) {activation="sigmoid"} name="y"  return y })",
     "_FusedMatMul[BiasAdd,Sigmoid]"},
    {"TfMatMulBiasGelu", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b) {activation="gelu"} name="y"  return y })",
     "_FusedMatMul[BiasAdd,GeluExact]"},
    {"TfMatMulBiasGeluTanhBf16", kTf,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5]) { w = const bf16[5,7]  b = const bf16[7]
        y = matmul(x, w, b) {activation="gelu_tanh"} name="y"  return y })",
     "_FusedMatMul[BiasAdd,GeluApproximate]"},
    {"TfMatMulBiasAdd", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5], r: f32[3,7]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b, r) name="y"  return y })",
     "_FusedMatMul[BiasAdd,Add]"},
    {"TfMatMulBiasAddReluInPart", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5], r: f32[3,7]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b, r) {activation="relu"} name="y"  return y })",
     "Relu _FusedMatMul[BiasAdd,Add]"},
    {"TfMatMulBroadcastInPart", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5], r: f32[1,7]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b, r) name="y"  return y })",
     "AddV2 _FusedMatMul[BiasAdd]"},
    {"TfMatMulTransposedHasNone", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[5,3]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b) {transpose_a=true} name="y"  return y })",
     "BiasAdd MatMul"},
    {"TfBatchMatMulScaleMask", kTf,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,7,4], m: f32[2,1,1,7]) {
        y = matmul(q, k, _, m) {transpose_b=true, scale=0.125} name="y"  return y })",
     "_MklFusedBatchMatMulV2[Mul,Add]"},
    {"TfBatchMatMulScale", kTf,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,4,7]) { y = matmul(q, k) {scale=0.3} name="y"  return y })",
     "_MklFusedBatchMatMulV2[Mul]"},
    {"TfBatchMatMulMask", kTf,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,4,7], m: f32[2,3,5,7]) { y = matmul(q, k, _, m) name="y"  return y })",
     "_MklFusedBatchMatMulV2[Add]"},
    {"TfBatchMatMulOfThreeHasNone", kTf,
     R"(graph format=graphdef layout=channels_last (q: f32[3,5,4], k: f32[3,4,7]) { y = matmul(q, k) {scale=0.5} name="y"  return y })",
     "Mul BatchMatMulV2"},
    // --- tensorflow: normalization and activations.
    {"TfBatchNormRelu", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { s = const f32[3]  o = const f32[3]  m = const f32[3]  v = const f32[3] uniform(0.5, 2)
        y = batch_norm(x, s, o, m, v) {layout="NHWC", epsilon=0.01, activation="relu"} name="y"  return y })",
     "_FusedBatchNormEx"},
    {"TfBatchNormTanhHasNone", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7]) { s = const f32[3]  o = const f32[3]  m = const f32[3]  v = const f32[3] uniform(0.5, 2)
        y = batch_norm(x, s, o, m, v) {layout="NCHW", activation="tanh"} name="y"  return y })",
     "Tanh FusedBatchNormV3"},
    {"TfBatchNormOfASideInputHasNone", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3], r: f32[2,5,7,3]) { s = const f32[3]  o = const f32[3]  m = const f32[3]  v = const f32[3] uniform(0.5, 2)
        n = batch_norm(x, s, o, m, v) {layout="NHWC"} name="n"  y = binary_chain(n, r) {ops=["add"], activation="relu"} name="y"  return y })",
     "FusedBatchNormV3 Relu AddV2"},
    {"TfLayerNorm", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5]) { s = const f32[5]  o = const f32[5]
        y = layer_norm(x, s, o) {epsilon=0.001} name="y"  return y })",
     "_MklLayerNorm"},
    {"TfInstanceNormLeaky", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { s = const f32[3]  o = const f32[3]
        y = instance_norm(x, s, o) {layout="NHWC", epsilon=0.001, activation="leaky_relu", activation_alpha=0.1} name="y"  return y })",
     "_MklFusedInstanceNorm[LeakyRelu]"},
    {"TfInstanceNormVolume", kTf,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,4,5,2]) { s = const f32[3]  o = const f32[3]
        y = instance_norm(x, s, o) {layout="NCHW"} name="y"  return y })",
     "_MklFusedInstanceNorm[]"},
    {"TfSwish", kTf, R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = swish(x) name="y"  return y })", "_MklSwish"},
    {"TfSwishOfAlphaHasNone", kTf, R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = swish(x) {alpha=1.5} name="y"  return y })",
     "Mul Mul Sigmoid"},
    {"TfMish", kTf, R"(graph format=graphdef layout=channels_last (x: bf16[3,5]) { y = mish(x) name="y"  return y })", "_MklFusedMish"},
    {"TfGreaterEqualWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[5]) { y: f32[3,5] = greater_equal(a, b) name="y"  return y })",
     "_GreaterEqualWithCast"},
    {"TfEqualWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5]) { y: f32[3,5] = equal(a, relu(a) name="r") name="y"  return y })", "Relu _EqualWithCast"},
    {"TfNotEqualWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[3,1]) { y: f32[3,5] = not_equal(a, b) name="y"  return y })",
     "_NotEqualWithCast"},
    {"TfLessWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[5]) { y: f32[3,5] = less(a, b) name="y"  return y })", "_LessWithCast"},
    {"TfLessEqualWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5]) { y: f32[3,5] = less_equal(a, relu(a) name="r") name="y"  return y })",
     "Relu _LessEqualWithCast"},
    {"TfGreaterWithCast", kTf,
     R"(graph format=graphdef layout=channels_last (a: bf16[5], b: bf16[3,5]) { y: bf16[3,5] = greater(a, b) name="y"  return y })", "_GreaterWithCast"},

    // --- itex: convolutions.
    {"ItexConvBiasAddGelu", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3], r: f32[2,3,6,5]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b, r) {layout="NHWC", weights_layout="HWIO", activation="gelu"} name="y"  return y })",
     "_ITEXFusedConv2D[BiasAdd,Add,GeluExact]"},
    {"ItexConvBiasMishAdd", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7], r: f32[2,5,5,8]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b, r) {layout="NCHW", weights_layout="HWIO", pads=[1, 0, 1, 2], activation="mish", activation_first=true} name="y"  return y })",
     "_ITEXFusedConv2D[BiasAdd,Mish,Add]"},
    {"ItexConvBiasSwishBf16", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[2,5,7,3]) { w = const bf16[3,2,3,5]  b = const bf16[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="swish"} name="y"  return y })",
     "_ITEXFusedConv2D[BiasAdd,Swish]"},
    {"ItexConvBiasLeaky", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="leaky_relu", activation_alpha=0.3} name="y"  return y })",
     "_ITEXFusedConv2D[BiasAdd,LeakyRelu]"},
    {"ItexConvHardSwishInPart", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,5]  b = const f32[5]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", activation="hard_swish"} name="y"  return y })",
     "Mul AddV2 _ITEXFusedConv2D[BiasAdd] Mul Relu6"},
    {"ItexDepthwisePads", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { w = const f32[3,2,3,2]  b = const f32[6]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWCM", group=3, pads=[0, 2, 1, 1], activation="relu"} name="y"  return y })",
     "_ITEXFusedDepthwiseConv2dNative[BiasAdd,Relu]"},
    {"ItexPadDepthwise", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7]) { w = const f32[3,2,3,2]
        y = conv(x, w) {layout="NCHW", weights_layout="HWCM", group=3, pads=[0, 2, 1, 1]} name="y"  return y })",
     "_ITEXPadWithDepthwiseConv2dNative"},
    {"ItexConv3DBiasTanh", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[1,3,4,5,2]) { w = const f32[2,2,3,2,3]  b = const f32[3]
        y = conv(x, w, b) {layout="NHWC", weights_layout="HWIO", auto_pad="SAME_UPPER", activation="tanh"} name="y"  return y })",
     "_ITEXFusedConv3D[BiasAdd,Tanh]"},
    {"ItexPadConv3D", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[1,3,4,5,2]) { w = const f32[2,2,3,2,3]
        y = conv(x, w) {layout="NHWC", weights_layout="HWIO", pads=[1, 0, 1, 1, 0, 1]} name="y"  return y })",
     "_ITEXPadWithConv3D"},
    {"ItexPadConv3DBiasRelu", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[1,2,3,4,5]) { w = const f32[2,2,3,2,3]  b = const f32[3]
        y = conv(x, w, b) {layout="NCHW", weights_layout="HWIO", pads=[1, 0, 1, 1, 0, 1], activation="relu"} name="y"  return y })",
     "_ITEXPadWithFusedConv3D[BiasAdd,Relu]"},
    // --- itex: products.
    {"ItexMatMulBiasAddGelu", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[5,3], r: f32[3,7]) { w = const f32[5,7]  b = const f32[7]
        y = matmul(x, w, b, r) {transpose_a=true, activation="gelu_tanh"} name="y"  return y })",
     "_ITEXFusedMatMul[BiasAdd,Add,GeluApproximate]"},
    {"ItexBatchMatMulScaleMask", kItex,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,7,4], m: f32[2,1,1,7]) {
        y = matmul(q, k, _, m) {transpose_b=true, scale=0.125} name="y"  return y })",
     "_ITEXFusedBatchMatMulV2[Mul,BinaryAdd]"},
    {"ItexAccMatMul", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5], w: bf16[5,7]) { c: f32[3,5] = cast(x) name="c"  d: f32[5,7] = cast(w) name="d"
        y = matmul(c, d) name="y"  return y })",
     "_ITEXAccMatMul"},
    {"ItexFusedAccMatMul", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5], w: bf16[7,5]) { c: f32[3,5] = cast(x) name="c"  d: f32[7,5] = cast(w) name="d"  b = const f32[7]
        y = matmul(c, d, b) {transpose_b=true, activation="relu"} name="y"  return y })",
     "_ITEXFusedAccMatMul[BiasAdd,Relu]"},
    {"ItexAccMatMulMixed", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5], w: bf16[5,7]) { y: f32[3,7] = matmul(x, w) name="y"  return y })",
     "_ITEXAccMatMul"},
    {"ItexFusedAccMatMulMixed", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5], w: bf16[5,7], r: f32[3,7]) { b = const f32[7]
        y: f32[3,7] = matmul(x, w, b, r) {activation="relu"} name="y"  return y })",
     "_ITEXFusedAccMatMul[BiasAdd,Add,Relu]"},
    {"ItexAccMatMulMathMode", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5], w: f32[5,7]) { y = matmul(x, w) {math_mode="bf16"} name="y"  return y })",
     "_ITEXAccMatMul"},
    {"ItexAccMatMulWhoseCastIsRead", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[3,5], w: bf16[5,7]) { c: f32[3,5] = cast(x) name="c"  d: f32[5,7] = cast(w) name="d"
        y = matmul(c, d) name="y"  z = relu(c) name="z"  return y, z })",
     "Cast _ITEXAccMatMul Relu"},
    // --- itex: normalization, activations, chains, attention.
    {"ItexBatchNormRelu", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7]) { s = const f32[3]  o = const f32[3]  m = const f32[3]  v = const f32[3] uniform(0.5, 2)
        y = batch_norm(x, s, o, m, v) {layout="NCHW", epsilon=0.01, activation="relu"} name="y"  return y })",
     "_ITEXFusedBatchNormEx"},
    {"ItexLayerNorm", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5]) { s = const f32[5]  o = const f32[5]
        y = layer_norm(x, s, o) {epsilon=0.001} name="y"  return y })",
     "ITEXLayerNorm"},
    {"ItexLayerNormBf16", kItex,
     R"(graph format=graphdef layout=channels_last (x: bf16[2,3,5]) { s = const bf16[5]  o = const bf16[5]
        y = layer_norm(x, s, o) {epsilon=0.001} name="y"  return y })",
     "_ITEXMklLayerNorm"},
    {"ItexInstanceNorm", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,5,7,3]) { s = const f32[3]  o = const f32[3]
        y = instance_norm(x, s, o) {layout="NHWC", epsilon=0.001} name="y"  return y })",
     "_ITEXInstanceNorm"},
    {"ItexInstanceNormRelu", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,4,5,2]) { s = const f32[3]  o = const f32[3]
        y = instance_norm(x, s, o) {layout="NCHW", activation="relu"} name="y"  return y })",
     "_ITEXFusedInstanceNorm"},
    {"ItexAddSoftmax", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7], m: f32[2,1,1,7]) { y = softmax(x, m) name="y"  return y })",
     "_ITEXFusedAddV2WithSoftmax"},
    {"ItexScaledSoftmaxInPart", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[2,3,5,7], m: f32[2,1,1,7]) { y = softmax(x, m) {scale=0.25} name="y"  return y })",
     "_ITEXFusedAddV2WithSoftmax Mul"},
    {"ItexSwish", kItex, R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = swish(x) {alpha=1.5} name="y"  return y })", "_ITEXSwish"},
    {"ItexMish", kItex, R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = mish(x) name="y"  return y })", "_ITEXMish"},
    {"ItexGelu", kItex, R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = gelu(x) name="y"  return y })", "ITEXGelu"},
    {"ItexGeluTanh", kItex,
     R"(graph format=graphdef layout=channels_last (x: f32[3,5]) { y = gelu(x) {approximate="tanh"} name="y"  return y })", "ITEXGelu"},
    {"ItexChain", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[3,5], c: f32[3,5], d: f32[3,5]) {
        y = binary_chain(a, b, c, d) {ops=["rsub", "mul", "rsub"]} name="y"  return y })",
     "_ITEXFusedBinary[Sub,Mul,Sub]"},
    {"ItexChainOfShapesHasNone", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[5], c: f32[3,5]) {
        y = binary_chain(a, b, c) {ops=["add", "mul"]} name="y"  return y })",
     "Mul AddV2"},
    {"ItexAttention", kItex,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,7,4], v: f32[2,3,7,4], m: f32[2,1,5,7]) {
        y = scaled_dot_product_attention(q, k, v, m) name="y"  return y })",
     "Transpose ScaledDotProductAttentionInference"},
    {"ItexAttentionWithoutMask", kItex,
     R"(graph format=graphdef layout=channels_last (q: f32[2,3,5,4], k: f32[2,3,7,4], v: f32[2,3,7,4]) {
        y = scaled_dot_product_attention(q, k, v) name="y"  return y })",
     "Transpose ScaledDotProductAttentionInference"},
    {"ItexLessWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[5]) { y: f32[3,5] = less(a, b) name="y"  return y })", "_ITEXLessWithCast"},
    {"ItexNotEqualWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[5]) { y: f32[3,5] = not_equal(a, b) name="y"  return y })",
     "_ITEXNotEqualWithCast"},
    {"ItexEqualWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5]) { y: f32[3,5] = equal(a, relu(a) name="r") name="y"  return y })",
     "Relu _ITEXEqualWithCast"},
    {"ItexLessEqualWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5]) { y: f32[3,5] = less_equal(a, relu(a) name="r") name="y"  return y })",
     "Relu _ITEXLessEqualWithCast"},
    {"ItexGreaterWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: bf16[5], b: bf16[3,5]) { y: bf16[3,5] = greater(a, b) name="y"  return y })",
     "_ITEXGreaterWithCast"},
    {"ItexGreaterEqualWithCast", kItex,
     R"(graph format=graphdef layout=channels_last (a: f32[3,5], b: f32[3,1]) { y: f32[3,5] = greater_equal(a, b) name="y"  return y })",
     "_ITEXGreaterEqualWithCast"},
};
// clang-format on

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_DIALECT_CASES_H_
