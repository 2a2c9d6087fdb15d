// SPDX-License-Identifier: Apache-2.0
// One round of a benchmark in the present process: pin, warm up, measure. Rounds, their order and their comparison
// belong to the caller, who starts a fresh process for each with RoundEnvironment.
#ifndef HALFTONE_RUNTIME_MEASURE_BENCHMARK_H_
#define HALFTONE_RUNTIME_MEASURE_BENCHMARK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/measure/round_facts.h"
#include "runtime/measure/summary.h"

namespace halftone {

// NAME=VALUE pairs that must be set before the measuring process starts: OpenMP reads them at its first use. `cores`:
// one per thread, where they are pinned. `wait_policy`: "active" or "passive"; empty: active with more than one thread.
std::vector<std::string> RoundEnvironment(int threads, const std::vector<int>& cores = {},
                                          const std::string& wait_policy = "");

struct RoundOptions {
  int threads = 1;
  double seconds = 1.0;                // measured time, warm-up not included
  double warmup_limit_seconds = 2.0;   // warm-up ends when three batches in a row differ by < 2 %, or after this time
  int64_t warmup_min_inferences = 50;  // and at least so many inferences, unless the time is up
  int64_t min_samples = 1;             // measured even when the time is up
  std::vector<int> cores = {};         // to pin to, one per thread; empty: not pinned
  int cores_in_all = 0;                // that may be used; 0: as many as `cores`
  bool cold = false;                   // the caches are emptied before each inference, outside of its time
  double slow_down = 0;                // test only: each inference waits, busily, for this share of its time
  std::function<absl::Status()> before_measuring = [] { return absl::OkStatus(); };  // after the warm-up
};

struct RoundResult {
  TimedSamples samples;
  int64_t warmup_inferences = 0;
  bool warm = false;  // the warm-up became steady before its limit
  RoundFacts facts;
  // Of the whole process, where the caller knows them.
  double load_ms = 0;  // the file read, shapes inferred, the graph optimized
  double plan_ms = 0;  // kernels made, weights packed
  int64_t peak_resident_bytes = 0;
  int64_t arena_bytes = 0;
  std::string output_hash;  // of the outputs of the last inference
};

// Times `inference` again and again: everything from the user's tensors to the user's tensors belongs into it.
// Its first error ends the round. Several inferences make one sample where reading the clock would be more than 0.1 %
// of one, or where the samples would be very many.
absl::StatusOr<RoundResult> RunRound(const RoundOptions& options, absl::FunctionRef<absl::Status()> inference);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_BENCHMARK_H_
