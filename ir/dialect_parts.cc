#include <algorithm>

#include "ir/dialect_parts_internal.h"

namespace halftone::dialects {
namespace {

constexpr int kBias = 2, kResidual = 3;

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
