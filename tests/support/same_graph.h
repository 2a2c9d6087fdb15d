// Whether two graphs are the same but for the names that one of them leaves out.
#ifndef HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_
#define HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_

#include <string>

#include "ir/graph.h"

namespace halftone {

// "" if `actual` has the nodes of `expected`, joined in the same way, else the first difference. Names count where
// `expected` has one, except those that begin with "new": these stand for a name that a pass made up. Floats of
// constants may differ in their last bits; a constant whose name begins with "any" stands for any content of its type
// and shape, too.
std::string DifferenceOf(const Graph& actual, const Graph& expected);

}  // namespace halftone

#endif  // HALFTONE_TESTS_SUPPORT_SAME_GRAPH_H_
