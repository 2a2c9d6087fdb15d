// SPDX-License-Identifier: Apache-2.0
// The list of the export passes that split what a file cannot hold.
#ifndef HALFTONE_PASSES_EXPORT_SPLITS_H_
#define HALFTONE_PASSES_EXPORT_SPLITS_H_

#include <memory>
#include <vector>

#include "ir/file_dialect.h"
#include "passes/core/pass.h"

namespace halftone {

// Those for what the dialect lacks, in the order in which they run. `file` must outlive them.
std::vector<std::unique_ptr<Pass>> SplitsFor(const FileDialect& file);

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLITS_H_
