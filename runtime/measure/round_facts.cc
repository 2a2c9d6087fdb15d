// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/round_facts.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"
#include "runtime/measure/machine_facts.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

// First line of /proc/stat: user nice system idle iowait irq softirq steal (the guests' time is in user already).
struct MachineTime {
  double total = 0;
  double steal = 0;
};

MachineTime ReadMachineTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  MachineTime time;
  constexpr int kSteal = 7;
  for (int i = 0; i <= kSteal; ++i) {
    double value = 0;
    if (!(file >> value)) break;
    time.total += value;
    if (i == kSteal) time.steal = value;
  }
  return time;
}

// The number after the first line of `path` that begins with `name`; `otherwise` where there is none.
int64_t NumberAfter(const std::string& path, const std::string& name, int64_t otherwise) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, name)) continue;
    std::istringstream rest(line.substr(name.size()));
    if (int64_t value = 0; rest >> value) return value;
  }
  return otherwise;
}

// Tasks that run or wait for a core now, this one included. (The load average would still hold the minute
// before.)
int64_t ReadRunning() { return NumberAfter("/proc/stat", "procs_running ", 1); }

// How often the control group's CPU quota stopped its processes; 0 where there is none.
int64_t ReadThrottled() { return NumberAfter(CpuControlGroup() + "/cpu.stat", "nr_throttled ", 0); }

int64_t StatusKiloBytes(const std::string& name) { return 1024 * NumberAfter("/proc/self/status", name, 0); }

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// A fixed chain of dependent multiplications: the smallest of a few, as interruptions only add.
double SpinMicroseconds() {
  constexpr int kRepeats = 5;
  constexpr int kSteps = 200000;
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Clock::time_point start = Clock::now();
    volatile uint64_t sink = 0;
    uint64_t x = 88172645463325252ull + repeat;
    for (int i = 0; i < kSteps; ++i) x = x * 6364136223846793005ull + 1442695040888963407ull;
    sink = x;
    (void)sink;
    const double us = MicrosecondsSince(start);
    if (repeat == 0 || us < best) best = us;
  }
  return best;
}

}  // namespace

struct FactsWatch::Readings {
  int64_t running = 0;
  MachineTime machine;
  int64_t throttled = 0;
  rusage usage{};
  Clock::time_point time;
};

FactsWatch::Readings FactsWatch::Read() {
  Readings now;
  now.running = ReadRunning();
  now.machine = ReadMachineTime();
  now.throttled = ReadThrottled();
  getrusage(RUSAGE_SELF, &now.usage);
  now.time = Clock::now();
  return now;
}

FactsWatch::FactsWatch() : before_(std::make_unique<Readings>()), spin_before_us_(SpinMicroseconds()) {
  *before_ = Read();
}

FactsWatch::~FactsWatch() = default;

void FactsWatch::Finish(RoundFacts& facts) {
  const Clock::time_point end = Clock::now();
  const Readings after = Read();
  facts.seconds = std::chrono::duration<double>(end - before_->time).count();
  facts.involuntary_switches = after.usage.ru_nivcsw - before_->usage.ru_nivcsw;
  facts.major_faults = after.usage.ru_majflt - before_->usage.ru_majflt;
  facts.cgroup_throttled = after.throttled - before_->throttled;
  facts.load = static_cast<double>(before_->running + after.running) / 2;
  const double total = after.machine.total - before_->machine.total;
  if (total > 0) facts.steal_share = (after.machine.steal - before_->machine.steal) / total;
  facts.swapped_bytes = StatusKiloBytes("VmSwap:");
  facts.spin_us = (spin_before_us_ + SpinMicroseconds()) / 2;
  facts.timer_ns = TimerNanoseconds();
}

double TimerNanoseconds() {
  constexpr int kReadings = 2000;
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  for (int i = 0; i < kReadings; ++i) last = Clock::now();
  return std::chrono::duration<double, std::nano>(last - start).count() / kReadings;
}

int64_t PeakResidentBytes() { return StatusKiloBytes("VmHWM:"); }

std::vector<std::string> InvalidReasons(const RoundFacts& facts, int threads) {
  std::vector<std::string> reasons;
  const auto add = [&](bool bad, std::string reason) {
    if (bad) reasons.push_back(std::move(reason));
  };
  add(facts.threads != threads, Concat("OpenMP uses ", facts.threads, " threads, not ", threads));
  add(facts.tasks > threads, Concat("the process had ", facts.tasks, " threads, not ", threads));
  add(threads > facts.cores, Concat(threads, " threads on ", facts.cores, " cores"));
  add(!facts.pinned, "threads could not be pinned to cores");
  return reasons;
}

std::vector<std::string> NoiseReasons(const RoundFacts& facts, int threads, const NoiseLimits& limits) {
  std::vector<std::string> reasons;
  const auto add = [&](bool bad, std::string reason) {
    if (bad) reasons.push_back(std::move(reason));
  };
  const double switches = static_cast<double>(facts.involuntary_switches) / std::max(facts.seconds, 1e-9) / threads;
  add(facts.cgroup_throttled > 0,
      Concat("the container's CPU quota stopped the process ", facts.cgroup_throttled, " times"));
  add(facts.steal_share > limits.steal, absl::StrFormat("the hypervisor took %.1f %% of the CPU time (limit %g %%)",
                                                        facts.steal_share * 100, limits.steal * 100));
  add(switches > limits.context_switches,
      absl::StrFormat("%.0f involuntary context switches per second and thread (limit %g)", switches,
                      limits.context_switches));
  add(facts.load > limits.load * facts.cores,
      absl::StrFormat("load: %.1f running tasks on %d cores", facts.load, facts.cores));
  add(facts.major_faults > 0, Concat(facts.major_faults, " pages came from disk while measuring"));
  add(facts.swapped_bytes > 0, Concat(facts.swapped_bytes, " bytes of the process were swapped out"));
  return reasons;
}

double SpinDrift(std::span<const double> spin_us) {
  if (spin_us.empty()) return 0;
  const auto [fastest, slowest] = std::minmax_element(spin_us.begin(), spin_us.end());
  return *fastest > 0 ? *slowest / *fastest - 1 : 0;
}

}  // namespace halftone
