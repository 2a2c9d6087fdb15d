// Which ops make shapes out of data, and from which of their inputs. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_SHAPE_OPERANDS_H_
#define HALFTONE_RUNTIME_SHAPE_OPERANDS_H_

#include "ir/graph.h"

namespace halftone {

// Whether the elements of this input decide the shape of the outputs: with them as constants, the shape is known. The
// operands of non_zero and the like, whose shapes depend on all of their data, do not count.
bool DecidesShape(const Node& node, int input);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_SHAPE_OPERANDS_H_
