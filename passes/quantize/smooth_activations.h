// SPDX-License-Identifier: Apache-2.0
// matmul(norm(x) * scale + offset, w)  =>  matmul(norm(x) * (scale / s) + offset / s, s * w), s one number per channel
//
// for matmuls whose left operand has outlier channels: one scale of 8 bits for all would leave nothing to the others.
//
//   s_j = max|x_j|^0.5 / max|w_j|^0.5, w_j: row j of the weights of all matmuls that read x
//
// G. Xiao et al., "SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language Models" (2022),
// with alpha = 0.5. 1 / s goes into what makes x: scale and offset of a layer_norm, skip_layer_norm or rms_norm, or the
// constant of a mul along the last dimension. Legal where all readers of x are matmuls and gemms with constant weights,
// and the largest channel of x is kOutlier times the median one. Not bit-exact: numbers are rounded at other places.
#ifndef HALFTONE_PASSES_QUANTIZE_SMOOTH_ACTIVATIONS_H_
#define HALFTONE_PASSES_QUANTIZE_SMOOTH_ACTIVATIONS_H_

#include "ir/value_ranges.h"
#include "passes/core/pass.h"

namespace halftone {

// On the fused graph as it was calibrated. The ranges of the values that are divided are divided, too, by what was seen
// of their channels: no second calibration is needed. `ranges` must outlive the pass.
class SmoothActivations final : public Pass {
 public:
  static constexpr float kOutlier = 8;

  explicit SmoothActivations(ValueRanges& ranges) : ranges_(ranges) {}

  std::string_view name() const override { return "smooth-activations"; }
  bool enters_nested() const override { return false; }  // ranges are those of the outermost graph
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  ValueRanges& ranges_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_SMOOTH_ACTIVATIONS_H_
