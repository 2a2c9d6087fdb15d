// SPDX-License-Identifier: Apache-2.0
// What a file cannot hold below f32 is f32 in it: the other way round than ApplyPrecision.
#ifndef HALFTONE_PASSES_EXPORT_WIDEN_TYPES_H_
#define HALFTONE_PASSES_EXPORT_WIDEN_TYPES_H_

#include <utility>

#include "ir/file_types.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// Nodes that the file's rules refuse with their f16 or bf16 values compute in f32 instead. One cast per (value, type)
// stands where such a value meets one of another type:
//   celu(x: bf16)  =>  cast(celu(cast(x): f32)): bf16
// Two that meet keep f32 between them: nothing is rounded that the plan had rounded there. A constant stays as small as
// it is, followed by a cast, so that a runtime without any bf16 computes in f32 with weights rounded to bf16; where
// the file can hold no such cast either, the constant itself becomes f32 (of the rounded values).
//
// A group of nodes that the rules allow, but that only touches refused ones and multiplies no matrices, is f32 too: it
// would be casts and nothing won. Casts that convert nothing any more go.
//
// Opaque nodes, control flow with nested graphs and what is inside them are not touched. Inputs and outputs of the
// graph keep their types and names. The log has a reason for each node, the notes one sentence for all.
class WidenTypes final : public Pass {
 public:
  static constexpr std::string_view kName = "widen-types";
  explicit WidenTypes(FileTypes types) : types_(std::move(types)) {}
  std::string_view name() const override { return kName; }
  bool enters_nested() const override { return false; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.1f; }  // it takes roundings away

 private:
  FileTypes types_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_WIDEN_TYPES_H_
