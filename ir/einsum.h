// SPDX-License-Identifier: Apache-2.0
// The equation of einsum: which dimensions of the operands have one index, and which of them the result keeps.
#ifndef HALFTONE_IR_EINSUM_H_
#define HALFTONE_IR_EINSUM_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/shape.h"

namespace halftone {

// Indices are numbered from 0. An operand may have one twice (its diagonal); the result has each at most once.
struct EinsumPlan {
  std::vector<std::vector<int>> inputs;  // one index a dimension
  std::vector<int> output;
  int num_indices = 0;
};

// "bij,bjk->bik", "...ii->...i", "ij,jk" (the result has the letters that stand once, in alphabetical order, after the
// ellipsis). `ranks`: one per operand. Errors: INVALID_ARGUMENT without the node's name.
absl::StatusOr<EinsumPlan> ParseEinsum(std::string_view equation, std::span<const int> ranks);

// The size of each index. Dimensions of 1 are broadcast. REQUIRES: ranks are those of ParseEinsum
absl::StatusOr<std::vector<Dim>> EinsumSizes(const EinsumPlan& plan, std::span<const Shape> inputs);

}  // namespace halftone

#endif  // HALFTONE_IR_EINSUM_H_
