// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostTimerShare = 1e-3;  // of a sample
constexpr int64_t kMostSamples = 20'000;  // of a round: the report keeps them all

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
int64_t NsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
}

int OpenMpThreads(int otherwise) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  return text != nullptr && absl::SimpleAtoi(text, &threads) ? threads : otherwise;
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
      last_seconds_ = seconds / static_cast<double>(batch);
      recent.push_back(last_seconds_);
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
  double inference_ns() const { return last_seconds_ * 1e9; }

 private:
  const RoundOptions& options_;
  int64_t inferences_ = 0;
  double last_seconds_ = 0;
  bool steady_ = false;
};

// How many inferences make one sample. Tries it out where one of them might be too short, for the warm-up's time of it
// has clock readings in it.
absl::StatusOr<int64_t> InferencesPerSample(const RoundOptions& options, double inference_ns,
                                            absl::FunctionRef<absl::Status()> inference) {
  const double shortest_ns =
      std::max(TimerNanoseconds() / kMostTimerShare, options.seconds * 1e9 / static_cast<double>(kMostSamples));
  constexpr double kMargin = 1.2;
  if (options.cold || inference_ns > kMargin * kMargin * shortest_ns) return 1;
  int64_t inferences = 1;
  while (true) {
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < inferences; ++i) HALFTONE_RETURN_IF_ERROR(inference());
    const double ns = static_cast<double>(NsBetween(start, Clock::now()));
    if (ns >= shortest_ns) return inferences;
    inferences = std::llround(std::ceil(static_cast<double>(inferences) * std::min(10.0, kMargin * shortest_ns / ns)));
  }
}

// Size of the largest cache, from the kernel, or what is larger than most.
size_t LargestCacheBytes() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(Concat("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
    size_t number = 0;
    char unit = 'K';
    if (file >> number >> unit) largest = std::max(largest, number << (unit == 'M' ? 20 : 10));
  }
  return largest > 0 ? largest : size_t{64} << 20;
}

// Drives everything else out of the caches by writing and reading twice their size.
class CacheSweeper {
 public:
  CacheSweeper() : lines_(2 * LargestCacheBytes() / sizeof(uint64_t)) {}
  void Sweep() {
    ++turn_;
    constexpr size_t kLine = 64 / sizeof(uint64_t);
    for (size_t i = 0; i < lines_.size(); i += kLine) lines_[i] += turn_;
    uint64_t sum = 0;
    for (size_t i = 0; i < lines_.size(); i += kLine) sum += lines_[i];
    sink_ = sum;
  }

 private:
  std::vector<uint64_t> lines_;
  uint64_t turn_ = 0;
  volatile uint64_t sink_ = 0;
};

// The measured part.
absl::Status Measure(const RoundOptions& options, absl::FunctionRef<absl::Status()> inference, CacheSweeper* sweeper,
                     TimedSamples& samples) {
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  do {
    if (sweeper != nullptr) {
      sweeper->Sweep();
      last = Clock::now();
    }
    for (int64_t i = 0; i < samples.inferences_per_sample; ++i) {
      const Clock::time_point one = options.slow_down > 0 ? Clock::now() : Clock::time_point();
      HALFTONE_RETURN_IF_ERROR(inference());
      if (options.slow_down > 0) {
        const int64_t until = std::llround(static_cast<double>(NsBetween(one, Clock::now())) * (1 + options.slow_down));
        while (NsBetween(one, Clock::now()) < until) {
        }
      }
    }
    const Clock::time_point now = Clock::now();
    samples.ns.push_back(NsBetween(last, now));
    last = now;
  } while (std::chrono::duration<double>(last - start).count() < options.seconds ||
           static_cast<int64_t>(samples.ns.size()) < options.min_samples);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> RoundEnvironment(int threads, const std::vector<int>& cores, const std::string& wait_policy) {
  std::vector<std::string> environment = {Concat("OMP_NUM_THREADS=", threads), "OMP_DYNAMIC=false"};
  if (threads > 1) {  // one thread is pinned by RunRound
    const std::string places =
        cores.empty() ? "cores" : Concat("{", absl::StrJoin(cores.begin(), cores.begin() + threads, "},{"), "}");
    environment.insert(environment.end(), {Concat("OMP_PLACES=", places), "OMP_PROC_BIND=close"});
  }
  if (threads > 1 || !wait_policy.empty()) {
    environment.push_back(Concat("OMP_WAIT_POLICY=", wait_policy.empty() ? "active" : wait_policy));
  }
  return environment;
}

absl::StatusOr<RoundResult> RunRound(const RoundOptions& options, absl::FunctionRef<absl::Status()> inference) {
  if (options.threads < 1 || options.seconds < 0) {
    return absl::InvalidArgumentError("a round needs at least one thread and a time that is not negative");
  }
  RoundResult result;
  RoundFacts& facts = result.facts;
  // With more threads OpenMP has pinned each to its place (RoundEnvironment), the initial one before main.
  const Pinning pinning(options.threads == 1 ? options.cores : std::vector<int>());
  std::optional<CacheSweeper> sweeper;
  if (options.cold) sweeper.emplace();

  WarmUp warm_up(options);
  HALFTONE_RETURN_IF_ERROR(warm_up.Run(inference));
  result.warmup_inferences = warm_up.inferences();
  result.warm = warm_up.steady();
  HALFTONE_ASSIGN_OR_RETURN(result.samples.inferences_per_sample,
                            InferencesPerSample(options, warm_up.inference_ns(), inference));
  HALFTONE_RETURN_IF_ERROR(options.before_measuring());

  FactsWatch watch;
  HALFTONE_RETURN_IF_ERROR(Measure(options, inference, sweeper.has_value() ? &*sweeper : nullptr, result.samples));
  watch.Finish(facts);
  const ThreadsNow threads = LookAtThreads(options.cores);
  facts.cores = options.cores_in_all > 0 ? options.cores_in_all : static_cast<int>(options.cores.size());
  facts.threads = OpenMpThreads(options.threads);
  facts.tasks = threads.count;
  facts.pinned = !options.cores.empty() && threads.on_cores;
  result.peak_resident_bytes = PeakResidentBytes();
  return result;
}

}  // namespace halftone
