// dequantize_linear(constant of bytes)  =>  constant of f32; a cast behind it, too
//
// Behind FoldQuantization: whoever has a kernel of integers reads the bytes by then, and who is left computes with
// numbers, as the weights-only files of int8 are meant. Bit-exact. In the graph and not in each plan of it, so that plans of
// other batch sizes share what they pack.
#ifndef HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_
#define HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_

#include "passes/core/pass.h"

namespace halftone {

// Nodes that nobody needs any more are left to RemoveDeadNodes.
class FoldWeights final : public Pass {
 public:
  std::string_view name() const override { return "fold-weights"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_FOLD_WEIGHTS_H_
