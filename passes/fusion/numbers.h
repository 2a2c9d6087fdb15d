// Operations with one constant number, as rules that fold numbers look for them.
#ifndef HALFTONE_PASSES_FUSION_NUMBERS_H_
#define HALFTONE_PASSES_FUSION_NUMBERS_H_

#include <optional>

#include "ir/graph.h"

namespace halftone {

// The other operand and the number of a node of two operands one of which is a constant number.
struct WithNumber {
  NodeId node;
  ValueId x;
  double number = 0;
};

// If `op` makes y of them. `swap`: the constant may be the first. A constant of one element may have dimensions, and y
// then more than x: callers compare the shapes. Not found where x's rank is not known, so that nobody could.
std::optional<WithNumber> NumberOperand(const Graph& g, ValueId y, OpKind op, bool swap = true);

// If y is x * number or x / (1 / number).
std::optional<WithNumber> FactorOperand(const Graph& g, ValueId y);

// Whether a constant that was rounded to `type` may have been `exact`.
bool IsNumber(double number, double exact, DataType type);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_NUMBERS_H_
