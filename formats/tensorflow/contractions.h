// SPDX-License-Identifier: Apache-2.0
// Convolutions and matmuls as TensorFlow's fused ops have them: the rows of its dialects.
#ifndef HALFTONE_FORMATS_TENSORFLOW_CONTRACTIONS_H_
#define HALFTONE_FORMATS_TENSORFLOW_CONTRACTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/fused_parts.h"
#include "ir/graph.h"

namespace halftone::dialects {

// What an op of TensorFlow's kind contracts.
enum class Contraction : uint8_t { kConv2D, kDepthwise, kConv3D, kMatMul, kBatchMatMul };

// nullopt: no op of TensorFlow's says it (groups of several channels, weights that must be rearranged and are no
// constant, padding SAME_LOWER, vectors), or not enough of its shapes is known.
std::optional<Contraction> ContractionOf(const Graph& graph, NodeId node);

// A row says that `op` does such a contraction with these parts, the activation one of `activations`.
struct ContractionRow {
  Contraction contraction;
  std::string_view op;
  std::string_view parts;
  std::span<const Activation> activations = {};
};
// The first row that says the node; nullptr: none.
const ContractionRow* FindRow(std::span<const ContractionRow> rows, const Graph& graph, NodeId node);

}  // namespace halftone::dialects

#endif  // HALFTONE_FORMATS_TENSORFLOW_CONTRACTIONS_H_
