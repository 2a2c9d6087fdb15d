// SPDX-License-Identifier: Apache-2.0
// Nodes of several types of floats as ops of one type each, with casts between them: for export. The inverse of the
// rules about casts (passes/precision/conversions.inc).
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_MIXED_TYPES_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_MIXED_TYPES_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// matmul(x, w, b, r) {math_mode="bf16"}  =>  matmul(cast(x), cast(w), b, r), which is mixed:
// matmul(x, w, b, r) {activation} -> T   =>  what has x's type, with a result of it; cast to T; the other parts in T
// op(x, ..) -> T                         =>  cast(op(x, ..)) to T
//
// The first two also of convolutions. One of f32 computes everything in f32; one whose result has x's type, everything in that. Constants are
// converted instead of cast; a cast is shared by all that read the value in that type. The last part keeps the name.
// What the dialect says as one op stays one (_ITEXAccMatMul), with bias and residual in the result's type. Outputs
// change by a rounding: before an addition in f32, the result of a bf16 matmul is rounded to bf16.
class SplitMixedTypes final : public Pass {
 public:
  explicit SplitMixedTypes(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-mixed-types"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_MIXED_TYPES_H_
