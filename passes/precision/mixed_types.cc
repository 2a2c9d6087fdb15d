// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/mixed_types.h"

#include <algorithm>

#include "base/strings.h"
#include "passes/core/guards.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"

namespace halftone {

bool IsSmallFloat(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kBFloat16 || type == DataType::kFloat16;
}

OpSet MathModeOps() { return {OpKind::kConv, OpKind::kMatMul, OpKind::kGemm, OpKind::kConvTranspose}; }

ValueId CastFrom(const Graph& g, ValueId value) {
  if (!value.valid() || g.op(value) != OpKind::kCast) return kNoValue;
  const ValueId from = g.input(g.producer(value), 0);
  if (!from.valid() || !IsSmallFloat(g.type(from)) || !IsSmallFloat(g.type(value))) return kNoValue;
  return g.type(from) == g.type(value) ? kNoValue : from;
}

bool RunsAs(const Target& target, const Graph& g, NodeId node, const Signature& types) {
  const std::vector<Signature> all = target.Signatures(g, node);
  return std::any_of(all.begin(), all.end(), [&](const Signature& one) {
    return one.src == types.src && one.weights == types.weights && one.dst == types.dst &&
           one.bf16_math == types.bf16_math;
  });
}

FindResult FindResultCast(const Graph& g, NodeId cast, const Target& target, OpSet ops) {
  const ValueId y = g.output(cast);
  const ValueId result = CastFrom(g, y);
  if (!result.valid()) return No("it is not a cast between f32, bf16 and f16");
  const NodeId op = g.producer(result);
  if (!ops.has(g.op(op))) return No("the input is the result of another op");
  if (g.node(op).outputs.size() > 1) return Kept(Concat("'", g.Label(op), "' has further results"));
  const DataType operand = g.type(g.input(op, 0));
  if (g.type(result) != operand)
    return Kept(
        DescribeBoth("the type of the result already differs from that of the operand", g, result, g.input(op, 0)));
  if (const std::string need = OtherNeed(g, result); !need.empty()) return Kept(need);
  const DataType weights = MathModeOps().has(g.op(op)) ? g.type(g.input(op, 1)) : operand;
  if (!RunsAs(target, g, op, {operand, weights, g.type(y)})) {
    return Kept(Concat("no kernel for ", OpName(g.op(op)), " of ", DataTypeName(operand), " that writes ",
                       DataTypeName(g.type(y)), " ('", g.Label(op), "')"));
  }
  return Match({cast, op});
}

absl::Status ApplyResultCast(const Match& m, GraphEditor& edit) {
  const auto [cast, op] = m.nodes<2>();
  const DataType type = edit.graph().type(edit.graph().output(cast));
  ReplaceByFused(edit, op, cast, [&](NodeId fused) { edit.SetType(edit.graph().output(fused), type); });
  return absl::OkStatus();
}

}  // namespace halftone
