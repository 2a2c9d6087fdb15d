// SPDX-License-Identifier: Apache-2.0
// The simplification passes that are not rewrite rules. The rules are listed in rules.h.
#ifndef HALFTONE_PASSES_SIMPLIFY_PASSES_H_
#define HALFTONE_PASSES_SIMPLIFY_PASSES_H_

#include "passes/core/pass.h"

namespace halftone {

// Types and shapes of all values (ir/shape_inference.h). Does not count as an edit if only shapes become known.
class InferShapesPass final : public Pass {
 public:
  std::string_view name() const override { return "infer-shapes"; }
  float tolerance() const override { return kBitExact; }
  bool enters_nested() const override { return false; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Gives every unnamed dynamic dimension of an input a unique name, so that shape inference can distinguish equal from
// different dimensions (a residual must not be broadcast). ForgetDimensionNames removes the names.
class NameDimensions final : public Pass {
 public:
  std::string_view name() const override { return "name-dimensions"; }
  float tolerance() const override { return kBitExact; }
  bool enters_nested() const override { return false; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};
class ForgetDimensionNames final : public Pass {
 public:
  std::string_view name() const override { return "forget-dimension-names"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Nodes whose inputs are all constants become constants, computed by ir/reference; so does the shape of a value with a
// known shape. Not folded: results above 64 MiB; results above 1 KiB that are larger than 4 times their inputs (so that
// compact and quantized weights stay small in the file); quantized weights of contractions of any size; more than 2^28
// multiplications; strings; outputs of the graph; nodes with control edges. Exact: the reference function defines the
// op.
class FoldConstants final : public Pass {
 public:
  std::string_view name() const override { return "fold-constants"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Constants that are inputs of nested graphs, with the same value in every run, become constants inside, so that their
// consumers there can be folded and fused. Captured inputs without consumers inside are removed. Exact.
class SinkConstants final : public Pass {
 public:
  std::string_view name() const override { return "sink-constants"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Two nodes with the same op, attributes, inputs, device and planned precision become one; so do equal constants of up
// to 1 KiB. Opaque and structural nodes, nodes with control edges, and nodes whose outputs are outputs of the graph are
// not merged. Exact.
class MergeDuplicates final : public Pass {
 public:
  std::string_view name() const override { return "merge-duplicates"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Removes the nodes on which no output depends.
class RemoveDeadNodes final : public Pass {
 public:
  std::string_view name() const override { return "remove-dead-nodes"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_PASSES_H_
