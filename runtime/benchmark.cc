#include "runtime/benchmark.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/statistics.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string ReadSmallFile(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<int> AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

bool PinTo(const std::vector<int>& cores, int count) {
  if (static_cast<int>(cores.size()) < count) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < count; ++i) CPU_SET(cores[i], &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;  // of this thread; threads that it starts inherit it
}

// Puts the affinity back that the process had.
class Pinning {
 public:
  Pinning(const std::vector<int>& cores, int count) : had_(cores), pinned_(PinTo(cores, count)) {}
  ~Pinning() {
    if (pinned_) PinTo(had_, static_cast<int>(had_.size()));
  }
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;
  bool pinned() const { return pinned_; }

 private:
  std::vector<int> had_;
  bool pinned_;
};

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

// Tasks that run or wait for a core at this moment, this one included. (The load average would still hold the minute before.)
int ReadRunning() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (int running = 0; absl::StartsWith(line, "procs_running ") && absl::SimpleAtoi(line.substr(14), &running)) return running;
  }
  return 1;
}

// "nr_throttled" of this process's cgroup, version 2 or 1; 0 where there is none.
int64_t ReadThrottled() {
  std::vector<std::string> candidates;
  std::istringstream lines(ReadSmallFile("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.rfind(':');
    if (colon == std::string::npos) continue;
    const std::string group = line.substr(colon + 1);
    if (absl::StartsWith(line, "0::")) candidates.push_back(Concat("/sys/fs/cgroup", group, "/cpu.stat"));
    if (absl::StrContains(line, "cpu")) candidates.push_back(Concat("/sys/fs/cgroup/cpu", group, "/cpu.stat"));
  }
  candidates.push_back("/sys/fs/cgroup/cpu.stat");
  for (const std::string& path : candidates) {
    std::ifstream file(path);
    std::string name;
    for (int64_t value = 0; file >> name >> value;) {
      if (name == "nr_throttled") return value;
    }
  }
  return 0;
}

rusage Usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// A fixed chain of dependent multiplications, in microseconds: the smallest of a few, as interruptions only add.
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
    const double us = SecondsSince(start) * 1e6;
    if (repeat == 0 || us < best) best = us;
  }
  return best;
}

// Batches of inferences until three in a row agree.
class WarmUp {
 public:
  explicit WarmUp(const RoundOptions& options) : options_(options) {}

  absl::Status Run(absl::FunctionRef<absl::Status()> inference) {
    const Clock::time_point start = Clock::now();
    int64_t batch = 1;
    std::vector<double> recent;  // seconds an inference, of the last batches
    while (true) {
      const Clock::time_point batch_start = Clock::now();
      for (int64_t i = 0; i < batch; ++i) {
        HALFTONE_RETURN_IF_ERROR(inference());
        ++inferences_;
        if (i + 1 < batch && SecondsSince(start) > options_.warmup_limit_seconds) return absl::OkStatus();
      }
      const double seconds = SecondsSince(batch_start);
      recent.push_back(seconds / static_cast<double>(batch));
      if (recent.size() > 3) recent.erase(recent.begin());
      // A batch shorter than 10 ms is mostly noise.
      if (seconds < 0.01) {
        batch *= 2;
        recent.clear();
      }
      steady_ = recent.size() == 3 && *std::max_element(recent.begin(), recent.end()) <
                                          1.02 * *std::min_element(recent.begin(), recent.end());
      if (steady_ && inferences_ >= options_.warmup_min_inferences) return absl::OkStatus();
      if (SecondsSince(start) > options_.warmup_limit_seconds) return absl::OkStatus();
    }
  }

  int64_t inferences() const { return inferences_; }
  bool steady() const { return steady_; }

 private:
  const RoundOptions& options_;
  int64_t inferences_ = 0;
  bool steady_ = false;
};

// With OMP_PROC_BIND libgomp itself pins each thread to a place, the initial one as soon as the program starts: its
// affinity is one core then, and must not be given to others.
bool OpenMpPins() {
  const char* text = std::getenv("OMP_PROC_BIND");
  return text != nullptr && std::string(text) != "false";
}

int OpenMpThreads(int otherwise) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  return text != nullptr && absl::SimpleAtoi(text, &threads) ? threads : otherwise;
}

}  // namespace

std::vector<std::string> RoundEnvironment(int threads) {
  std::vector<std::string> environment = {Concat("OMP_NUM_THREADS=", threads), "OMP_DYNAMIC=false"};
  if (threads > 1) {  // one thread is pinned by RunRound
    environment.insert(environment.end(), {"OMP_PLACES=cores", "OMP_PROC_BIND=close", "OMP_WAIT_POLICY=active"});
  }
  return environment;
}

absl::StatusOr<RoundResult> RunRound(const RoundOptions& options, absl::FunctionRef<absl::Status()> inference) {
  if (options.threads < 1 || options.seconds < 0) {
    return absl::InvalidArgumentError("a round needs at least one thread and a time that is not negative");
  }
  RoundResult result;
  RoundFacts& facts = result.facts;
  const std::vector<int> cores = AllowedCores();
  const bool already_pinned = options.pin && OpenMpPins();
  facts.cores = static_cast<int>(already_pinned ? sysconf(_SC_NPROCESSORS_ONLN) : cores.size());
  facts.threads = OpenMpThreads(options.threads);

  std::optional<Pinning> pinning;
  if (options.pin && !already_pinned) pinning.emplace(cores, options.threads);
  facts.pinned = already_pinned || (pinning.has_value() && pinning->pinned());

  WarmUp warm_up(options);
  HALFTONE_RETURN_IF_ERROR(warm_up.Run(inference));
  result.warmup_inferences = warm_up.inferences();
  result.warm = warm_up.steady();

  facts.spin_us = SpinMicroseconds();
  const int running_before = ReadRunning();
  const MachineTime time_before = ReadMachineTime();
  const int64_t throttled_before = ReadThrottled();
  const rusage usage_before = Usage();
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  do {
    HALFTONE_RETURN_IF_ERROR(inference());
    const Clock::time_point now = Clock::now();
    result.samples_ms.push_back(std::chrono::duration<double, std::milli>(now - last).count());
    last = now;
  } while (std::chrono::duration<double>(last - start).count() < options.seconds ||
           static_cast<int64_t>(result.samples_ms.size()) < options.min_samples);
  facts.seconds = std::chrono::duration<double>(last - start).count();
  const rusage usage_after = Usage();
  facts.load = (running_before + ReadRunning()) / 2.0;
  const MachineTime time_after = ReadMachineTime();

  facts.involuntary_switches = usage_after.ru_nivcsw - usage_before.ru_nivcsw;
  facts.involuntary_switches_per_second_per_thread =
      static_cast<double>(facts.involuntary_switches) / std::max(facts.seconds, 1e-9) / options.threads;
  facts.major_faults = usage_after.ru_majflt - usage_before.ru_majflt;
  facts.cgroup_throttled = ReadThrottled() - throttled_before;
  const double total = time_after.total - time_before.total;
  if (total > 0) facts.steal_share = (time_after.steal - time_before.steal) / total;
  return result;
}

std::vector<std::string> InvalidReasons(const RoundFacts& facts, int threads) {
  std::vector<std::string> reasons;
  const auto add = [&](bool bad, std::string reason) {
    if (bad) reasons.push_back(std::move(reason));
  };
  add(facts.cgroup_throttled > 0,
      Concat("the container's CPU quota stopped the process ", facts.cgroup_throttled, " times"));
  add(facts.steal_share > 0.01,
      absl::StrFormat("the hypervisor took %.1f %% of the CPU time (limit 1 %%)", facts.steal_share * 100));
  add(facts.involuntary_switches_per_second_per_thread > 10,
      absl::StrFormat("%.0f involuntary context switches a second and thread (limit 10)",
                      facts.involuntary_switches_per_second_per_thread));
  add(facts.load > facts.cores, absl::StrFormat("%.1f tasks wanted to run on %d cores", facts.load, facts.cores));
  add(facts.threads != threads, Concat("OpenMP uses ", facts.threads, " threads, not ", threads));
  add(threads > facts.cores, Concat(threads, " threads on ", facts.cores, " cores"));
  add(!facts.pinned, "threads could not be pinned to cores");
  add(facts.major_faults > 0, Concat(facts.major_faults, " pages came from disk while measuring"));
  return reasons;
}

}  // namespace halftone
