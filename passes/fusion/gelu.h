// What the two forms of gelu have in common: 0.5 * x * (1 + gate(x)), with the products in any order.
#ifndef HALFTONE_PASSES_FUSION_GELU_H_
#define HALFTONE_PASSES_FUSION_GELU_H_

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// Finds 0.5 * x * (1 + gate) that ends in `mul`. `gate(argument, x, nodes)` says whether `gate_op(argument)` is the
// gate of x, and adds the nodes between them. The match's only value is x.
using GeluGate = std::function<bool(ValueId argument, ValueId x, std::vector<NodeId>& nodes)>;
FindResult FindGelu(const Graph& g, NodeId mul, OpKind gate_op, const GeluGate& gate);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_GELU_H_
