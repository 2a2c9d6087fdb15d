// SPDX-License-Identifier: Apache-2.0
// Binary ops with one constant number, for the rules that fold numbers.
#ifndef HALFTONE_PASSES_FUSION_NUMBERS_H_
#define HALFTONE_PASSES_FUSION_NUMBERS_H_

#include <optional>

#include "ir/graph.h"

namespace halftone {

// A binary op with a constant number: its other operand and the number.
struct WithNumber {
  NodeId node;
  ValueId x;
  double number = 0;
};

// The operands if y = op(x, number). `swap`: the number may be the first operand. A constant of one element may have
// dimensions that broadcast x to y: callers compare the shapes. nullopt if the rank of x is unknown, because shapes
// cannot be compared then.
std::optional<WithNumber> NumberOperand(const Graph& g, ValueId y, OpKind op, bool swap = true);

// The operands if y is x * number or x / (1 / number).
std::optional<WithNumber> FactorOperand(const Graph& g, ValueId y);

// Whether a constant that was rounded to `type` may represent `exact`.
bool IsNumber(double number, double exact, DataType type);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_NUMBERS_H_
