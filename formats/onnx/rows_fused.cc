// SPDX-License-Identifier: Apache-2.0
// Rows of com.microsoft's fused operators, in f32 (and f16 on some machines) only: what ONNX Runtime's optimizer makes,
// and what the dialect "onnxruntime" writes.
#include "formats/onnx/elementwise_rules.h"
#include "formats/onnx/fused_rules.h"
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using enum OpKind;

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr AttributeRow kEpsilon[] = {{"epsilon", "epsilon", K::kFloat}};
constexpr AttributeRow kFusedConvAttributes[] = {
    {"auto_pad", "auto_pad", K::kString},
    {"dilations", "dilations", K::kInts},
    {"group", "group", K::kInt},
    {"pads", "pads", K::kInts},
    {"strides", "strides", K::kInts},
    {"activation", "activation", K::kString},
    // The last two are one list in the file: see WriteFusedConv.
    {"activation_alpha", "activation_alpha", K::kFloat},
    {"activation_beta", "activation_beta", K::kFloat},
};
constexpr AttributeRow kFusedMatMulAttributes[] = {
    {"alpha", "scale", K::kFloat},
    {"transA", "transpose_a", K::kBool},
    {"transB", "transpose_b", K::kBool},
};
constexpr AttributeRow kFusedGemmAttributes[] = {
    {"alpha", "alpha", K::kFloat},
    {"beta", "beta", K::kFloat},
    {"transA", "transpose_a", K::kBool},
    {"transB", "transpose_b", K::kBool},
};
constexpr AttributeRow kAlpha[] = {{"alpha", "alpha", K::kFloat}};

// An operator for export only: on import its name stands for another canonical op.
constexpr OpRow WrittenAs(std::string_view name, OpKind op, absl::Status (*write)(NodeWriter&, NodeId)) {
  return {.onnx = name,
          .op = op,
          .since = 8,  // some need an Expand before them
          .bf16_since = kNever,
          .max_inputs = kNever,
          .write = write,
          .domain = kMicrosoft};
}

// As in rows_basic.cc.
constexpr OpRow kRows[] = {
    {.onnx = "Gelu",
     .op = kGelu,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 1,
     .write = WriteMicrosoftGelu,
     .domain = kMicrosoft},
    {.onnx = "FastGelu",
     .op = kGelu,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 2,
     .finish = FinishFastGelu,
     .write = WriteMicrosoftGelu,
     .domain = kMicrosoft},
    {.onnx = "BiasGelu",
     .op = kGelu,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 2,
     .finish = FinishBiasGelu,
     .domain = kMicrosoft},
    {.onnx = "QuickGelu",
     .op = kSwish,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 1,
     .attributes = kAlpha,
     .finish = FinishQuickGelu,
     .write = WriteQuickGelu,
     .domain = kMicrosoft},
    {.onnx = "SkipLayerNormalization",
     .op = kSkipLayerNorm,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 5,
     .attributes = kEpsilon,
     .domain = kMicrosoft},
    {.onnx = "FusedConv",
     .op = kConv,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 4,
     .attributes = kFusedConvAttributes,
     .keep_opaque = FusedConvIsOpaque,
     .finish = FinishFusedConv,
     .write = WriteFusedConv,
     .domain = kMicrosoft},
    {.onnx = "FusedMatMul",
     .op = kMatMul,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 2,
     .attributes = kFusedMatMulAttributes,
     .keep_opaque = FusedMatMulIsOpaque,
     .finish = FinishFusedMatMul,
     .write = WriteFusedMatMul,
     .domain = kMicrosoft},
    {.onnx = "TransposeMatMul",
     .op = kMatMul,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 2,
     .attributes = kFusedMatMulAttributes,
     .keep_opaque = FusedMatMulIsOpaque,
     .finish = FinishFusedMatMul,
     .write = WriteFusedMatMul,
     .domain = kMicrosoft},
    {.onnx = "FusedGemm",
     .op = kGemm,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 3,
     .attributes = kFusedGemmAttributes,
     .keep_opaque = FusedGemmIsOpaque,
     .finish = FinishFusedGemm,
     .domain = kMicrosoft},
    {.onnx = "MultiHeadAttention",
     .op = kReshape,
     .since = 7,
     .bf16_since = kNever,
     .max_inputs = 8,
     .keep_opaque = MultiHeadAttentionIsOpaque,
     .finish = FinishMultiHeadAttention,
     .domain = kMicrosoft},
    WrittenAs("MultiHeadAttention", kScaledDotProductAttention, WriteMultiHeadAttention),
    WrittenAs("FusedGemm", kMatMul, WriteFusedGemm),
    WrittenAs("BiasGelu", kBinaryChain, WriteMicrosoftGelu),
    WrittenAs("FastGelu", kBinaryChain, WriteMicrosoftGelu),
};

}  // namespace

std::span<const OpRow> FusedRows() { return kRows; }

}  // namespace halftone::onnx_format
