// SPDX-License-Identifier: Apache-2.0
// What may have disturbed a round of a benchmark, and the limits beyond which it is noisy.
#ifndef HALFTONE_RUNTIME_MEASURE_ROUND_FACTS_H_
#define HALFTONE_RUNTIME_MEASURE_ROUND_FACTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone {

struct RoundFacts {
  double seconds = 0;                // wall time of the measured part
  int64_t involuntary_switches = 0;  // of all threads of this process, during the measured part
  double steal_share = 0;            // of the machine's CPU time, taken by the hypervisor
  int64_t cgroup_throttled = 0;      // increase of nr_throttled
  double load = 0;                   // running tasks, mean of the beginning and the end
  int cores = 0;                     // that the benchmark may use
  int threads = 0;                   // that OpenMP would use
  int tasks = 0;                     // threads that this process had
  bool pinned = false;               // each was held to its cores
  int64_t major_faults = 0;          // pages that came from disk or swap
  int64_t swapped_bytes = 0;         // of this process
  double spin_us = 0;                // a fixed piece of work: shows another clock frequency in another round
  double timer_ns = 0;               // what reading the clock takes
};

// Takes notes from its making to Finish, which fills all fields but cores, threads, tasks and pinned.
class FactsWatch {
 public:
  FactsWatch();
  ~FactsWatch();
  void Finish(RoundFacts& facts);

 private:
  struct Readings;
  static Readings Read();
  const std::unique_ptr<Readings> before_;
  const double spin_before_us_;
};

// What one reading of the steady clock takes, in nanoseconds: the mean over many.
double TimerNanoseconds();

// VmHWM, or 0: the most memory that this process ever had, in bytes.
int64_t PeakResidentBytes();

// A round beyond one of these is noisy. docs/design/benchmark_method.md has them.
struct NoiseLimits {
  double context_switches = 10;  // involuntary ones, per second and thread
  double steal = 0.01;           // share of the machine's CPU time
  double load = 1;               // running tasks per core
  double frequency = 0.05;       // SpinDrift over all rounds
};

// Why a process did not measure what it should (`threads` pinned threads), one sentence each; empty: it did.
std::vector<std::string> InvalidReasons(const RoundFacts& facts, int threads);

// What disturbed a round, one sentence each; empty: nothing beyond the limits.
std::vector<std::string> NoiseReasons(const RoundFacts& facts, int threads, const NoiseLimits& limits);

// The slowest spin over the fastest, minus 1: how much the clock frequency changed between rounds.
double SpinDrift(std::span<const double> spin_us);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_ROUND_FACTS_H_
