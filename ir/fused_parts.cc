// SPDX-License-Identifier: Apache-2.0
#include "ir/fused_parts.h"

#include <algorithm>

namespace halftone::dialects {
namespace {

constexpr int kBias = 2, kResidual = 3;

}  // namespace

std::string PartsOf(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  std::string parts;
  if (attributes.Float("scale", 1) != 1) parts += 's';
  if (g.input(node, kBias).valid()) parts += 'b';
  const bool activated = attributes.has("activation");
  if (activated && attributes.Bool("activation_first", false)) parts += 'a';
  if (g.input(node, kResidual).valid()) parts += 'r';
  if (activated && !attributes.Bool("activation_first", false)) parts += 'a';
  return parts;
}

Activation PlainActivation(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  const Activation kind = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
  const ActivationParameters defaults = ParametersOf(kind);
  const float alpha = attributes.Float("activation_alpha", defaults.alpha);
  const float beta = attributes.Float("activation_beta", defaults.beta);
  switch (kind) {
    case Activation::kClip:
      return alpha == 0 && beta == 6 ? Activation::kRelu6 : Activation::kNone;
    case Activation::kElu:
    case Activation::kSwish:
      return alpha == 1 ? kind : Activation::kNone;
    case Activation::kHardSigmoid:
      return Activation::kNone;
    default:
      return kind;
  }
}

bool HasType(const Graph& g, ValueId value, std::initializer_list<DataType> types) {
  return value.valid() && std::find(types.begin(), types.end(), g.type(value)) != types.end();
}

bool AllHaveType(const Graph& g, NodeId node, std::initializer_list<DataType> types) {
  const ValueId y = g.output(node);
  if (!HasType(g, y, types)) return false;
  const std::vector<ValueId>& inputs = g.node(node).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](ValueId x) { return !x.valid() || g.type(x) == g.type(y); });
}

bool SameShape(const Graph& g, ValueId a, ValueId b) {
  const Shape &x = g.shape(a), &y = g.shape(b);
  if (!x.has_rank() || !y.has_rank()) return false;
  return std::equal(x.dims().begin(), x.dims().end(), y.dims().begin(), y.dims().end(),
                    [](const Dim& m, const Dim& n) { return m == n && (m.known() || !m.symbol.empty()); });
}

std::optional<int> RankOf(const Graph& g, ValueId value) {
  if (!value.valid() || !g.shape(value).has_rank()) return std::nullopt;
  return g.shape(value).rank();
}

bool HasPads(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  if (attributes.String("auto_pad", "NOTSET") != "NOTSET") return false;
  const std::vector<int64_t> pads = attributes.Ints("pads");
  return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
}

bool OnlyFirstIsRead(const Graph& g, NodeId node) {
  const std::vector<ValueId>& outputs = g.node(node).outputs;
  for (size_t i = 1; i < outputs.size(); ++i) {
    const ValueId value = outputs[i];
    if (value.valid() && (!g.uses(value).empty() || g.IsOutput(value) || g.IsCaptured(value))) return false;
  }
  return true;
}

}  // namespace halftone::dialects
