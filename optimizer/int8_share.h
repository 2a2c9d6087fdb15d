// SPDX-License-Identifier: Apache-2.0
// How much of a model computes in int8.
#ifndef HALFTONE_OPTIMIZER_INT8_SHARE_H_
#define HALFTONE_OPTIMIZER_INT8_SHARE_H_

#include <set>

#include "ir/graph.h"

namespace halftone {

// The share of multiply-adds of `nodes` among those of all contractions. NaN: shapes are not known, or there are none.
double ShareOfMultiplyAdds(const Graph& graph, const std::set<NodeId>& nodes);

// Of a graph that is ready to be planned: the share that its plan computes in int8, 0 to 1; 0 where there are none.
double Int8ShareOf(const Graph& prepared);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INT8_SHARE_H_
