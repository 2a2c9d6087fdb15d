// SPDX-License-Identifier: Apache-2.0
// Views: ops that change the shape of a tensor and keep the order of its elements.
#ifndef HALFTONE_PASSES_FUSION_VIEWS_H_
#define HALFTONE_PASSES_FUSION_VIEWS_H_

#include <cstdint>
#include <optional>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// reshape, flatten, squeeze or unsqueeze.
bool IsView(const Graph& g, NodeId id);

// The stride of dimension `axis`: the product of the dimensions after it; nullopt if one is unknown.
std::optional<int64_t> ElementsAfter(const Shape& shape, int axis);

// The dimension of `view`'s result that corresponds to dimension `axis` of its input, of size `size`: the same size and
// the same stride. nullopt if there is none or the shapes are unknown.
std::optional<int> AxisAfterView(const Graph& g, NodeId view, int axis, int64_t size);

// Replaces `last`, the elementwise node after `view` that has been moved before it, with a copy of `view`.
void PutViewLast(GraphEditor& edit, NodeId view, NodeId last);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_VIEWS_H_
