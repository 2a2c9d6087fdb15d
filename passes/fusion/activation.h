// Activations as nodes of their own and as attributes of a contraction, both ways.
#ifndef HALFTONE_PASSES_FUSION_ACTIVATION_H_
#define HALFTONE_PASSES_FUSION_ACTIVATION_H_

#include <optional>

#include "ir/graph.h"
#include "ir/ops.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// clip: alpha and beta are the bounds; elu, leaky_relu: alpha.
struct ActivationSpec {
  Activation kind = Activation::kNone;
  float alpha = 0;
  float beta = 0;
};

// All ops that can become a fused activation.
OpSet ActivationOps();

// What `node` computes if it is an activation whose parameters are constants.
std::optional<ActivationSpec> ActivationOf(const Graph& g, NodeId node);

// The activation that is fused into `contraction`.
ActivationSpec FusedActivation(const Graph& g, NodeId contraction);

// The op of an activation. REQUIRES: not kNone
OpKind ActivationOp(Activation activation);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_ACTIVATION_H_
