// Views: ops that give the elements of a tensor another shape and leave their order alone.
#ifndef HALFTONE_PASSES_FUSION_VIEWS_H_
#define HALFTONE_PASSES_FUSION_VIEWS_H_

#include <cstdint>
#include <optional>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// reshape, flatten, squeeze or unsqueeze.
bool IsView(const Graph& g, NodeId id);

// Elements that lie between two neighbours of dimension `axis`: the product of the dimensions behind it; nullopt if one
// is not known.
std::optional<int64_t> ElementsAfter(const Shape& shape, int axis);

// The dimension of `view`'s result that runs over the same elements as dimension `axis` of its input, which has `size`
// parts: as many parts, as far apart. nullopt if there is none or it cannot be known.
std::optional<int> AxisAfterView(const Graph& g, NodeId view, int axis, int64_t size);

// A copy of `view` in the place of `last`, the elementwise node behind it whose work now happens in front of the view.
void PutViewLast(GraphEditor& edit, NodeId view, NodeId last);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_VIEWS_H_
