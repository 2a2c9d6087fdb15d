#include "passes/fusion/activation.h"

#include <limits>
#include <vector>

#include "absl/log/check.h"

namespace halftone {
namespace {

struct Row {
  OpKind op;
  Activation activation;
};
constexpr Row kRows[] = {
    {OpKind::kRelu, Activation::kRelu},       {OpKind::kRelu6, Activation::kRelu6},
    {OpKind::kClip, Activation::kClip},       {OpKind::kElu, Activation::kElu},
    {OpKind::kTanh, Activation::kTanh},       {OpKind::kLeakyRelu, Activation::kLeakyRelu},
    {OpKind::kSigmoid, Activation::kSigmoid},
};

constexpr float kDefaultElu = 1;
constexpr float kDefaultLeakyRelu = 0.01f;

}  // namespace

OpSet ActivationOps() {
  return {OpKind::kRelu,      OpKind::kRelu6, OpKind::kClip,   OpKind::kElu,
          OpKind::kLeakyRelu, OpKind::kTanh,  OpKind::kSigmoid};
}

std::optional<ActivationSpec> ActivationOf(const Graph& g, NodeId node) {
  ActivationSpec spec;
  for (const Row& row : kRows) {
    if (row.op == g.op(node)) spec.kind = row.activation;
  }
  if (spec.kind == Activation::kNone) return std::nullopt;
  if (spec.kind == Activation::kElu) spec.alpha = g.node(node).attributes.Float("alpha", kDefaultElu);
  if (spec.kind == Activation::kLeakyRelu) spec.alpha = g.node(node).attributes.Float("alpha", kDefaultLeakyRelu);
  if (spec.kind != Activation::kClip) return spec;
  spec.alpha = std::numeric_limits<float>::lowest();
  spec.beta = std::numeric_limits<float>::max();
  for (const int i : {1, 2}) {
    if (!g.input(node, i).valid()) continue;
    const std::optional<double> bound = g.ConstantScalar(g.input(node, i));
    if (!bound.has_value()) return std::nullopt;
    (i == 1 ? spec.alpha : spec.beta) = static_cast<float>(*bound);
  }
  return spec;
}

ActivationSpec FusedActivation(const Graph& g, NodeId contraction) {
  const Attributes& attributes = g.node(contraction).attributes;
  return {ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone),
          attributes.Float("activation_alpha", 0), attributes.Float("activation_beta", 0)};
}

OpKind ActivationOp(Activation activation) {
  for (const Row& row : kRows) {
    if (row.activation == activation) return row.op;
  }
  CHECK(false) << "no activation";
  return OpKind::kIdentity;
}

}  // namespace halftone
