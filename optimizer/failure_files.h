// SPDX-License-Identifier: Apache-2.0
// What a failed job leaves to see it again.
#ifndef HALFTONE_OPTIMIZER_FAILURE_FILES_H_
#define HALFTONE_OPTIMIZER_FAILURE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace halftone {

struct FailureFile {
  std::string name, text;
};

// "failure.graph" of a pass that --verify-passes caught: the graph as the pass found it, pipeline, pass, seed and plan,
// for graph_opt --reproduce (passes/core/reproducer.h). Empty for other errors.
std::vector<FailureFile> FilesOfFailure(const absl::Status& failure);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_FAILURE_FILES_H_
