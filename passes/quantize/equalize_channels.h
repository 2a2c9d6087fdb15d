// SPDX-License-Identifier: Apache-2.0
// b(act(a(x)))  =>  b'(act(a'(x))), where channels between two contractions are scaled so that none is small in one
// and large in the other: rounding to 8 bits then costs all of them alike.
//
//   s_c = sqrt(r1_c * r2_c) / r2_c    a'_c = a_c / s_c (weights and bias)    b'_c = b_c * s_c (weights)
//   r1_c: the largest magnitude of a's weights and bias for channel c of its result
//   r2_c: the largest magnitude of b's weights for channel c of its input
//
// until r1 = r2 in every pair of a chain. M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias
// Correction" (ICCV 2019), 4.1. The bias counts, so that a channel that is all bias does not become the largest.
//
// Legal where act(s * x) = s * act(x) for s > 0: none, relu, leaky relu, prelu, and pools. Bounds that are the same for
// all channels (relu6, clip) are not. No other node may read what lies between, and a may have no residual. Not
// bit-exact: products are rounded at other places. For graphs before they are calibrated: ranges between a and b
// change.
#ifndef HALFTONE_PASSES_QUANTIZE_EQUALIZE_CHANNELS_H_
#define HALFTONE_PASSES_QUANTIZE_EQUALIZE_CHANNELS_H_

#include <cstdint>

#include "passes/core/pass.h"

namespace halftone {

// kDepthwise: one of the two is a depthwise convolution. Between others weights with a scale per channel gain nothing, and
// the range of what lies between may suffer: squeezenet lost four classes of a hundred by it.
enum class EqualizedPairs : uint8_t { kDepthwise, kAll };

// On the fused graph; weights and biases must be constants of f32.
class EqualizeChannels final : public Pass {
 public:
  explicit EqualizeChannels(EqualizedPairs pairs = EqualizedPairs::kDepthwise) : pairs_(pairs) {}

  std::string_view name() const override { return "equalize-channels"; }
  bool enters_nested() const override { return false; }  // what is inside is not quantized
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const EqualizedPairs pairs_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_EQUALIZE_CHANNELS_H_
