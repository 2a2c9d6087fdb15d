// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/numbers.h"

#include <cmath>

namespace halftone {

namespace {

std::optional<WithNumber> With(const Graph& g, NodeId node, ValueId x, ValueId constant) {
  const std::optional<double> number = g.ConstantScalar(constant);
  if (!number.has_value()) return std::nullopt;
  if (!g.shape(x).has_rank() && g.ConstantTensor(constant)->rank() > 0) return std::nullopt;
  return WithNumber{node, x, *number};
}

}  // namespace

std::optional<WithNumber> NumberOperand(const Graph& g, ValueId y, OpKind op, bool swap) {
  if (!y.valid() || g.op(y) != op) return std::nullopt;
  const NodeId node = g.producer(y);
  const auto [a, b] = g.inputs<2>(node);
  if (!a.valid() || !b.valid() || g.node(node).inputs.size() != 2) return std::nullopt;
  const std::optional<WithNumber> second = With(g, node, a, b);
  return second.has_value() || !swap ? second : With(g, node, b, a);
}

std::optional<WithNumber> FactorOperand(const Graph& g, ValueId y) {
  if (auto product = NumberOperand(g, y, OpKind::kMul); product.has_value()) return product;
  auto quotient = NumberOperand(g, y, OpKind::kDiv, /*swap=*/false);
  if (quotient.has_value()) quotient->number = 1 / quotient->number;
  return quotient;
}

bool IsNumber(double number, double exact, DataType type) {
  const double tolerance = type == DataType::kBFloat16 ? 1.0 / 256 : type == DataType::kFloat16 ? 1.0 / 2048 : 1e-6;
  return std::abs(number - exact) <= tolerance * std::abs(exact);
}

}  // namespace halftone
