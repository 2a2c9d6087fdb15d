// SPDX-License-Identifier: Apache-2.0
// A convolution or matmul in oneDNN's terms, and the choice of an implementation for it. Used by the kernels,
// which know where values lie, and by the Target, which only knows types and shapes.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_PROBLEM_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_PROBLEM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {

enum class ResidualMode {
  kNone,
  kSum,     // the residual lies where the result is written
  kBinary,  // it lies elsewhere
};

// What is fused after the sums and their bias: a factor, another bias, then activation(y + residual) or, with
// activation_first, activation(y) + residual.
struct Epilogue {
  float scale = 1;
  Desc bias;  // empty: none
  ResidualMode residual = ResidualMode::kNone;
  Desc residual_desc;  // of kBinary; empty: in the result's layout
  bool activation_first = false;
  Activation activation = Activation::kNone;
  float alpha = 0;
  float beta = 0;
};
// Arguments of the post-ops that read memory; REQUIRES: there is one.
int BiasArgument(const Epilogue& epilogue);
int ResidualArgument(const Epilogue& epilogue);

// The node's own activation and factor. INVALID_ARGUMENT for a word that we do not know.
absl::StatusOr<Epilogue> EpilogueOf(const Attributes& attributes);

// Adds the activation, where there is one.
void AddActivation(const Epilogue& epilogue, dnnl::post_ops& post_ops);

// The element types of one attempt. Where there is no kernel for the types as written, all floats are computed in f32.
struct OperandTypes {
  DataType src = DataType::kFloat32;
  DataType weights = DataType::kFloat32;
  DataType bias = DataType::kUnknown;  // kUnknown: no bias
  DataType dst = DataType::kFloat32;
  bool bf16_math = false;  // operands of f32 are rounded to bf16 by oneDNN itself
};
// The types in which a contraction is tried, best first: in bf16 where its "math_mode" allows it or f32 holds nothing
// more, as written, in f32. Operands of f32 that may be rounded go into oneDNN's bf16 math mode where that is more than
// f32 (AMX); else they are converted before a kernel for bf16, in the one pass that brings them into its layout.
std::vector<OperandTypes> TypesToTry(const NodeContext& context, const OperandTypes& written);

// Dimensions in oneDNN's order.
struct ConvProblem {
  Dims src, dst;                                  // N, C, spatial
  Dims weights;                                   // [groups,] O, I, spatial
  Dims weights_strides;                           // of the tensor as the graph has it, seen in that order
  Dims strides, dilations, pads_begin, pads_end;  // dilations count the gaps: 0 is dense
  bool channels_last = false;
  int64_t out_channels = 0;
};
// `src` and `weights` as the values have them. UNIMPLEMENTED or INVALID_ARGUMENT.
absl::StatusOr<ConvProblem> MakeConvProblem(const Attributes& attributes, std::span<const int64_t> src,
                                            std::span<const int64_t> weights);

// Descriptors in oneDNN's order of dimensions; `any` where the implementation may choose.
struct ConvLayouts {
  Desc src;
  Desc dst;
};
// Empty if there is no implementation.
dnnl::convolution_forward::primitive_desc MakeConv(const ConvProblem& problem, const OperandTypes& types,
                                                   const Epilogue& epilogue, const ConvLayouts& layouts);

// What each of these convolutions takes with its images in either layout, measured here and now; nullopt: there is
// nothing to choose (conv_layouts.cc).
std::vector<std::optional<LayoutSeconds>> ConvSecondsByLayout(std::span<const NodeContext* const> convs);
// Where the plan has chosen how images lie.
ConvLayouts ChosenLayouts(const ConvProblem& problem, const OperandTypes& types, ImageLayout layout);

// Batched [.., M, K] x [.., K, N]; all descriptors have the same rank >= 2, batch dimensions of 1 are broadcast.
struct MatMulProblem {
  Dims src, weights, dst;
};
struct MatMulLayouts {
  Desc src;
  Desc weights;
  Desc dst;
};
dnnl::matmul::primitive_desc MakeMatMul(const MatMulProblem& problem, const OperandTypes& types,
                                        const Epilogue& epilogue, const MatMulLayouts& layouts);
// For weights of `any` layout: of this description's implementations one that reads them as they were packed once,
// where that is faster: on a Zen 3, up to 2.1 x for 2 rows and more, down to 0.6 x for one row, which is a sum over
// weights that nothing has to pack, and 0.85 x for few columns. Without AVX-512 oneDNN 3.7 lists them (brg_matmul:avx2)
// after gemm:jit, which packs in each run. Throws what oneDNN throws.
dnnl::matmul::primitive_desc WithPackedWeights(dnnl::matmul::primitive_desc desc);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_PROBLEM_H_
