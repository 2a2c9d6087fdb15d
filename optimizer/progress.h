// SPDX-License-Identifier: Apache-2.0
// How a job tells where it is.
#ifndef HALFTONE_OPTIMIZER_PROGRESS_H_
#define HALFTONE_OPTIMIZER_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace halftone {

// Stage, steps done, steps in all.
using ProgressCallback = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PROGRESS_H_
