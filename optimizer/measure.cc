#include "optimizer/measure.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/status.h"
#include "runtime/statistics.h"

namespace halftone {
namespace {

struct Samples {
  std::vector<double> all_ms;
  std::vector<double> round_medians_ms;
  RoundFacts worst;
};

// The worse of two rounds in everything that InvalidReasons looks at.
void KeepWorst(const RoundFacts& facts, bool is_first, RoundFacts& worst) {
  if (is_first) {
    worst = facts;
    return;
  }
  worst.involuntary_switches_per_second_per_thread =
      std::max(worst.involuntary_switches_per_second_per_thread, facts.involuntary_switches_per_second_per_thread);
  worst.steal_share = std::max(worst.steal_share, facts.steal_share);
  worst.cgroup_throttled = std::max(worst.cgroup_throttled, facts.cgroup_throttled);
  worst.load = std::max(worst.load, facts.load);
  worst.major_faults = std::max(worst.major_faults, facts.major_faults);
  worst.pinned = worst.pinned && facts.pinned;
  if (facts.threads != worst.threads) worst.threads = std::min(facts.threads, worst.threads);
}

// std::shuffle's result depends on the library; this one only on the seed.
void Shuffle(std::vector<size_t>& order, std::mt19937& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

BenchmarkResult Summarize(Samples samples, int threads) {
  BenchmarkResult result;
  result.median_ms = Median(samples.all_ms);
  result.min_ms = *std::min_element(samples.all_ms.begin(), samples.all_ms.end());
  result.p90_ms = Percentile(samples.all_ms, 0.90);
  result.p99_ms = Percentile(samples.all_ms, 0.99);
  result.samples = static_cast<int64_t>(samples.all_ms.size());
  result.round_medians_ms = std::move(samples.round_medians_ms);
  result.invalid_reasons = InvalidReasons(samples.worst, threads);
  return result;
}

}  // namespace

absl::StatusOr<std::vector<BenchmarkResult>> MeasureVariants(const std::vector<RunSpec>& variants, size_t baseline,
                                                             const BenchmarkOptions& options, ChildRunner& children,
                                                             const ProgressCallback& progress) {
  std::mt19937 random(static_cast<uint32_t>(options.seed));
  std::vector<Samples> samples(variants.size());
  std::vector<size_t> order(variants.size());
  std::iota(order.begin(), order.end(), 0);
  const int64_t total = static_cast<int64_t>(variants.size()) * options.rounds;
  int64_t done = 0;
  for (int round = 0; round < options.rounds; ++round) {
    Shuffle(order, random);
    for (const size_t v : order) {
      progress("measure", done++, total);
      HALFTONE_ASSIGN_OR_RETURN(const RoundResult result, children.Round({variants[v], options.round_seconds}));
      samples[v].all_ms.insert(samples[v].all_ms.end(), result.samples_ms.begin(), result.samples_ms.end());
      samples[v].round_medians_ms.push_back(Median(result.samples_ms));
      KeepWorst(result.facts, round == 0, samples[v].worst);
    }
  }
  progress("measure", total, total);

  std::vector<BenchmarkResult> results;
  for (Samples& s : samples) results.push_back(Summarize(std::move(s), options.threads));
  for (BenchmarkResult& result : results) {
    const std::optional<RatioEstimate> estimate =
        CompareRounds(results[baseline].round_medians_ms, result.round_medians_ms, static_cast<uint32_t>(options.seed));
    if (!estimate.has_value()) {
      result.invalid_reasons.push_back("fewer than 3 rounds: no interval of the speed-up");
      continue;
    }
    result.speedup = SpeedupResult{1 / estimate->ratio, 1 / estimate->interval.high, 1 / estimate->interval.low};
  }
  return results;
}

}  // namespace halftone
