// SPDX-License-Identifier: Apache-2.0
// What plans and kernels ask about nodes that read or write integers that stand for real numbers (ir/quantization.h).
#ifndef HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_
#define HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_

#include "ir/graph.h"

namespace halftone {

// What a kernel must know of a node's values.
enum class NodeValues {
  kPlain,      // none has a quantization
  kMoved,      // quantized; the node only moves the integers (MovesIntegers): any kernel for integers may run it
  kQuantized,  // quantized; the node computes with the real numbers: only kernels that read scales may run it
};
inline constexpr int kNumNodeValues = 3;
NodeValues ValuesOf(const Graph& graph, NodeId node);

// Whether the node reads or writes quantized values: kMoved or kQuantized.
bool IsQuantized(const Graph& graph, NodeId node);

// Whether the node only moves or chooses elements (reshape, concat, max_pool, ...), and all of its data have one
// scale and one zero point: then it does the same with the integers.
bool MovesIntegers(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_QUANTIZED_NODE_H_
