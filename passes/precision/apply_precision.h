// SPDX-License-Identifier: Apache-2.0
// The only pass that converts a graph to reduced precision: it applies a PrecisionPlan.
#ifndef HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_APPLY_PRECISION_H_

#include "ir/precision_plan.h"
#include "passes/core/pass.h"

namespace halftone {

// The decision of each type variable of a node gives the type, bfloat16 or float16, of the values of that variable.
// Where the types of a value and of its consumer differ, one cast per (value, direction) is inserted and shared by all
// consumers. Constants are converted instead (round to nearest even) and stored once per type: a constant that is read
// in both types exists twice, and a constant without consumers is dead. Inputs and outputs of the graph keep their
// types and names. Separate type variables (the statistics of a batch norm) stay f32; TensorFlow's first
// FusedBatchNorm, which has none, becomes FusedBatchNormV2. Ops that read any type (cast, shape) get no cast. A conv or
// matmul with Decision::f32_output reads the reduced type and writes f32. It also works on fused graphs: a decision is
// found by Node::origin. The pass is idempotent.
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
