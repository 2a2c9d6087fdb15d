// SPDX-License-Identifier: Apache-2.0
// Op names as users write them: "Relu6", "relu6", "AddV2", "*".
#ifndef HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_
#define HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_

#include <optional>
#include <string_view>

#include "ir/graph.h"

namespace halftone {

// Whether `name` is the node's op: its spelling in the file, or its name in the op table (ignoring case and
// underscores). "*" is every op.
bool IsOpNamed(const Graph& graph, NodeId id, std::string_view name);

// The op of the op table with this name; a version suffix ("V2") is ignored.
std::optional<OpKind> OpOfAnyName(std::string_view name);

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_OP_NAMES_H_
