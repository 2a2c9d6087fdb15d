// SPDX-License-Identifier: Apache-2.0
// A normalization that is written as separate ops: (x - mean) / sqrt(variance + epsilon) * scale + offset, in the
// spellings of exporters and model code.
//
//   d * inv, d / sqrt(v + e), with d = x - mean, inv = rsqrt(v + e), 1 / sqrt(v + e), (v + e)^-0.5;
//     then * scale and + offset, or the scale as d * (inv * scale)
//   x * k + (offset - mean * k), x * k - mean * k, x * k + (-mean) * k, with k = inv * scale or inv   (TensorFlow)
//   reshape(batch_norm(reshape(x)) {is_training}), then * scale and + offset                          (Keras)
//
// v = mean(d^2) as a power, a multiplication, a square or a squared difference; both means keep their dimensions.
#ifndef HALFTONE_PASSES_FUSION_NORMALIZATION_H_
#define HALFTONE_PASSES_FUSION_NORMALIZATION_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "passes/core/rewrite_rule.h"

namespace halftone {

struct Normalization {
  ValueId x = kNoValue;
  std::vector<int64_t> axes;  // the axes that are normalized together; ascending, >= 0
  float epsilon = 0;
  ValueId scale = kNoValue, offset = kNoValue;  // kNoValue: 1 and 0; any shape that broadcasts
  std::vector<NodeId> nodes;                    // the root first, without duplicates
};

// Ops that may be the last one of such a normalization.
OpSet NormalizationRoots();

// The normalization that ends in `root`, with the scale and offset that are applied up to there.
std::variant<Normalization, Refusal> ReadNormalization(const Graph& g, NodeId root);

// Find for a rule whose pattern ends in `root`: the result of `check`. A match is refused if `check` also matches one
// of the next two nodes (scale and offset), because that normalization is longer.
FindResult FindLongestNormalization(const Graph& g, NodeId root, FindResult (*check)(const Graph&, NodeId));

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_NORMALIZATION_H_
