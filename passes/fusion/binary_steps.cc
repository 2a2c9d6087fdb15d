// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/binary_steps.h"

#include <algorithm>

#include "ir/binary_chain.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

bool IsStep(const Graph& g, NodeId id) {
  if (StepOps().has(g.op(id))) return g.input(id, 0).valid() && g.input(id, 1).valid();
  return g.op(id) == OpKind::kBinaryChain && !HasActivation(g, id);
}

// Whether the chain may go on through `value`, an operand of `user`.
bool GoesThrough(const Graph& g, ValueId value, NodeId user) {
  const NodeId node = g.producer(value);
  const ValueId y = g.output(user);
  return IsStep(g, node) && g.HasOneUser(value) && g.type(value) == g.type(y) &&
         SameShape(g.shape(value), g.shape(y)) && g.node(node).device == g.node(user).device;
}

void Append(std::vector<ValueId> inputs, std::vector<std::string> ops, BinarySteps& steps) {
  steps.inputs.insert(steps.inputs.end(), inputs.begin(), inputs.end());
  steps.ops.insert(steps.ops.end(), ops.begin(), ops.end());
}

}  // namespace

OpSet StepOps() { return {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kDiv, OpKind::kMaximum, OpKind::kMinimum}; }

BinarySteps ReadBinarySteps(const Graph& g, NodeId last) {
  BinarySteps steps;  // collected from the last step to the first, reversed at the end
  for (NodeId id = last; id.valid();) {
    steps.nodes.push_back(id);
    NodeId next = kNoNode;
    if (g.op(id) == OpKind::kBinaryChain) {
      std::vector<ValueId> inputs = g.node(id).inputs;
      const std::vector<ChainStep> parts = *StepsOfChain(g.node(id));
      std::vector<std::string> ops;
      for (const ChainStep& part : parts) ops.emplace_back(ChainStepName(part));
      std::reverse(inputs.begin(), inputs.end());
      std::reverse(ops.begin(), ops.end());
      if (steps.ops.size() + ops.size() < kLongestChain && GoesThrough(g, inputs.back(), id)) {
        next = g.producer(inputs.back());
        inputs.pop_back();
      }
      Append(std::move(inputs), std::move(ops), steps);
    } else {
      const auto [a, b] = g.inputs<2>(id);
      const bool reversed = !GoesThrough(g, a, id) && GoesThrough(g, b, id) && a != b;
      const ValueId acc = reversed ? b : a;
      const bool noncommuting = g.op(id) == OpKind::kSub || g.op(id) == OpKind::kDiv;
      const std::string step(ChainStepName({g.op(id), reversed && noncommuting}));
      if (steps.ops.size() + 1 < kLongestChain && a != b && GoesThrough(g, acc, id)) next = g.producer(acc);
      Append({reversed ? a : b}, {step}, steps);
      if (!next.valid()) steps.inputs.push_back(acc);
    }
    id = next;
  }
  std::reverse(steps.inputs.begin(), steps.inputs.end());
  std::reverse(steps.ops.begin(), steps.ops.end());
  return steps;
}

}  // namespace halftone
