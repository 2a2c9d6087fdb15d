// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/contractions.h"

#include <algorithm>
#include <string>

namespace halftone::dialects {
namespace {

std::optional<Contraction> ConvOf(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  const std::string layout = attributes.String("weights_layout", "OIHW");
  const ValueId weights = g.input(conv, 1);
  const std::optional<int> rank = RankOf(g, weights);
  if (attributes.String("auto_pad", "NOTSET") == "SAME_LOWER" || !rank.has_value()) return std::nullopt;
  const int64_t group = attributes.Int("group", 1);
  if (layout == "HWCM") return *rank == 4 ? std::optional(Contraction::kDepthwise) : std::nullopt;
  if ((layout != "HWIO" || group > 1) && !g.IsConstant(weights)) return std::nullopt;
  if (group > 1) {  // one input channel a group: [H, W, 1, C * M] is [H, W, C, M]
    const int64_t channels = g.shape(weights).dim(layout == "OIHW" ? 1 : *rank - 2).value;
    return *rank == 4 && channels == 1 ? std::optional(Contraction::kDepthwise) : std::nullopt;
  }
  if (*rank == 4) return Contraction::kConv2D;
  return *rank == 5 ? std::optional(Contraction::kConv3D) : std::nullopt;
}

}  // namespace

std::optional<Contraction> ContractionOf(const Graph& g, NodeId node) {
  if (g.op(node) == OpKind::kConv) return ConvOf(g, node);
  if (g.op(node) != OpKind::kMatMul) return std::nullopt;
  const std::optional<int> a = RankOf(g, g.input(node, 0)), b = RankOf(g, g.input(node, 1));
  if (!a.has_value() || !b.has_value() || *a < 2 || *b < 2) return std::nullopt;
  return *a == 2 && *b == 2 ? Contraction::kMatMul : Contraction::kBatchMatMul;
}

const ContractionRow* FindRow(std::span<const ContractionRow> rows, const Graph& g, NodeId node) {
  const std::optional<Contraction> contraction = ContractionOf(g, node);
  if (!contraction.has_value()) return nullptr;
  const std::string parts = PartsOf(g, node);
  const bool activated = parts.find('a') != std::string::npos;
  const Activation activation = PlainActivation(g, node);
  for (const ContractionRow& row : rows) {
    if (row.contraction != *contraction || row.parts != parts) continue;
    if (!activated) return &row;
    if (activation != Activation::kNone &&
        std::find(row.activations.begin(), row.activations.end(), activation) != row.activations.end()) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace halftone::dialects
