// SPDX-License-Identifier: Apache-2.0
// The ops that Paddle's cpu_bfloat16_placement marks, in two versions, as data.
#ifndef HALFTONE_PASSES_PRECISION_PLACEMENT_OPS_H_
#define HALFTONE_PASSES_PRECISION_PLACEMENT_OPS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// kPaddle: the newest list (of the PIR pass). kPaddle2: the list of Paddle 2.x.
enum class PlacementLists : uint8_t { kPaddle, kPaddle2 };
std::string_view PlacementListsName(PlacementLists lists);  // "paddle", "paddle-2.x"
std::optional<PlacementLists> PlacementListsFromName(std::string_view name);

// One op of a list, and the canonical nodes that correspond to it.
struct PlacementRow {
  std::string_view op;  // its name in Paddle
  uint8_t lists;        // bits: 1 << PlacementLists
  bool (*means)(const Graph& graph, NodeId node);
  std::string_view reason;  // why it may be bfloat16
  bool f32_output = false;  // Paddle lets the op write fp32 in place of a reorder after it
  bool IsOn(PlacementLists which) const { return (lists & (1 << static_cast<int>(which))) != 0; }
};
std::span<const PlacementRow> PlacementRows();

// The op names of the list, in its order, without duplicates.
std::vector<std::string> PlacementOpNames(PlacementLists lists);

// The row of a list that corresponds to this node; nullptr if there is none. `only`: restricts the list to these ops,
// unless it is empty.
const PlacementRow* FindPlacementRow(const Graph& graph, NodeId node, PlacementLists lists,
                                     std::span<const std::string> only);

// Whether the node is a fused chain that is Paddle's `scale` with the bias added after the scale; Paddle has no
// bfloat16 kernel for it.
bool IsScaleWithBiasAfter(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PLACEMENT_OPS_H_
