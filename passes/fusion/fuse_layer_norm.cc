// d / sqrt(mean(d^2) + epsilon) * scale + offset  with  d = x - mean(x)   =>   layer_norm(x, scale, offset)
//
// As PyTorch's exporter writes it before opset 17. Legal when both means are over the last axis and keep it, epsilon is
// a constant number, and scale and offset are vectors over that axis. Not bit-exact: the sums have another order, and
// below f32 it rounds once where the ops round nine times.

#include <utility>

#include "passes/fusion/contraction.h"
#include "passes/fusion/gelu.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// Whether `node` is the mean of its first input over the last axis, which stays as 1.
bool IsMeanOfRows(const Graph& g, NodeId node) {
  if (g.op(node) != OpKind::kReduceMean || !g.node(node).attributes.Bool("keepdims", true)) return false;
  const Shape& shape = g.shape(g.input(node, 0));
  const ValueId axes = g.input(node, 1);
  if (!shape.has_rank() || !axes.valid()) return false;
  const std::optional<std::vector<int64_t>> numbers = g.ConstantInts(axes);
  return numbers.has_value() && numbers->size() == 1 && ((*numbers)[0] == -1 || (*numbers)[0] == shape.rank() - 1);
}

// Whether the value is a vector over the last dimension of `shape`.
bool IsVectorOver(const Graph& g, ValueId vector, const Shape& shape) {
  const Shape& own = g.shape(vector);
  return own.has_rank() && own.rank() == 1 && shape.has_rank() && own.dim(0).known() &&
         own.dim(0) == shape.dim(shape.rank() - 1);
}

// What `value` is the square of; kNoValue: it is no square.
ValueId RootOf(const Graph& g, ValueId value) {
  const NodeId node = g.producer(value);
  if (g.op(node) == OpKind::kSquare) return g.input(node, 0);
  if (g.op(node) == OpKind::kMul && g.input(node, 0) == g.input(node, 1)) return g.input(node, 0);
  const auto power = NumberOperand(g, value, OpKind::kPow, /*swap=*/false);
  return power.has_value() && power->number == 2 ? power->x : kNoValue;
}

class FuseLayerNorm final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-layer-norm"; }
  std::string_view equation() const override {
    return "d / sqrt(mean(d^2) + epsilon) * scale + offset, d = x - mean(x) => layer_norm(x, scale, offset)";
  }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId add, const Target&) const override {
    for (const int i : {0, 1}) {
      const ValueId scaled = g.input(add, i), offset = g.input(add, 1 - i);
      if (!scaled.valid() || !offset.valid() || g.op(scaled) != OpKind::kMul) continue;
      const NodeId mul = g.producer(scaled);
      for (const int j : {0, 1}) {
        const ValueId normal = g.input(mul, j), scale = g.input(mul, 1 - j);
        if (!normal.valid() || !scale.valid() || g.op(normal) != OpKind::kDiv) continue;
        FindResult found = FromQuotient(g, {add, mul, g.producer(normal)}, scale, offset);
        if (std::holds_alternative<Match>(found) || std::get<Refusal>(found).matched) return found;
      }
    }
    return No("it is no scaled quotient and an offset");
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kLayerNorm;
    node.inputs = {m.value(0), m.value(1), m.value(2)};
    const Graph& g = edit.graph();
    const NodeId root = g.producer(g.input(m.nodes()[2], 1));
    node.attributes.Set("epsilon", static_cast<float>(NumberOperand(g, g.input(root, 0), OpKind::kAdd)->number));
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  // nodes: the sum, the product, the quotient.
  static FindResult FromQuotient(const Graph& g, std::vector<NodeId> nodes, ValueId scale, ValueId offset) {
    const auto [centred, deviation] = g.inputs<2>(nodes.back());
    if (!centred.valid() || !deviation.valid() || g.op(centred) != OpKind::kSub || g.op(deviation) != OpKind::kSqrt)
      return No("it is no centred value over a root");
    const NodeId root = g.producer(deviation), sub = g.producer(centred);
    const auto variance = NumberOperand(g, g.input(root, 0), OpKind::kAdd);
    if (!variance.has_value()) return No("no constant is added under the root");
    const NodeId mean_of_squares = g.producer(variance->x), mean = g.producer(g.input(sub, 1));
    if (g.op(mean_of_squares) != OpKind::kReduceMean || g.op(mean) != OpKind::kReduceMean) return No("no means");
    const ValueId x = g.input(sub, 0), square = g.input(mean_of_squares, 0);
    if (g.input(mean, 0) != x) return Kept("the mean is of another value");
    if (!IsMeanOfRows(g, mean) || !IsMeanOfRows(g, mean_of_squares))
      return Kept("the means are not over the last axis");
    if (RootOf(g, square) != centred) return Kept("the variance is of another value");
    if (!IsVectorOver(g, scale, g.shape(x)) || !IsVectorOver(g, offset, g.shape(x)))
      return Kept("scale or offset is no vector over the last axis");
    if (g.type(scale) != g.type(x) || g.type(offset) != g.type(x)) return Kept("the types differ");
    nodes.insert(nodes.end(), {root, variance->node, mean_of_squares, g.producer(square), sub, mean});
    return Match(std::move(nodes), {x, scale, offset});
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLayerNorm() { return std::make_unique<FuseLayerNorm>(); }

}  // namespace halftone
