// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/batch_norm.h"

#include <cmath>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

constexpr float kDefaultEpsilon = 1e-5f;

bool IsFloat32Constant(const Graph& g, ValueId value) {
  const Tensor* tensor = value.valid() ? g.ConstantTensor(value) : nullptr;
  return tensor != nullptr && tensor->type() == DataType::kFloat32;
}

}  // namespace

bool StatisticsAreRead(const Graph& g, NodeId batch_norm) {
  const Node& node = g.node(batch_norm);
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (output.valid() && (!g.uses(output).empty() || g.IsOutput(output) || g.IsCaptured(output))) return true;
  }
  return false;
}

absl::StatusOr<ChannelAffine> AffineOfBatchNorm(const Graph& g, NodeId batch_norm, int64_t channels) {
  const Node& node = g.node(batch_norm);
  if (node.attributes.Bool("is_training", false)) return absl::FailedPreconditionError("it is in training mode");
  if (HasActivation(g, batch_norm)) return absl::FailedPreconditionError("it has a fused activation");
  if (StatisticsAreRead(g, batch_norm)) return absl::FailedPreconditionError("its statistics have consumers");
  std::vector<double> statistics[4];
  for (int i = 0; i < 4; ++i) {
    const Tensor* tensor = g.input(batch_norm, i + 1).valid() ? g.ConstantTensor(g.input(batch_norm, i + 1)) : nullptr;
    if (tensor == nullptr || !IsFloatingPoint(tensor->type())) {
      return absl::FailedPreconditionError("its statistics are not constant");
    }
    if (tensor->num_elements() != channels) return absl::FailedPreconditionError("its number of channels differs");
    statistics[i] = tensor->ToDoubles();
  }
  const auto& [gamma, beta, mean, variance] = statistics;
  const double epsilon = node.attributes.Float("epsilon", kDefaultEpsilon);
  ChannelAffine affine;
  for (int64_t c = 0; c < channels; ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    affine.offset.push_back(beta[c] - mean[c] * affine.scale[c]);
    if (!std::isfinite(affine.scale.back()) || !std::isfinite(affine.offset.back())) {
      return absl::FailedPreconditionError("its statistics give scales or offsets that are not finite");
    }
  }
  return affine;
}

std::string CannotFold(const Graph& g, NodeId contraction) {
  if (HasResidual(g, contraction) || HasActivation(g, contraction)) {
    return Concat("the contraction already ends in a residual or an activation: '", g.Label(contraction), "'");
  }
  if (!IsFloat32Constant(g, g.input(contraction, kWeightsInput)))
    return Concat("the weights are not an f32 constant: ", Describe(g, g.input(contraction, kWeightsInput)));
  if (HasBias(g, contraction) && !IsFloat32Constant(g, g.input(contraction, kBiasInput)))
    return Concat("the bias is not an f32 constant: ", Describe(g, g.input(contraction, kBiasInput)));
  if (!OutputChannels(g, contraction).has_value())
    return Concat("the number of channels is not known: ", Describe(g, g.output(contraction)));
  return "";
}

void FoldAffine(GraphEditor& edit, NodeId contraction, NodeId last, const ChannelAffine& affine) {
  const Graph& g = edit.graph();
  std::vector<double> bias = affine.offset;
  if (HasBias(g, contraction)) {
    const std::vector<double> old = g.ConstantTensor(g.input(contraction, kBiasInput))->ToDoubles();
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += old[c] * affine.scale[c];
  }
  const std::string label = g.Label(last);
  const ValueId new_weights =
      edit.AddConstant(FreshName(g, label + "/weights"), ScaleWeights(g, contraction, affine.scale));
  const ValueId new_bias = edit.AddConstant(FreshName(g, label + "/bias"), VectorOf(bias));
  ReplaceByFused(edit, contraction, last, [&](NodeId fused) {
    edit.SetInput(fused, kWeightsInput, new_weights);
    edit.SetInput(fused, kBiasInput, new_bias);
  });
}

}  // namespace halftone
