// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/normalization.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "passes/fusion/moments.h"

namespace halftone {
namespace {

// Tries the spellings in order; keeps the reason of the one that matched furthest.
class Reader {
 public:
  explicit Reader(const Graph& g) : g_(g) {}

  std::optional<Normalization> Read(NodeId root) {
    const ValueId y = g_.output(root);
    if (g_.op(root) == OpKind::kAdd) {
      const auto [a, b] = g_.inputs<2>(root);
      if (!a.valid() || !b.valid()) return std::nullopt;
      for (const auto& [left, right] : {std::pair(a, b), std::pair(b, a)}) {
        if (auto found = Folded(root, left, right)) return found;
        if (auto found = Scaled(left)) return With(root, *found, kNoValue, right);
      }
      return std::nullopt;
    }
    if (g_.op(root) == OpKind::kSub) {
      const auto [a, b] = g_.inputs<2>(root);
      return a.valid() && b.valid() ? Folded(root, a, b) : std::nullopt;
    }
    return Scaled(y);
  }
  const Refusal& why() const { return why_; }

 private:
  std::nullopt_t Fail(Refusal refusal) {
    if (refusal.matched && !why_.matched) why_ = std::move(refusal);
    return std::nullopt;
  }

  // `inner` followed by `root`, which multiplies or adds.
  static Normalization With(NodeId root, Normalization inner, ValueId scale, ValueId offset) {
    inner.nodes.insert(inner.nodes.begin(), root);
    if (scale.valid()) inner.scale = scale;
    if (offset.valid()) inner.offset = offset;
    return inner;
  }

  // normal or normal * scale
  std::optional<Normalization> Scaled(ValueId y) {
    if (auto normal = Normal(y)) return normal;
    if (g_.op(y) != OpKind::kMul) return std::nullopt;
    const NodeId mul = g_.producer(y);
    const auto [a, b] = g_.inputs<2>(mul);
    if (!a.valid() || !b.valid()) return std::nullopt;
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      if (auto normal = Normal(one); normal.has_value() && !normal->scale.valid())
        return With(mul, *std::move(normal), other, kNoValue);
    }
    return std::nullopt;
  }

  // d / sqrt(v + e), d * inv, d * (inv * scale), or Keras' reshaped batch norm
  std::optional<Normalization> Normal(ValueId y) {
    const NodeId node = g_.producer(y);
    if (g_.op(node) == OpKind::kReshape) return ReadReshapedBatchNorm(g_, node);
    if (g_.op(node) != OpKind::kMul && g_.op(node) != OpKind::kDiv) return std::nullopt;
    const auto [a, b] = g_.inputs<2>(node);
    if (!a.valid() || !b.valid()) return std::nullopt;
    if (g_.op(node) == OpKind::kDiv) return Centred(node, a, ReadRoot(g_, b));
    if (auto found = Centred(node, a, ReadScaledInverse(g_, b))) return found;
    return Centred(node, b, ReadScaledInverse(g_, a));
  }

  std::optional<Normalization> Centred(NodeId node, ValueId centred, const std::optional<Deviation>& deviation) {
    if (!deviation.has_value() || g_.op(centred) != OpKind::kSub) return std::nullopt;
    const NodeId sub = g_.producer(centred);
    return Complete({node, sub}, g_.input(sub, 0), g_.input(sub, 1), *deviation);
  }

  // x * k + (offset - mean * k) and its variants: `product` is x * k, `rest` the other operand of `root`.
  std::optional<Normalization> Folded(NodeId root, ValueId product, ValueId rest) {
    if (g_.op(product) != OpKind::kMul) return std::nullopt;
    const NodeId mul = g_.producer(product);
    ValueId shift = rest, offset = kNoValue;
    std::vector<NodeId> nodes = {root, mul};
    bool negative = g_.op(root) == OpKind::kSub;
    if (!negative && g_.op(rest) == OpKind::kSub) {
      nodes.push_back(g_.producer(rest));
      offset = g_.input(nodes.back(), 0);
      shift = g_.input(nodes.back(), 1);
      negative = true;
    }
    if (!shift.valid() || g_.op(shift) != OpKind::kMul) return std::nullopt;
    const NodeId shifting = g_.producer(shift);
    nodes.push_back(shifting);
    for (const int i : {0, 1}) {
      const ValueId k = g_.input(mul, i), x = g_.input(mul, 1 - i);
      if (!k.valid() || !x.valid()) continue;
      for (const int j : {0, 1}) {
        ValueId mean = g_.input(shifting, 1 - j);
        if (g_.input(shifting, j) != k || !mean.valid()) continue;
        const auto deviation = ReadScaledInverse(g_, k);
        if (!deviation.has_value()) continue;
        std::vector<NodeId> all = nodes;
        if (!negative) {
          if (g_.op(mean) != OpKind::kNeg) continue;
          all.push_back(g_.producer(mean));
          mean = g_.input(all.back(), 0);
        }
        if (auto found = Complete(std::move(all), x, mean, *deviation)) {
          found->offset = offset;
          return found;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Normalization> Complete(std::vector<NodeId> nodes, ValueId x, ValueId mean,
                                        const Deviation& deviation) {
    Normalization result;
    result.x = x;
    result.epsilon = static_cast<float>(deviation.epsilon);
    result.scale = deviation.scale;
    result.nodes = std::move(nodes);
    result.nodes.insert(result.nodes.end(), deviation.nodes.begin(), deviation.nodes.end());
    if (!x.valid() || !mean.valid()) return std::nullopt;
    absl::StatusOr<Moments> moments = ReadMoments(g_, x, mean, deviation.variance);
    if (!moments.ok()) {
      const bool matched = moments.status().code() == absl::StatusCode::kFailedPrecondition;
      return matched ? Fail(Kept(std::string(moments.status().message()))) : std::nullopt;
    }
    result.axes = std::move(moments->axes);
    for (const NodeId id : moments->nodes) {
      if (std::find(result.nodes.begin(), result.nodes.end(), id) == result.nodes.end()) result.nodes.push_back(id);
    }
    return result;
  }

  const Graph& g_;
  Refusal why_ = No("it is not a normalized value");
};

// The only consumer of `root`'s value if it is an add or a mul, where a longer normalization may end; else kNoNode.
NodeId MayEndIn(const Graph& g, NodeId root) {
  const ValueId y = g.output(root);
  if (!g.HasOneUser(y)) return kNoNode;
  const NodeId user = g.uses(y)[0].node;
  return g.op(user) == OpKind::kMul || g.op(user) == OpKind::kAdd ? user : kNoNode;
}

}  // namespace

OpSet NormalizationRoots() { return {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kDiv, OpKind::kReshape}; }

std::variant<Normalization, Refusal> ReadNormalization(const Graph& g, NodeId root) {
  Reader reader(g);
  if (auto found = reader.Read(root)) return *std::move(found);
  return reader.why();
}

FindResult FindLongestNormalization(const Graph& g, NodeId root, FindResult (*check)(const Graph&, NodeId)) {
  FindResult found = check(g, root);
  if (!std::holds_alternative<Match>(found)) return found;
  NodeId user = MayEndIn(g, root);
  for (int i = 0; i < 2 && user.valid(); ++i, user = MayEndIn(g, user)) {  // scale and offset
    if (std::holds_alternative<Match>(check(g, user))) return No("the next op belongs to the normalization");
  }
  return found;
}

}  // namespace halftone
