// SPDX-License-Identifier: Apache-2.0
// How often a process did the work that a job should do only once for each file and process that needs it.
#ifndef HALFTONE_OPTIMIZER_WORK_COUNTS_H_
#define HALFTONE_OPTIMIZER_WORK_COUNTS_H_

#include <cstdint>

namespace halftone {

struct WorkCounts {
  int64_t imports = 0;        // model files that became graphs
  int64_t optimizations = 0;  // runs of the optimize pipeline
  int64_t processes = 0;      // that were started for it

  WorkCounts& operator+=(const WorkCounts& other) {
    imports += other.imports;
    optimizations += other.optimizations;
    processes += other.processes;
    return *this;
  }
  WorkCounts operator-(const WorkCounts& other) const {
    return {imports - other.imports, optimizations - other.optimizations, processes - other.processes};
  }
  bool operator==(const WorkCounts&) const = default;
};

// Of this process, since it began. Thread-safe.
WorkCounts WorkOfThisProcess();

// Called where the work is done: LoadModel, FuseModel, PrepareToRun. Thread-safe.
void CountImport();
void CountOptimization();

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_WORK_COUNTS_H_
