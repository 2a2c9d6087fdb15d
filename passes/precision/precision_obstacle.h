// SPDX-License-Identifier: Apache-2.0
// Whether a node can be converted to a 16-bit type at all, independent of the planner.
#ifndef HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_
#define HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_

#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/target.h"

namespace halftone {

// Why a node stays f32: the value for Decision::rule, and the reason with its values.
struct Obstacle {
  std::string rule;
  std::string reason;
};

// "bfloat16", "float16", "float32".
std::string_view LongTypeName(DataType type);

// The first obstacle; nullopt if there is none. Obstacles: the node is opaque or control flow; its device is not a CPU;
// its data is not f32; the target has no 16-bit kernel for it; for kFloat16: a constant that it reads exceeds the
// largest float16. `type` is kBFloat16 or kFloat16. REQUIRES: the node is neither input nor constant
std::optional<Obstacle> FindObstacle(const Graph& graph, NodeId node, const Target& target, DataType type);

// A constant in the node's f32 data that would become infinite in float16; nullopt if there is none.
std::optional<Obstacle> FindOverflow(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_
