// Ops as people write them: "Relu6", "relu6", "AddV2", "*".
#ifndef HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_
#define HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_

#include <optional>
#include <string_view>

#include "ir/graph.h"

namespace halftone {

// Whether `name` is the node's op: as its file spelled it, or as the table of ops does (letters' case and underscores
// do not count). "*" is every op.
bool IsOpNamed(const Graph& graph, NodeId id, std::string_view name);

// The op of the table that the name means; a version behind it ("V2") does not count.
std::optional<OpKind> OpOfAnyName(std::string_view name);

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_
