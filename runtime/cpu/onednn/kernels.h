// SPDX-License-Identifier: Apache-2.0
// Every kernel of this folder, made by its file. Which op is computed by which: runtime/cpu/kernels.cc.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_KERNELS_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_KERNELS_H_

#include <memory>

#include "runtime/plan/kernel.h"

namespace halftone::onednn {

std::unique_ptr<Kernel> MakeConvKernel();            // conv.cc
std::unique_ptr<Kernel> MakeActivatedConvKernel();   // conv.cc: with an activation by a SIMD loop
std::unique_ptr<Kernel> MakeInt8DepthwiseKernel();   // int8_conv.cc: SIMD loops
std::unique_ptr<Kernel> MakeInt8ConvKernel();        // int8_conv.cc
std::unique_ptr<Kernel> MakeInt8MatMulKernel();      // int8_matmul.cc: matmul, gemm
std::unique_ptr<Kernel> MakeInt8DeconvKernel();      // deconv.cc: int8 conv_transpose
std::unique_ptr<Kernel> MakeInt8TableKernel();       // int8_elementwise.cc: of one operand
std::unique_ptr<Kernel> MakeInt8ChainKernel();       // int8_elementwise.cc: of several
std::unique_ptr<Kernel> MakeInt8ConvertKernel();     // int8_elementwise.cc: quantize_linear, dequantize_linear
std::unique_ptr<Kernel> MakeInt8PoolKernel();        // pool.cc: of int8
std::unique_ptr<Kernel> MakeInt8ConvAvx2Kernel();    // int8_conv.cc: without VNNI
std::unique_ptr<Kernel> MakeInt8MatMulAvx2Kernel();  // int8_matmul_avx2.cc: matmul, gemm without VNNI
std::unique_ptr<Kernel>
MakeInt8SkinnyMatMulKernel();                        // int8_skinny_matmul.cc: matmul, gemm with large constant weights
std::unique_ptr<Kernel> MakePointwiseConvKernel();   // pointwise_conv.cc: conv of 1 x 1 over few pixels, large weights
std::unique_ptr<Kernel> MakeSkinnyMatMulKernel();    // skinny_matmul.cc: matmul, gemm with large constant weights
std::unique_ptr<Kernel> MakeMatMulKernel();          // matmul.cc: matmul, gemm
std::unique_ptr<Kernel> MakeFastActivationKernel();  // unary.cc: by SIMD loops
std::unique_ptr<Kernel> MakeUnaryKernel();           // unary.cc: elementwise of one
std::unique_ptr<Kernel> MakeAffineChannelsKernel();  // affine_channels.cc: batch_norm of channels that lie last
std::unique_ptr<Kernel> MakeScaleChannelsKernel();   // scale_channels.cc: mul of images by one factor per channel
std::unique_ptr<Kernel> MakeBinaryKernel();          // binary.cc: elementwise of two, bias_add
std::unique_ptr<Kernel> MakeBinaryChainKernel();     // binary_chain.cc
std::unique_ptr<Kernel> MakePReluKernel();           // prelu.cc
std::unique_ptr<Kernel> MakeMatMulIntegerKernel();   // matmul_integer.cc: matmul_integer
std::unique_ptr<Kernel> MakeMatMulIntegerToFloatKernel();  // matmul_integer_to_float.cc: matmul_integer_to_float
std::unique_ptr<Kernel> MakeImagePoolKernel();             // pool.cc: SIMD loops
std::unique_ptr<Kernel> MakePoolKernel();                  // pool.cc: max, average, global average
std::unique_ptr<Kernel> MakeReduceKernel();                // reduce.cc
std::unique_ptr<Kernel> MakeBatchNormKernel();             // normalize.cc
std::unique_ptr<Kernel> MakeSoftmaxKernel();               // normalize.cc
std::unique_ptr<Kernel> MakeConcatChannelsKernel();        // concat_channels.cc: of images with channels last
std::unique_ptr<Kernel> MakeConcatKernel();                // concat.cc
std::unique_ptr<Kernel> MakeViewKernel();                  // view.cc: reshape and its like, transpose
std::unique_ptr<Kernel> MakeCopyKernel();                  // copy.cc: slice, pad, transpose, depth_to_space, concat
std::unique_ptr<Kernel> MakeCopyBlocksKernel();            // copy_blocks.cc: space_to_batch, batch_to_space
std::unique_ptr<Kernel> MakeCopyPartsKernel();             // copy_parts.cc: split, stack, expand, tile, strided_slice
std::unique_ptr<Kernel> MakeCastKernel();                  // convert.cc
std::unique_ptr<Kernel> MakeResizeKernel();                // resize.cc
std::unique_ptr<Kernel> MakeDeconvKernel();                // deconv.cc: conv_transpose
std::unique_ptr<Kernel> MakeLayerNormKernel();             // layer_norm.cc
std::unique_ptr<Kernel> MakeLrnKernel();                   // layer_norm.cc
std::unique_ptr<Kernel> MakeRecurrentKernel();             // recurrent.cc: lstm, gru, rnn with every option
std::unique_ptr<Kernel> MakeInt8RecurrentKernel();         // recurrent.cc: the same in int8
std::unique_ptr<Kernel> MakeEinsumKernel();                // einsum.cc
std::unique_ptr<Kernel> MakeAttentionKernel();             // attention.cc
// scaled_attention.cc: the scores of some queries at a time; where that is the fastest, or always
std::unique_ptr<Kernel> MakeBlockedAttentionKernel();
std::unique_ptr<Kernel> MakeAnyAttentionKernel();
std::unique_ptr<Kernel> MakeWholeAttentionKernel();  // scaled_attention.cc: all scores at once
std::unique_ptr<Kernel> MakeDftKernel();             // signal.cc
std::unique_ptr<Kernel> MakeStftKernel();            // signal.cc
std::unique_ptr<Kernel> MakeReferenceKernel();       // reference.cc: any op with a reference function

// A step that copies from one placement to another (convert.cc).
absl::StatusOr<Prepared> MakeConversion(std::span<const int64_t> dims, const Placement& from, const Placement& to);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_KERNELS_H_
