// SPDX-License-Identifier: Apache-2.0
// dequantize_linear -> op -> quantize_linear  =>  the op, reading and writing integers (ir/quantization.h).
//
//   conv(dequantize(x), dequantize(w), dequantize(b)) -> quantize    =>  conv(x, w, dequantize(b)) -> integers
//   move(dequantize(x))                                              =>  dequantize(move(x))
//   quantize(move(y)), y made by an op that may write integers       =>  move(quantize(y))
//   quantize(dequantize(x))         =>  x where both say the same, else identity(x) from one quantization to the other
//
// Which ops: quantizable_ops.h. Scales and zero points must be constants; activations have one, weights one or one an
// output channel. A real number that is read by more than one quantize_linear stays one; integers may have any number
// of readers, each of which has lost its dequantize_linear if it reads integers. Wherever the target has no kernel
// (Target::SupportsQuantized), less is asked for: the result as a real number, some inputs as real numbers, in the end
// nothing, and then the graph stays as it is.
//
// Bit-exact by definition: the op computes on the same real numbers, which are rounded once to the same integers.
#ifndef HALFTONE_PASSES_QUANTIZE_FOLD_QUANTIZATION_H_
#define HALFTONE_PASSES_QUANTIZE_FOLD_QUANTIZATION_H_

#include "passes/core/pass.h"

namespace halftone {

// For graphs that are planned next: no format can express its result. Nodes without consumers are removed.
class FoldQuantization final : public Pass {
 public:
  std::string_view name() const override { return "fold-quantization"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_FOLD_QUANTIZATION_H_
