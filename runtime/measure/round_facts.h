// What may have spoilt a round of a benchmark, and the limits beyond which it is not believed.
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
  double load = 0;                   // tasks that wanted to run, mean of the beginning and the end
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

// Why one process's round must not be believed, one sentence each; empty: it may be. `threads`: those that were asked
// for.
std::vector<std::string> InvalidReasons(const RoundFacts& facts, int threads);

// The slowest spin over the fastest, minus 1. Above kMaxSpinDrift the clock frequency changed between rounds.
double SpinDrift(std::span<const double> spin_us);
inline constexpr double kMaxSpinDrift = 0.05;

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_ROUND_FACTS_H_
