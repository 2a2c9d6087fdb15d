// SPDX-License-Identifier: Apache-2.0
// Shapes of the elements of TensorArrays.
#ifndef HALFTONE_PASSES_PREPARE_ARRAY_SHAPES_H_
#define HALFTONE_PASSES_PREPARE_ARRAY_SHAPES_H_

#include <map>

#include "ir/graph.h"

namespace halftone::lowering {

// The TensorArray whose handle this is, through whatever hands it on; kNoNode if that cannot be seen.
NodeId ArrayOf(const Graph& graph, ValueId handle);

// By TensorArray node: what is written, or else what its element_shape says. Loops are followed until their carried
// shapes stay the same; dimensions that change from one iteration to the next are unknown.
std::map<NodeId, Shape> ElementShapes(const Graph& graph);

}  // namespace halftone::lowering

#endif  // HALFTONE_PASSES_PREPARE_ARRAY_SHAPES_H_
