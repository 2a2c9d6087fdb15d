// Normalization that is written out: (x - mean) / sqrt(variance + epsilon) * scale + offset, in the spellings that
// exporters and hands use.
//
//   d * inv, d / sqrt(v + e), with d = x - mean, inv = rsqrt(v + e), 1 / sqrt(v + e), (v + e)^-0.5;
//     then * scale and + offset, or the scale as d * (inv * scale)
//   x * k + (offset - mean * k), x * k - mean * k, x * k + (-mean) * k, with k = inv * scale or inv   (TensorFlow)
//   reshape(batch_norm(reshape(x)) {is_training}), then * scale and + offset                          (Keras)
//
// v = mean(d^2) as a power, a product, a square or a squared difference; both means keep their dimensions as 1.
#ifndef HALFTONE_PASSES_FUSION_NORMALIZATION_H_
#define HALFTONE_PASSES_FUSION_NORMALIZATION_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "passes/core/rewrite_rule.h"

namespace halftone {

struct Normalization {
  ValueId x = kNoValue;
  std::vector<int64_t> axes;  // normalized together; ascending, >= 0
  float epsilon = 0;
  ValueId scale = kNoValue, offset = kNoValue;  // kNoValue: 1 and 0; any shape that broadcasts
  std::vector<NodeId> nodes;                    // the root first, each once
};

// Ops in which such a normalization ends.
OpSet NormalizationRoots();

// The normalization that ends in `root`, with as much scale and offset as lies in front of it.
std::variant<Normalization, Refusal> ReadNormalization(const Graph& g, NodeId root);

// Find of a rule whose pattern ends in `root`: what `check` says of it, unless it matches and also matches one of the
// two nodes behind it (scale and offset), whose normalization is longer.
FindResult FindLongestNormalization(const Graph& g, NodeId root, FindResult (*check)(const Graph&, NodeId));

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_NORMALIZATION_H_
