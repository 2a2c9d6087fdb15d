// SPDX-License-Identifier: Apache-2.0
// Validates a ModelProto before any other code reads it. Files are not trusted; libonnx's checker is no security check.
#ifndef HALFTONE_FORMATS_ONNX_VALIDATOR_H_
#define HALFTONE_FORMATS_ONNX_VALIDATOR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

inline constexpr int kMinOpset = 7;
inline constexpr int kOldestOpset = 6;  // of files; becomes 7 at import
inline constexpr int kMaxOpset = 22;
inline constexpr int kMinIrVersion = 3;
inline constexpr int kMaxIrVersion = 13;
inline constexpr int kMaxRank = 12;  // oneDNN's
inline constexpr int kMaxSubgraphDepth = 24;
inline constexpr int kMaxFunctionDepth = 64;
inline constexpr int64_t kMaxNodes = 1'000'000;  // subgraphs and functions included
inline constexpr int64_t kMaxTensors = 1'000'000;
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // of one tensor
inline constexpr size_t kMaxNameBytes = 4096;
inline constexpr size_t kMaxStringBytes = 16 << 20;  // of a string attribute

// Versions in range; names valid UTF-8 without control characters; each tensor holds exactly the bytes that its type
// and dimensions say and keeps none in other files; each attribute has one kind; no value made twice in one graph;
// functions not recursive; all counts and depths within the limits above. Errors: INVALID_ARGUMENT that names the node,
// tensor or field and says what would be right.
absl::Status ValidateModel(const onnx::ModelProto& model);

// One tensor, by the same rules. `where` names its owner in messages.
absl::Status ValidateTensor(const onnx::TensorProto& tensor, std::string_view where);

// Valid UTF-8 without control characters, at most kMaxNameBytes. May be empty.
absl::Status ValidateName(std::string_view name, std::string_view what);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VALIDATOR_H_
