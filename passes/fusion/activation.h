// SPDX-License-Identifier: Apache-2.0
// Converts activations between separate nodes and attributes of a contraction, both ways.
#ifndef HALFTONE_PASSES_FUSION_ACTIVATION_H_
#define HALFTONE_PASSES_FUSION_ACTIVATION_H_

#include <optional>
#include <string>

#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// alpha and beta as the fused activation has them (ir/ops.h); 0 where it has none.
struct ActivationSpec {
  Activation kind = Activation::kNone;
  float alpha = 0;
  float beta = 0;
};

// All ops that can become a fused activation.
OpSet ActivationOps();

// The activation that `node` computes; nullopt if it is no activation or a parameter is not constant.
std::optional<ActivationSpec> ActivationOf(const Graph& g, NodeId node);

// The activation that is fused into `node`, a contraction or a batch_norm.
ActivationSpec FusedActivation(const Graph& g, NodeId node);

// Fuses the activation into a node that has none yet.
void AttachActivation(Attributes& attributes, const ActivationSpec& spec);
void AttachActivation(GraphEditor& edit, NodeId node, const ActivationSpec& spec);

// Adds the activation as a separate node that reads `x`. The bounds of a clip become constants of x's type, named after
// `label`. REQUIRES: not kNone
Node ActivationNode(GraphEditor& edit, ValueId x, const ActivationSpec& spec, const std::string& label);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_ACTIVATION_H_
