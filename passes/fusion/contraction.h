// SPDX-License-Identifier: Apache-2.0
// Facts about contractions (conv and matmul) for the fusion rules: the channel dimension, what is already fused, and
// how constants broadcast over the channels.
#ifndef HALFTONE_PASSES_FUSION_CONTRACTION_H_
#define HALFTONE_PASSES_FUSION_CONTRACTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

inline constexpr int kWeightsInput = 1;
inline constexpr int kBiasInput = 2;
inline constexpr int kResidualInput = 3;

bool IsContraction(const Graph& g, NodeId id);  // conv or matmul
bool HasBias(const Graph& g, NodeId id);
bool HasResidual(const Graph& g, NodeId id);
bool HasActivation(const Graph& g, NodeId id);

// Rank of the contraction's result; nullopt if it is not known.
std::optional<int> ResultRank(const Graph& g, NodeId contraction);
// The dimension of the result that holds the output channels (matmul: columns). REQUIRES: rank is ResultRank
int ChannelAxis(const Graph& g, NodeId contraction, int rank);
// The constant axis of a concat or split, for `rank` dimensions. 0 if the input is absent, -1 if it is not constant.
int AxisOf(const Graph& g, ValueId axis, int rank);
// The number of output channels; nullopt if it is not known.
std::optional<int64_t> OutputChannels(const Graph& g, NodeId contraction);

// A constant that differs along dimension `axis` alone when it is broadcast to a tensor of `rank` dimensions, with
// `channels` elements along it, as a vector of rank 1: [C,1,1], [1,C,1,1], [C] where the axis is the last, or one
// element. nullopt if it is not a constant or has a different shape.
std::optional<Tensor> ChannelVector(const Graph& g, ValueId constant, int64_t channels, int axis, int rank);
// ChannelVector for the result of `contraction`.
std::optional<Tensor> ChannelVector(const Graph& g, ValueId constant, NodeId contraction);

// Weights of `contraction` (a constant of f32) with the part of each output channel multiplied by its scale, in f64,
// rounded once. REQUIRES: scale.size() == OutputChannels
Tensor ScaleWeights(const Graph& g, NodeId contraction, std::span<const double> scale);

// Whether those weights, and the bias times the scale plus the offset (none: 0), are finite. REQUIRES: f32 constants
bool StaysFinite(const Graph& g, NodeId contraction, std::span<const double> scale,
                 std::span<const double> offset = {});

// f32 from f64, rank 1.
Tensor VectorOf(std::span<const double> values);

// Whether the shapes are known to be equal: every dimension is the same number or the same symbol.
bool SameShape(const Shape& a, const Shape& b);

// `base`, or `base_1`, ...: a name that no node and no value has.
std::string FreshName(const Graph& g, const std::string& base);

// Replaces `last` with `node`, which has one output and takes over the device, origin, type and shape of `last`.
void ReplaceByNode(GraphEditor& edit, NodeId last, Node node);

// Find for an add of a contraction and another value. Either operand may be the contraction. The right one is tried
// first, because residual networks usually compute the shortcut first.
using FindAddend = FindResult (*)(const Graph&, NodeId add, ValueId result, ValueId residual, const Target&);
FindResult FindEitherOperand(const Graph& g, NodeId add, const Target& target, FindAddend find);

// Replaces `last` with a copy of `contraction`: the copy gets the name, the output name and the consumers of `last`,
// which is removed. `attach` is called on the copy before that.
template <typename Attach>
void ReplaceByFused(GraphEditor& edit, NodeId contraction, NodeId last, Attach attach) {
  const NodeId fused = edit.Clone(contraction);
  edit.SetShape(edit.graph().output(fused), edit.graph().shape(edit.graph().output(last)));
  attach(fused);
  edit.ReplaceNode(last, fused);
}

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_CONTRACTION_H_
