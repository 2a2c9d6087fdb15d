// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/fused_words.h"

namespace halftone::graphdef {
namespace {

using Kind = FusedStep::Kind;

constexpr unsigned kTf = 1u << static_cast<int>(WordFamily::kTensorFlow);
constexpr unsigned kItex = 1u << static_cast<int>(WordFamily::kItex);
constexpr unsigned kItexBatch = 1u << static_cast<int>(WordFamily::kItexBatchMatMul);

struct Row {
  std::string_view word;
  FusedStep step;
  unsigned writers = 0;  // families that write it; all read it
};
constexpr Row kRows[] = {
    {"BiasAdd", {Kind::kBias}, kTf | kItex},
    {"Add", {Kind::kResidual}, kTf | kItex},
    {"BinaryAdd", {Kind::kResidual}, kItexBatch},
    {"Mul", {Kind::kScale}, kTf | kItex | kItexBatch},
    {"BinaryMul", {Kind::kScale}},
    {"FusedBatchNorm", {Kind::kBatchNorm}},
    {"Relu", {Kind::kActivation, Activation::kRelu}, kTf | kItex},
    {"Relu6", {Kind::kActivation, Activation::kRelu6}, kTf | kItex},
    {"Elu", {Kind::kActivation, Activation::kElu}, kTf | kItex},
    {"LeakyRelu", {Kind::kActivation, Activation::kLeakyRelu}, kTf | kItex},
    {"Tanh", {Kind::kActivation, Activation::kTanh}, kTf | kItex},
    {"Sigmoid", {Kind::kActivation, Activation::kSigmoid}, kTf | kItex},
    {"GeluExact", {Kind::kActivation, Activation::kGelu}, kTf | kItex},
    {"GeluApproximate", {Kind::kActivation, Activation::kGeluTanh}, kTf | kItex},
    {"_MklSwish", {Kind::kActivation, Activation::kSwish}, kTf},
    {"_FusedSwish", {Kind::kActivation, Activation::kSwish}},
    {"Swish", {Kind::kActivation, Activation::kSwish}, kItex},
    {"Mish", {Kind::kActivation, Activation::kMish}, kTf | kItex},
    {"_MklFusedMish", {Kind::kActivation, Activation::kMish}},
    {"_FusedHardSwish", {Kind::kActivation, Activation::kHardSwish}, kTf},
    {"HardSwish", {Kind::kActivation, Activation::kHardSwish}, kItex},
};

}  // namespace

WordFamily FamilyOf(std::string_view tf_op) {
  if (tf_op == "_ITEXFusedBatchMatMulV2") return WordFamily::kItexBatchMatMul;
  return tf_op.starts_with("_ITEX") ? WordFamily::kItex : WordFamily::kTensorFlow;
}

std::optional<FusedStep> StepOf(std::string_view word) {
  for (const Row& row : kRows) {
    if (row.word == word) return row.step;
  }
  return std::nullopt;
}

std::string_view WordOf(const FusedStep& step, WordFamily family) {
  for (const Row& row : kRows) {
    if (row.step == step && (row.writers >> static_cast<int>(family) & 1u) != 0) return row.word;
  }
  return "";
}

std::vector<FusedStep> StepsOf(const Graph& graph, NodeId node) {
  const Attributes& attributes = graph.node(node).attributes;
  Activation activation = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
  if (activation == Activation::kClip) activation = Activation::kRelu6;  // the caller has checked the bounds
  const bool activated = activation != Activation::kNone;
  const bool first = attributes.Bool("activation_first", false);
  std::vector<FusedStep> steps;
  if (attributes.Float("scale", 1) != 1) steps.push_back({Kind::kScale});
  if (graph.input(node, 2).valid()) steps.push_back({Kind::kBias});
  if (activated && first) steps.push_back({Kind::kActivation, activation});
  if (graph.input(node, 3).valid()) steps.push_back({Kind::kResidual});
  if (activated && !first) steps.push_back({Kind::kActivation, activation});
  return steps;
}

}  // namespace halftone::graphdef
