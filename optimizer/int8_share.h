// SPDX-License-Identifier: Apache-2.0
// How much of a model computes in int8.
#ifndef HALFTONE_OPTIMIZER_INT8_SHARE_H_
#define HALFTONE_OPTIMIZER_INT8_SHARE_H_

#include "ir/graph.h"

namespace halftone {

// Of a graph that is ready to be planned: the share of the MACs of its contractions that the plan computes in int8, 0 to 1;
// 0 where there are none, or where shapes are not known.
double Int8ShareOf(const Graph& prepared);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INT8_SHARE_H_
