// SPDX-License-Identifier: Apache-2.0
// How many operators a GraphDef holds.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NODE_COUNT_H_
#define HALFTONE_FORMATS_TENSORFLOW_NODE_COUNT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace halftone {

// Nodes, those of functions aside, that are no Const, no Placeholder and no NoOp. INVALID_ARGUMENT: no GraphDef.
absl::StatusOr<int64_t> CountGraphDefNodes(std::string_view bytes, bool is_text);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_NODE_COUNT_H_
