// SPDX-License-Identifier: Apache-2.0
// The table of reference functions: one row per op.
#ifndef HALFTONE_IR_REFERENCE_FUNCTION_TABLE_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_FUNCTION_TABLE_INTERNAL_H_

#include <cstdint>

#include "ir/ops.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {

// The types that a function supports.
enum class Domain : uint8_t {
  kNumbers,  // floats, integers, bools
  kBytes,    // every type of fixed size: it only moves elements (its small inputs are numbers anyway)
};

struct FunctionRow {
  OpKind op;
  Function function;  // nullptr: this op cannot be computed
  Domain domain;
};

const FunctionRow& RowOf(OpKind op);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_FUNCTION_TABLE_INTERNAL_H_
