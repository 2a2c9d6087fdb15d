// Passes of the simplification that are no rewrite rules. The rules are listed in rules.h.
#ifndef HALFTONE_PASSES_SIMPLIFY_PASSES_H_
#define HALFTONE_PASSES_SIMPLIFY_PASSES_H_

#include "passes/core/pass.h"

namespace halftone {

// Types and shapes of all values (ir/shape_inference.h). Counts as no edit where only shapes become known.
class InferShapesPass final : public Pass {
 public:
  std::string_view name() const override { return "infer-shapes"; }
  float tolerance() const override { return kBitExact; }
  bool enters_nested() const override { return false; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Gives every free dimension of an input that has no name one of its own, so that shape inference can tell equal ones
// from different ones (a residual must not be broadcast). ForgetDimensionNames takes them away again.
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

// Nodes whose inputs are all constants become constants, computed by ir/reference; so does the shape of a value whose
// shape is known. Left alone: results above 64 MiB, results larger than 1 KiB that are larger than 4 times their inputs
// (a weight that was stored small stays small, so does a quantized one), quantized weights of contractions, of any size,
// more than 2^28 multiplications, strings, outputs of the graph, nodes with control edges. Exact: the reference function
// is what the node means.
class FoldConstants final : public Pass {
 public:
  std::string_view name() const override { return "fold-constants"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Constants that nested graphs read, as inputs that are the same in every run, become constants inside, so that what
// reads them there can be folded and fused; captured inputs that nobody inside reads are given up. Exact.
class SinkConstants final : public Pass {
 public:
  std::string_view name() const override { return "sink-constants"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Two nodes with the same op, attributes, inputs, device and planned precision become one; so do equal constants of up
// to 1 KiB. Not opaque or structural nodes, nor nodes with control edges or outputs that callers know by name. Exact.
class MergeDuplicates final : public Pass {
 public:
  std::string_view name() const override { return "merge-duplicates"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

// Nodes that no output needs.
class RemoveDeadNodes final : public Pass {
 public:
  std::string_view name() const override { return "remove-dead-nodes"; }
  float tolerance() const override { return kBitExact; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_PASSES_H_
