// SPDX-License-Identifier: Apache-2.0
// Validates a library of functions before it is kept.
#ifndef HALFTONE_FORMATS_TENSORFLOW_FUNCTIONS_H_
#define HALFTONE_FORMATS_TENSORFLOW_FUNCTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

inline constexpr int kMaxFunctionDepth = 64;

// INVALID_ARGUMENT: a function without a name or with the name of another, an attribute or argument that is declared
// twice, a node without op, malformed attributes; calls that come back to a function or are nested deeper than
// kMaxFunctionDepth.
absl::Status CheckFunctions(const tf::FunctionDefLibrary& library);

// Removes those of these functions that no node calls, directly or through others.
void DropUncalled(const std::vector<std::string>& functions, tf::GraphDef& def);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_FUNCTIONS_H_
