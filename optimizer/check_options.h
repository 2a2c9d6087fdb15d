// SPDX-License-Identifier: Apache-2.0
// Before the first step: whether the options make sense.
#ifndef HALFTONE_OPTIMIZER_CHECK_OPTIONS_H_
#define HALFTONE_OPTIMIZER_CHECK_OPTIONS_H_

#include "absl/status/status.h"
#include "optimizer/options.h"

namespace halftone {

// What is wrong with the options themselves, before anything is read: a dialect that the model's format does not have,
// a pass that does not exist. INVALID_ARGUMENT names the option and what would be right.
absl::Status CheckOptions(const OptimizeOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_CHECK_OPTIONS_H_
