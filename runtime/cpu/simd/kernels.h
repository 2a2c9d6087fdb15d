// SPDX-License-Identifier: Apache-2.0
// Kernels that are SIMD loops over plain memory: what oneDNN does not have. Which op is computed by which:
// runtime/cpu/kernels.cc.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_KERNELS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_KERNELS_H_

#include <memory>

#include "runtime/plan/kernel.h"

namespace halftone::simd {

std::unique_ptr<Kernel> MakeNormKernel();  // norms.cc: layer_norm with statistics, rms, instance, group, lp norm
std::unique_ptr<Kernel> MakeChannelsLastNormKernel();  // channels_last_norm.cc: instance_norm
std::unique_ptr<Kernel> MakeChannelNormKernel();    // channel_norms.cc: batch_norm in training mode, mean_variance_norm
std::unique_ptr<Kernel> MakePoolKernel();           // pools.cc: what oneDNN does not pool
std::unique_ptr<Kernel> MakeGridSampleKernel();     // grid_sample.cc
std::unique_ptr<Kernel> MakeDeformConvKernel();     // deform_conv.cc
std::unique_ptr<Kernel> MakeCol2ImKernel();         // deform_conv.cc
std::unique_ptr<Kernel> MakeLrnKernel();            // lrn.cc
std::unique_ptr<Kernel> MakeRoiAlignKernel();       // regions.cc
std::unique_ptr<Kernel> MakeCropAndResizeKernel();  // regions.cc

std::unique_ptr<Kernel> MakeMatMulKernel();         // matmul.cc: matmul and gemm of integers and f64
std::unique_ptr<Kernel> MakeSkipLayerNormKernel();  // skip_layer_norm.cc
std::unique_ptr<Kernel> MakeSoftmaxKernel();        // softmax.cc: with a scale or an addend, over the last axis

std::unique_ptr<Kernel> MakeUnaryKernel();     // unary.cc: elementwise of one
std::unique_ptr<Kernel> MakeSoftplusKernel();  // softplus.cc: with the activation after it
std::unique_ptr<Kernel> MakeBinaryKernel();    // binary.cc: elementwise of two
std::unique_ptr<Kernel> MakeCompareKernel();   // compare.cc: equal, less and their like
std::unique_ptr<Kernel> MakeManyKernel();      // many.cc: where, add_n and its like
std::unique_ptr<Kernel> MakeCastKernel();      // cast.cc: between types that oneDNN does not convert
std::unique_ptr<Kernel> MakeQuantizeKernel();  // quantize.cc: to integers by scale and zero point, and back

std::unique_ptr<Kernel> MakeGatherKernel();      // gather.cc: gather, gather_nd, gather_elements
std::unique_ptr<Kernel> MakeScatterKernel();     // scatter.cc: scatter_nd, scatter_elements, scatter_nd_new
std::unique_ptr<Kernel> MakeL2LossKernel();      // l2_loss.cc
std::unique_ptr<Kernel> MakeReduceKernel();      // reduce.cc: reductions that oneDNN does not have
std::unique_ptr<Kernel> MakeAccumulateKernel();  // accumulate.cc: arg_max, cum_sum, top_k and their like
std::unique_ptr<Kernel> MakeFillKernel();        // fill.cc: fill, range, one_hot, trilu, matrix_band_part
std::unique_ptr<Kernel> MakePadKernel();         // pad.cc: all modes but constant

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_KERNELS_H_
