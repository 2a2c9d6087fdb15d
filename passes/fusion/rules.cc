#include "passes/fusion/rules.h"

namespace halftone {

Rules FusionRules() {
  Rules rules;
  rules.push_back(MakeFuseChannelShuffle());
  rules.push_back(MakeFusePadConv());
  rules.push_back(MakeFuseConvBias());
  rules.push_back(MakeFuseMatMulBias());
  rules.push_back(MakeFoldBatchNormIntoConv());  // after the bias: it folds into both
  rules.push_back(MakeFoldBatchNormIntoConvTranspose());
  rules.push_back(MakeFoldBatchNormIntoMatMul());
  rules.push_back(MakeFoldScale());
  rules.push_back(MakeFoldOffset());
  rules.push_back(MakeFuseResidual());  // after everything that goes into the weights and the bias
  rules.push_back(MakeFuseSwish());
  rules.push_back(MakeFuseHardSigmoid());
  rules.push_back(MakeFuseHardSwish());  // after the hard sigmoid that it is made of
  rules.push_back(MakeFuseGelu());
  rules.push_back(MakeFuseGeluTanh());
  rules.push_back(MakeFuseLayerNorm());
  rules.push_back(MakeFuseSoftmaxAddend());
  rules.push_back(MakeFuseSoftmaxScale());  // after the addend, which stands behind it
  rules.push_back(MakeFuseActivation());    // last: nothing may follow it
  return rules;
}

}  // namespace halftone
