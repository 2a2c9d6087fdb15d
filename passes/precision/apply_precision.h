// The one pass that lowers precision: it does what a PrecisionPlan says.
#ifndef HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_

#include "ir/precision_plan.h"
#include "passes/core/pass.h"

namespace halftone {

// Lowered nodes compute in bfloat16 or float16, as the decision of each of their type variables says: the values of
// that variable get the type, and where a value and its reader differ, one cast per (value, direction) stands between
// them, shared by all readers. Constants are converted instead (to nearest even) and stored once a type; one that is
// read in both types exists twice, one that nobody reads any more is dead. Inputs and outputs of the graph keep their
// types and names. Type variables of their own (statistics of a batch norm) stay f32; TensorFlow's first
// FusedBatchNorm, which has none, becomes FusedBatchNormV2. Ops that read any type (cast, shape) get no cast. A conv or
// matmul with Decision::f32_output reads the lowered type and makes f32. Works on fused graphs: a decision is found by
// Node::origin. Once it has run, running it again changes nothing.
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
