// The one pass that lowers precision: it does what a PrecisionPlan says.
#ifndef HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_

#include "ir/precision_plan.h"
#include "passes/core/pass.h"

namespace halftone {

// Painted nodes compute in bfloat16: the values of their type variable get that type, and where a value and its reader
// differ, one cast per (value, direction) stands between them, shared by all readers. Constants are converted instead
// (to nearest even); one that is read in both types exists twice. Inputs and outputs of the graph keep their types and
// names. Type variables of their own (statistics of a batch norm) stay f32; TensorFlow's first FusedBatchNorm, which
// has none, becomes FusedBatchNormV2. Ops that read any type (cast, shape) get no cast. Works on fused graphs: a
// decision is found by Node::origin.
class ApplyPrecision final : public Pass {
 public:
  // The plan must outlive the pass.
  explicit ApplyPrecision(const PrecisionPlan& plan) : plan_(plan) {}
  std::string_view name() const override { return "apply-precision"; }
  bool enters_nested() const override { return false; }  // nested graphs stay in f32
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.1f; }

 private:
  const PrecisionPlan& plan_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_
