// SPDX-License-Identifier: Apache-2.0
#include "optimizer/work_counts.h"

#include <atomic>

namespace halftone {
namespace {

std::atomic<int64_t> imports = 0;
std::atomic<int64_t> optimizations = 0;

}  // namespace

WorkCounts WorkOfThisProcess() { return {.imports = imports, .optimizations = optimizations}; }
void CountImport() { ++imports; }
void CountOptimization() { ++optimizations; }

}  // namespace halftone
