// What the fusion rules have to know about contractions (conv and matmul): where the channel is, what is attached
// already, how constants spread over channels.
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
// The dimension of the result that runs over output channels (matmul: columns). REQUIRES: rank is ResultRank
int ChannelAxis(const Graph& g, NodeId contraction, int rank);
// The dimension that a constant axis of concat or split says for `rank` dimensions; no axis: 0; not constant: -1.
int AxisOf(const Graph& g, ValueId axis, int rank);
// The number of output channels; nullopt if it is not known.
std::optional<int64_t> OutputChannels(const Graph& g, NodeId contraction);

// A constant that differs along dimension `axis` alone when it is broadcast to a tensor of `rank` dimensions, with
// `channels` elements along it, as a vector of rank 1: [C,1,1], [1,C,1,1], [C] where the axis is the last, or one
// element. nullopt if it is no constant or has another shape.
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

// Equal as far as can be known: every dimension the same number or the same symbol.
bool SameShape(const Shape& a, const Shape& b);

// `base`, or `base_1`, ...: a name that no node and no value has.
std::string FreshName(const Graph& g, const std::string& base);

// `node`, of one output, in the place of `last`, whose device, origin, type and shape it takes over as well.
void ReplaceByNode(GraphEditor& edit, NodeId last, Node node);

// Find of a sum of a contraction and something else. Either operand may be the contraction; the right one is tried
// first, because in residual networks the short cut tends to be computed before it.
using FindAddend = FindResult (*)(const Graph&, NodeId add, ValueId product, ValueId residual, const Target&);
FindResult FindEitherOperand(const Graph& g, NodeId add, const Target& target, FindAddend find);

// A copy of `contraction` in the place of `last`: it gets the name, the output name and the readers of `last`, which is
// removed. `attach` is called on the copy before that.
template <typename Attach>
void ReplaceByFused(GraphEditor& edit, NodeId contraction, NodeId last, Attach attach) {
  const NodeId fused = edit.Clone(contraction);
  edit.SetShape(edit.graph().output(fused), edit.graph().shape(edit.graph().output(last)));
  attach(fused);
  edit.ReplaceNode(last, fused);
}

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_CONTRACTION_H_
