// SPDX-License-Identifier: Apache-2.0
#include "optimizer/failure_files.h"

#include <utility>

#include "passes/core/reproducer.h"

namespace halftone {

std::vector<FailureFile> FilesOfFailure(const absl::Status& failure) {
  std::vector<FailureFile> files;
  if (std::string text = ReproducerOf(failure); !text.empty()) files.push_back({"failure.graph", std::move(text)});
  return files;
}

}  // namespace halftone
