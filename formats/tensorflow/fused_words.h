// SPDX-License-Identifier: Apache-2.0
// The entries of the attribute fused_ops of TensorFlow's and ITEX's fused ops, and what they mean.
#ifndef HALFTONE_FORMATS_TENSORFLOW_FUSED_WORDS_H_
#define HALFTONE_FORMATS_TENSORFLOW_FUSED_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/ops.h"

namespace halftone::graphdef {

// One step after a contraction.
struct FusedStep {
  enum class Kind : uint8_t { kBias, kResidual, kScale, kActivation, kBatchNorm };
  Kind kind = Kind::kBias;
  Activation activation = Activation::kNone;
  bool operator==(const FusedStep&) const = default;
};

// The family of ops: each spells the same step differently.
enum class WordFamily : uint8_t { kTensorFlow, kItex, kItexBatchMatMul };
WordFamily FamilyOf(std::string_view tf_op);

// nullopt: an entry without a canonical step.
std::optional<FusedStep> StepOf(std::string_view word);
// "" if the family has no entry for it.
std::string_view WordOf(const FusedStep& step, WordFamily family);

// The steps of a canonical conv or matmul, in the order in which they are computed.
std::vector<FusedStep> StepsOf(const Graph& graph, NodeId node);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_FUSED_WORDS_H_
