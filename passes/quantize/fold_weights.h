// SPDX-License-Identifier: Apache-2.0
// dequantize_linear(int8 constant)  =>  constant of f32; a cast after it, too
//
// After FoldQuantization: nodes with int8 kernels read the integers by then, and the others compute in f32, as
// weight-only files intend. Bit-exact. It is done in the graph and not in each of its plans, so that plans of other batch
// sizes share prepacked weights.
#ifndef HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_
#define HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_

#include "passes/core/pass.h"

namespace halftone {

// Nodes without consumers are left to RemoveDeadNodes.
class FoldWeights final : public Pass {
 public:
  std::string_view name() const override { return "fold-weights"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_
