// What plans and kernels ask about nodes that read or write integers that stand for real numbers (ir/quantization.h).
#ifndef HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_
#define HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_

#include "ir/graph.h"

namespace halftone {

// Whether the node computes with the real numbers of an input or an output that holds integers. Only kernels that look
// at quantizations may run it (Kernel::quantized).
bool IsQuantized(const Graph& graph, NodeId node);

// Whether such a node only moves or chooses elements (reshape, concat, max_pool, ...), and all of its data have one
// scale and one zero point: then it does the same with the integers, and any kernel for integers may run it.
bool MovesIntegers(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_
