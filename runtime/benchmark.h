// One round of a benchmark in the present process: pin, warm up, measure. Rounds, their order and their comparison
// belong to the caller, who starts a fresh process for each with RoundEnvironment.
#ifndef HALFTONE_RUNTIME_BENCHMARK_H_
#define HALFTONE_RUNTIME_BENCHMARK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halftone {

// NAME=VALUE pairs that must be set before the measuring process starts: OpenMP reads them at its first use.
std::vector<std::string> RoundEnvironment(int threads);

struct RoundOptions {
  int threads = 1;
  double seconds = 1.0;                // measured time, warm-up not included
  double warmup_limit_seconds = 2.0;   // warm-up ends when three batches in a row differ by < 2 %, or after this time
  int64_t warmup_min_inferences = 50;  // and at least so many inferences, unless the time is up
  int64_t min_samples = 1;             // measured even when the time is up
  bool pin = true;                     // to the first `threads` cores that this process may use
};

// What may have spoilt a round.
struct RoundFacts {
  double seconds = 0;                // wall time of the measured part
  int64_t involuntary_switches = 0;  // of all threads of this process, during the measured part
  double involuntary_switches_per_second_per_thread = 0;
  double steal_share = 0;        // of the machine's CPU time
  int64_t cgroup_throttled = 0;  // increase of nr_throttled
  double load = 0;               // tasks that wanted to run, mean of the beginning and the end
  int cores = 0;                 // that this process may use
  int threads = 0;               // that OpenMP would use, or the number pinned to
  bool pinned = false;
  int64_t major_faults = 0;  // pages that came from disk or swap
  double spin_us = 0;        // a fixed piece of work: shows a changed frequency between rounds
};

struct RoundResult {
  std::vector<double> samples_ms;
  int64_t warmup_inferences = 0;
  bool warm = false;  // the warm-up became steady before its limit
  RoundFacts facts;
};

// Times `inference` again and again: everything from the user's tensors to the user's tensors belongs into it.
// Its first error ends the round.
absl::StatusOr<RoundResult> RunRound(const RoundOptions& options, absl::FunctionRef<absl::Status()> inference);

// Why a round with these facts must not be believed, one sentence each; empty: valid.
std::vector<std::string> InvalidReasons(const RoundFacts& facts, int threads);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_BENCHMARK_H_
