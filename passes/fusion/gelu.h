// SPDX-License-Identifier: Apache-2.0
// The common part of the two forms of gelu: 0.5 * x * (1 + gate(x)), with the factors in any order.
#ifndef HALFTONE_PASSES_FUSION_GELU_H_
#define HALFTONE_PASSES_FUSION_GELU_H_

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// Finds 0.5 * x * (1 + gate) that ends in `mul`. `gate(argument, x, nodes)` returns whether `gate_op(argument)` is the
// gate of x, and adds the nodes between them to `nodes`. The match's only value is x.
using GeluGate = std::function<bool(ValueId argument, ValueId x, std::vector<NodeId>& nodes)>;
FindResult FindGelu(const Graph& g, NodeId mul, OpKind gate_op, const GeluGate& gate);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_GELU_H_
