// SPDX-License-Identifier: Apache-2.0
#include "optimizer/work_counts.h"

#include <atomic>

namespace halftone {
namespace {

std::atomic<int64_t> imports = 0;
std::atomic<int64_t> optimizations = 0;
std::atomic<double> inference_seconds = 0;

}  // namespace

WorkCounts WorkOfThisProcess() {
  return {.imports = imports, .optimizations = optimizations, .inference_seconds = inference_seconds};
}
void CountImport() { ++imports; }
void CountOptimization() { ++optimizations; }

InferenceTimer::~InferenceTimer() {
  inference_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace halftone
