// SPDX-License-Identifier: Apache-2.0
// What a binary_chain does with each of its inputs but the first.
#ifndef HALFTONE_IR_BINARY_CHAIN_H_
#define HALFTONE_IR_BINARY_CHAIN_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/ops.h"

namespace halftone {

// acc = acc op x; reversed: x op acc.
struct ChainStep {
  OpKind op = OpKind::kAdd;
  bool reversed = false;
  bool operator==(const ChainStep&) const = default;
};

// The step's word in the attribute "ops". Only sub and div can be reversed; "": a chain has no such step.
std::string_view ChainStepName(const ChainStep& step);

// One step for each input but the first. Errors (INVALID_ARGUMENT, without the node's name): a word that is unknown,
// another number of words than of further inputs, no further input. REQUIRES: node is a binary_chain
absl::StatusOr<std::vector<ChainStep>> StepsOfChain(const Node& node);

}  // namespace halftone

#endif  // HALFTONE_IR_BINARY_CHAIN_H_
