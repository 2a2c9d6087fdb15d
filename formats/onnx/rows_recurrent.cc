// SPDX-License-Identifier: Apache-2.0
// Rows of recurrent ops, com.microsoft's attention, einsum, signals, random numbers.
#include "formats/onnx/op_rows.h"
#include "formats/onnx/quantize_rules.h"
#include "formats/onnx/recurrent_rules.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using Form = MovedRow::Form;
using enum OpKind;

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr AttributeRow kLstmAttributes[] = {
    {"activation_alpha", "activation_alphas", K::kFloats},
    {"activation_beta", "activation_betas", K::kFloats},
    {"activations", "activations", K::kStrings},
    {"clip", "clip", K::kFloat},
    {"direction", "direction", K::kString},
    {"hidden_size", "hidden_size", K::kInt},
    {"input_forget", "input_forget", K::kBool},
    {"layout", "batch_first", K::kBool, 14},
};
constexpr AttributeRow kGruAttributes[] = {
    {"activation_alpha", "activation_alphas", K::kFloats},
    {"activation_beta", "activation_betas", K::kFloats},
    {"activations", "activations", K::kStrings},
    {"clip", "clip", K::kFloat},
    {"direction", "direction", K::kString},
    {"hidden_size", "hidden_size", K::kInt},
    {"linear_before_reset", "linear_before_reset", K::kBool},
    {"layout", "batch_first", K::kBool, 14},
};
constexpr AttributeRow kRnnAttributes[] = {
    {"activation_alpha", "activation_alphas", K::kFloats},
    {"activation_beta", "activation_betas", K::kFloats},
    {"activations", "activations", K::kStrings},
    {"clip", "clip", K::kFloat},
    {"direction", "direction", K::kString},
    {"hidden_size", "hidden_size", K::kInt},
    {"layout", "batch_first", K::kBool, 14},
};
constexpr AttributeRow kEquation[] = {{"equation", "equation", K::kString}};
constexpr AttributeRow kDftAttributes[] = {{"inverse", "inverse", K::kBool}, {"onesided", "onesided", K::kBool}};
constexpr AttributeRow kOnesided[] = {{"onesided", "onesided", K::kBool}};
constexpr AttributeRow kWindowAttributes[] = {{"periodic", "periodic", K::kBool}};
constexpr AttributeRow kUniformAttributes[] = {{"low", "low", K::kFloat}, {"high", "high", K::kFloat}};
constexpr AttributeRow kNormalAttributes[] = {{"mean", "mean", K::kFloat}, {"scale", "scale", K::kFloat}};
constexpr AttributeRow kAttentionAttributes[] = {
    {"num_heads", "num_heads", K::kInt},
    {"unidirectional", "unidirectional", K::kBool},
    {"qkv_hidden_sizes", "qkv_hidden_sizes", K::kInts},
    {"scale", "scale", K::kFloat},
    {"mask_filter_value", "mask_filter_value", K::kFloat},
    {"do_rotary", "", K::kInt},
    {"past_present_share_buffer", "", K::kInt},
    {"rotary_embedding_dim", "", K::kInt},
};
constexpr MovedRow kDftAxis[] = {{"axis", Form::kInt, 2, 20}};
constexpr MovedRow kShape0[] = {{"shape", Form::kInts, 0, kNever, /*required=*/true}};

// As in rows_basic.cc.
constexpr OpRow kRows[] = {
    {"LSTM", kLstm, 7, 22, 8, kLstmAttributes},
    {.onnx = "DynamicQuantizeLSTM",
     .op = kLstm,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 12,
     .attributes = kLstmAttributes,
     .keep_opaque = DynamicLstmIsOpaque,
     .finish = FinishDynamicLstm,
     .domain = kMicrosoft},
    {"GRU", kGru, 7, 22, 6, kGruAttributes},
    {"RNN", kRnn, 7, 22, 6, kRnnAttributes},
    {"Einsum", kEinsum, 12, kNever, kNever, kEquation},
    {"Det", kDet, 11, 22, 1},
    {"DFT", kDft, 17, 17, 3, kDftAttributes, kDftAxis, nullptr, FinishDft, DftMinOpset},
    {"STFT", kStft, 17, 17, 4, kOnesided},
    {"HannWindow", kWindow, 17, 17, 1, kWindowAttributes, {}, nullptr, FinishWindow, nullptr, WriteWindow},
    {"HammingWindow", kWindow, 17, 17, 1, kWindowAttributes, {}, nullptr, FinishWindow, nullptr, WriteWindow},
    {"BlackmanWindow", kWindow, 17, 17, 1, kWindowAttributes, {}, nullptr, FinishWindow, nullptr, WriteWindow},
    {"MelWeightMatrix", kMelWeightMatrix, 17, 17, 5, {}, {}, nullptr, nullptr, nullptr, WriteMelWeightMatrix},
    {"RandomUniform", kRandomUniform, 1, 22, 0, kUniformAttributes, kShape0, RandomIsOpaque, FinishRandom,
     RandomMinOpset, WriteRandom},
    {"RandomUniformLike",
     kRandomUniform,
     1,
     22,
     1,
     kUniformAttributes,
     {},
     RandomIsOpaque,
     FinishRandom,
     RandomMinOpset,
     WriteRandom},
    {"RandomNormal", kRandomNormal, 1, 22, 0, kNormalAttributes, kShape0, RandomIsOpaque, FinishRandom, RandomMinOpset,
     WriteRandom},
    {"RandomNormalLike",
     kRandomNormal,
     1,
     22,
     1,
     kNormalAttributes,
     {},
     RandomIsOpaque,
     FinishRandom,
     RandomMinOpset,
     WriteRandom},
    {.onnx = "Attention",
     .op = kAttention,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 7,
     .attributes = kAttentionAttributes,
     .keep_opaque = AttentionIsOpaque,
     .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> RecurrentRows() { return kRows; }

}  // namespace halftone::onnx_format
