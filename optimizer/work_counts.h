// SPDX-License-Identifier: Apache-2.0
// How often a process did the work that a job should do only once for each file and process that needs it, and how long
// it ran inference: the rest of a job is overhead.
#ifndef HALFTONE_OPTIMIZER_WORK_COUNTS_H_
#define HALFTONE_OPTIMIZER_WORK_COUNTS_H_

#include <chrono>
#include <cstdint>

namespace halftone {

struct WorkCounts {
  int64_t imports = 0;           // model files that became graphs
  int64_t optimizations = 0;     // runs of the optimize pipeline
  int64_t processes = 0;         // that were started for it
  double inference_seconds = 0;  // evaluation of samples, times of single nodes, warm-up and timed rounds

  WorkCounts& operator+=(const WorkCounts& other) {
    imports += other.imports;
    optimizations += other.optimizations;
    processes += other.processes;
    inference_seconds += other.inference_seconds;
    return *this;
  }
  WorkCounts operator-(const WorkCounts& other) const {
    return {imports - other.imports, optimizations - other.optimizations, processes - other.processes,
            inference_seconds - other.inference_seconds};
  }
  bool operator==(const WorkCounts&) const = default;
};

// Of this process, since it began. Thread-safe.
WorkCounts WorkOfThisProcess();

// Called where the work is done: LoadModel, FuseModel, PrepareToRun, EvaluateVariant, MeasureVariant. Thread-safe.
void CountImport();
void CountOptimization();

// Counts the time until it is destroyed as inference.
class InferenceTimer {
 public:
  InferenceTimer() = default;
  ~InferenceTimer();
  InferenceTimer(const InferenceTimer&) = delete;
  InferenceTimer& operator=(const InferenceTimer&) = delete;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The result of `inference()`, whose time is counted.
template <typename Inference>
auto CountInference(Inference inference) {
  const InferenceTimer timer;
  return inference();
}

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_WORK_COUNTS_H_
