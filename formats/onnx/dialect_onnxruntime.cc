// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime 1.21 says as one node and its CPU provider runs: operators of the domain com.microsoft, in f32.
// (Its f16 is a cast to f32 and back; bf16 and f64 it does not have.)

#include <algorithm>

#include "formats/onnx/dialects.h"
#include "ir/binary_chain.h"
#include "ir/fused_parts.h"

namespace halftone {
namespace {

using namespace dialects;
using enum Activation;

// kRelu6 is a clip to 0 and 6.
constexpr Activation kConvActivations[] = {kRelu, kRelu6, kClip, kTanh, kSigmoid, kLeakyRelu, kHardSigmoid};
constexpr Activation kGemmActivations[] = {kRelu, kTanh, kSigmoid, kLeakyRelu, kHardSigmoid, kElu};

bool IsF32(const Graph& g, NodeId node) { return AllHaveType(g, node, {DataType::kFloat32}); }

Activation FusedActivation(const Graph& g, NodeId node) {
  return ActivationFromName(g.node(node).attributes.String("activation", "")).value_or(kNone);
}

template <size_t N>
bool HasOneOf(const Activation (&activations)[N], const Graph& g, NodeId node) {
  return std::find(std::begin(activations), std::end(activations), FusedActivation(g, node)) != std::end(activations);
}

// A known number, or a symbol, in both places.
bool SameDim(const Dim& a, const Dim& b) { return a == b && (a.known() || !a.symbol.empty()); }

// A residual only in one and three dimensions: in two, ONNX Runtime lays a convolution out in blocks of channels and
// reads the residual as if it lay so too, which gives an error or, worse, other numbers.
bool IsFusedConv(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  if (attributes.String("layout", "NCHW") != "NCHW" || attributes.String("weights_layout", "OIHW") != "OIHW")
    return false;
  const std::string parts = PartsOf(g, conv);
  const std::optional<int> rank = RankOf(g, g.input(conv, 1));
  const bool residual = parts.find('r') != std::string::npos;
  if (residual && (!rank.has_value() || *rank == 4)) return false;
  if (parts == "r" || parts == "br") return true;
  const bool activated = parts == "a" || parts == "ba" || parts == "ra" || parts == "bra";
  return activated && HasOneOf(kConvActivations, g, conv);
}

// Two matrices. Without an activation Gemm says it, which is a standard op.
bool IsFusedGemm(const Graph& g, NodeId matmul) {
  if (RankOf(g, g.input(matmul, 0)) != 2 || RankOf(g, g.input(matmul, 1)) != 2) return false;
  const std::string parts = PartsOf(g, matmul);
  const bool activated = parts == "a" || parts == "sa" || parts == "ba" || parts == "sba";
  return activated && HasOneOf(kGemmActivations, g, matmul);
}

bool IsFusedMatMul(const Graph& g, NodeId matmul) {
  const std::optional<int> a = RankOf(g, g.input(matmul, 0)), b = RankOf(g, g.input(matmul, 1));
  if (!a.has_value() || !b.has_value() || *a < 2 || *b < 2) return false;
  const Attributes& attributes = g.node(matmul).attributes;
  const std::string parts = PartsOf(g, matmul);
  const bool transposed = attributes.Bool("transpose_a", false) || attributes.Bool("transpose_b", false);
  return parts == "s" || (parts.empty() && transposed && (*a != 2 || *b != 2));
}

std::string_view MatMulOp(const Graph& g, NodeId matmul) {
  if (IsFusedGemm(g, matmul)) return "FusedGemm";
  return IsFusedMatMul(g, matmul) ? "FusedMatMul" : "";
}

// gelu(x + b) with b along the last dimension.
std::string_view BiasGeluOp(const Graph& g, NodeId chain) {
  const Node& node = g.node(chain);
  const absl::StatusOr<std::vector<ChainStep>> steps = StepsOfChain(node);
  if (!steps.ok() || *steps != std::vector<ChainStep>{{OpKind::kAdd}}) return "";
  const Shape &x = g.shape(node.inputs[0]), &bias = g.shape(node.inputs[1]);
  if (!x.has_rank() || !bias.has_rank() || x.rank() < 1 || bias.rank() != 1) return "";
  if (!SameDim(x.dim(-1), bias.dim(0))) return "";
  const Activation activation = FusedActivation(g, chain);
  return activation == kGelu ? "BiasGelu" : activation == kGeluTanh ? "FastGelu" : "";
}

// Queries, keys and values of the same numbers of sequences and heads; a mask that can be expanded to ONNX Runtime's
// form, [1, 1 or heads, queries, keys] or [batch, heads, queries, keys]. (It takes [batch, 1, queries, keys] too, and
// computes something else.)
bool IsMultiHeadAttention(const Graph& g, NodeId attention) {
  const Node& node = g.node(attention);
  const Shape &q = g.shape(node.inputs[0]), &k = g.shape(node.inputs[1]), &v = g.shape(node.inputs[2]);
  if (!q.has_rank() || !k.has_rank() || !v.has_rank() || q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return false;
  if (!SameDim(q.dim(0), k.dim(0)) || !SameDim(q.dim(0), v.dim(0)) || !q.dim(1).known() || !q.dim(3).known() ||
      !v.dim(3).known() || q.dim(1) != k.dim(1) || q.dim(1) != v.dim(1)) {
    return false;
  }
  if (node.inputs.size() < 4 || !node.inputs[3].valid()) return true;
  const Shape& mask = g.shape(node.inputs[3]);
  if (!mask.has_rank() || mask.rank() < 2 || mask.rank() > 4) return false;
  const Dim one = Dim::Of(1);
  for (int i = 0; i < mask.rank() - 2; ++i) {
    const Dim& dim = mask.dim(i);
    if (dim != one && !SameDim(dim, q.dim(i + 4 - mask.rank()))) return false;
  }
  const Dim& keys = v.dim(2);
  if (mask.rank() == 4 && SameDim(mask.dim(2), q.dim(2)) && SameDim(mask.dim(3), keys) &&
      (mask.dim(0) == one || mask.dim(1) == q.dim(1))) {
    return true;
  }
  return q.dim(2).known() && keys.known() && (mask.dim(-2) == one || mask.dim(-2) == q.dim(2)) &&
         (mask.dim(-1) == one || mask.dim(-1) == keys);
}

bool IsSkipLayerNorm(const Graph& g, NodeId norm) {
  const std::optional<int> rank = RankOf(g, g.input(norm, 0));
  return rank == 2 || rank == 3;
}

std::string_view Op(const Graph& g, NodeId node) {
  if (!IsF32(g, node) || g.node(node).attributes.has("math_mode")) return "";
  switch (g.op(node)) {
    case OpKind::kConv:
      return IsFusedConv(g, node) ? "FusedConv" : "";
    case OpKind::kMatMul:
      return MatMulOp(g, node);
    case OpKind::kGelu:
      return g.node(node).attributes.String("approximate", "none") == "tanh" ? "FastGelu" : "Gelu";
    case OpKind::kSwish:
      return "QuickGelu";
    case OpKind::kBinaryChain:
      return BiasGeluOp(g, node);
    case OpKind::kSkipLayerNorm:
      return IsSkipLayerNorm(g, node) ? "SkipLayerNormalization" : "";
    case OpKind::kScaledDotProductAttention:
      return IsMultiHeadAttention(g, node) ? "MultiHeadAttention" : "";
    default:
      return "";
  }
}

constexpr std::string_view kOps[] = {
    "FusedConv",          "FusedGemm", "FusedMatMul", "Gelu",
    "FastGelu",           "BiasGelu",  "QuickGelu",   "SkipLayerNormalization",
    "MultiHeadAttention",
};

bool IsFusedOp(std::string_view op) { return std::ranges::find(kOps, op) != std::end(kOps); }

constexpr FileFeatures kFeatures = {
    FileFeature::kGemm,
    FileFeature::kRecurrent,
    FileFeature::kInstanceNorm,
    FileFeature::kLayerNorm,
    FileFeature::kPRelu,
    FileFeature::kActivations,
    FileFeature::kConvBias,
    FileFeature::kConvPads,
    FileFeature::kConvGroups,
    FileFeature::kMatMulInteger,
    FileFeature::kConvWeightsChannelsFirst,
};
constexpr FileFeatures kMerges = {FileFeature::kMergedAttention, FileFeature::kMergedBiasGelu,
                                  FileFeature::kMergedSkipLayerNorm};

}  // namespace

const FileDialect& OnnxDialect() {
  static constexpr FileDialect kDialect = {.name = "onnx", .features = kFeatures, .is_fused_op = IsFusedOp};
  return kDialect;
}

const FileDialect& OnnxRuntimeDialect() {
  static constexpr FileDialect kDialect = {
      .name = "onnxruntime",
      .features = kFeatures | kMerges,
      .fused_op = Op,
      .fused_ops = kOps,
      .domain = "com.microsoft",
      .is_fused_op = IsFusedOp,
  };
  return kDialect;
}

}  // namespace halftone
