// The fusing rules, in order. Each asks the target before it fuses.
#ifndef HALFTONE_PASSES_FUSION_RULES_H_
#define HALFTONE_PASSES_FUSION_RULES_H_

#include <memory>

#include "passes/core/rewrite_rule.h"

namespace halftone {

std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoConv();           // fold_batch_norm_into_conv.cc
std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoConvTranspose();  // fold_batch_norm_into_conv_transpose.cc
std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoMatMul();         // fold_batch_norm_into_matmul.cc
std::unique_ptr<RewriteRule> MakeFoldScale();                       // fold_scale.cc
std::unique_ptr<RewriteRule> MakeFoldOffset();                      // fold_offset.cc
std::unique_ptr<RewriteRule> MakeFusePadConv();                     // fuse_pad_conv.cc
std::unique_ptr<RewriteRule> MakeFuseConvBias();                    // fuse_conv_bias.cc
std::unique_ptr<RewriteRule> MakeFuseMatMulBias();                  // fuse_matmul_bias.cc
std::unique_ptr<RewriteRule> MakeFuseResidual();                    // fuse_residual.cc
std::unique_ptr<RewriteRule> MakeFuseChannelShuffle();              // fuse_channel_shuffle.cc
std::unique_ptr<RewriteRule> MakeFuseSwish();                       // fuse_swish.cc
std::unique_ptr<RewriteRule> MakeFuseHardSigmoid();                 // fuse_hard_sigmoid.cc
std::unique_ptr<RewriteRule> MakeFuseHardSwish();                   // fuse_hard_swish.cc
std::unique_ptr<RewriteRule> MakeFuseGelu();                        // fuse_gelu.cc
std::unique_ptr<RewriteRule> MakeFuseGeluTanh();                    // fuse_gelu_tanh.cc
std::unique_ptr<RewriteRule> MakeFuseLayerNorm();                   // fuse_layer_norm.cc
std::unique_ptr<RewriteRule> MakeFuseSoftmaxAddend();               // fuse_softmax_addend.cc
std::unique_ptr<RewriteRule> MakeFuseSoftmaxScale();                // fuse_softmax_scale.cc
std::unique_ptr<RewriteRule> MakeFuseActivation();                  // fuse_activation.cc

Rules FusionRules();

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RULES_H_
