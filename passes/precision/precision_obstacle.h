// Whether one node may be lowered to a type of 16 bits at all, whatever a planner thinks of it.
#ifndef HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_
#define HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_

#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/target.h"

namespace halftone {

// Why a node stays f32: a rule of Decision::rule, and the fact with its values.
struct Obstacle {
  std::string rule;
  std::string reason;
};

// "bfloat16", "float16", "float32".
std::string_view LongTypeName(DataType type);

// The first of these that holds; nullopt if none does. It is opaque, or control flow; it stands on a device that is no
// CPU; its data is not f32; the target has no kernel of 16 bits for it; for kFloat16: a constant that it reads is
// beyond the largest float16. `type` is kBFloat16 or kFloat16. REQUIRES: the node is neither input nor constant
std::optional<Obstacle> FindObstacle(const Graph& graph, NodeId node, const Target& target, DataType type);

// A constant among the node's f32 data that float16 would make infinite. nullopt: there is none.
std::optional<Obstacle> FindOverflow(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PRECISION_OBSTACLE_H_
