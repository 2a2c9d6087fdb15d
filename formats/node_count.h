// How many operators a model's file holds, whatever its format.
#ifndef HALFTONE_FORMATS_NODE_COUNT_H_
#define HALFTONE_FORMATS_NODE_COUNT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "formats/formats.h"

namespace halftone {

// Operators of the main graph as the file has them, constants and inputs aside. INVALID_ARGUMENT: no model of this
// format.
absl::StatusOr<int64_t> CountNodesOfFile(std::string_view bytes, ModelFormat format);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_NODE_COUNT_H_
