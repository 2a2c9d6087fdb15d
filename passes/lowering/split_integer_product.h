// Products of integers with real results as the ops of ONNX, for export.
#ifndef HALFTONE_PASSES_LOWERING_SPLIT_INTEGER_PRODUCT_H_
#define HALFTONE_PASSES_LOWERING_SPLIT_INTEGER_PRODUCT_H_

#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   matmul_integer_to_float(a, b, sa, sb, za, zb, c)  =>  mul(cast(matmul_integer(a, b, za, zb)), mul(sa, sb)) + c
//
// and the activation behind it, where there is one.
// As other tools write dynamic quantization, and as runtimes look for it to fuse it. The last part keeps the name. A
// GraphDef has no such product: there the node stays, and the exporter names it.
class SplitIntegerProduct final : public Pass {
 public:
  std::string_view name() const override { return "split-integer-product"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return kBitExact; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_LOWERING_SPLIT_INTEGER_PRODUCT_H_
