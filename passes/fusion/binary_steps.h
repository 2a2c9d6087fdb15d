// SPDX-License-Identifier: Apache-2.0
// Binary ops as steps of a binary_chain.
#ifndef HALFTONE_PASSES_FUSION_BINARY_STEPS_H_
#define HALFTONE_PASSES_FUSION_BINARY_STEPS_H_

#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// add, sub, mul, div, maximum, minimum.
OpSet StepOps();

inline constexpr size_t kLongestChain = 16;

// A chain before it is a node: acc = inputs[0]; acc = acc ops[i] inputs[i + 1].
struct BinarySteps {
  std::vector<ValueId> inputs;
  std::vector<std::string> ops;  // values of the attribute of binary_chain
  std::vector<NodeId> nodes;     // the last one first
};

// The longest chain that ends in `last`, a floating-point binary op (or a binary_chain without activation). From each
// node the chain continues with the operand that is such an op itself, has no other consumer, and has the type and
// shape of the result (known or of equal symbols). If both operands qualify, it takes the left one. At least one step,
// and no more nodes once there are kLongestChain steps.
BinarySteps ReadBinarySteps(const Graph& g, NodeId last);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_BINARY_STEPS_H_
