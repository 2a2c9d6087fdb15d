// SPDX-License-Identifier: Apache-2.0
// Snappy's block format, as TensorFlow's indexes of variables have it (github.com/google/snappy, format_description.txt).
#ifndef HALFTONE_FORMATS_TENSORFLOW_SNAPPY_H_
#define HALFTONE_FORMATS_TENSORFLOW_SNAPPY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace halftone::graphdef {

// INVALID_ARGUMENT: damaged, or more than `most_bytes` when it is unpacked.
absl::StatusOr<std::string> UnpackSnappy(std::string_view packed, size_t most_bytes);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_SNAPPY_H_
