// SPDX-License-Identifier: Apache-2.0
// The sizes of com.microsoft's Attention.
#ifndef HALFTONE_IR_ATTENTION_H_
#define HALFTONE_IR_ATTENTION_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/shape.h"

namespace halftone {

enum AttentionInput {
  kAttentionX,
  kAttentionWeights,
  kAttentionBias,
  kAttentionMask,
  kAttentionPast,
  kAttentionAddend,  // attention_bias
};

struct AttentionSizes {
  int64_t heads = 1;
  Dim batch, steps, past, total;  // total: past + steps
  Dim hidden, value_hidden;       // of queries and keys; of values: all heads together
};

// `inputs` in the op's order; absent or unknown ones have no rank. Errors: INVALID_ARGUMENT without the node's name.
absl::StatusOr<AttentionSizes> SizesOfAttention(const Attributes& attributes, std::span<const Shape> inputs);

}  // namespace halftone

#endif  // HALFTONE_IR_ATTENTION_H_
