// SPDX-License-Identifier: Apache-2.0
// Compares two graphs, ignoring names that the expected one leaves out.
#ifndef HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_
#define HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_

#include <string>

#include "ir/graph.h"

namespace halftone {

// "" if `actual` has the nodes of `expected`, connected in the same way, else the first difference. Names are compared
// only if `expected` has one, and not if it begins with "new", which stands for a name that a pass generates. Float
// constants may differ in their last bits. A constant whose name begins with "any" stands for any values of its type
// and shape.
std::string DifferenceOf(const Graph& actual, const Graph& expected);

}  // namespace halftone

#endif  // HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_
