// SPDX-License-Identifier: Apache-2.0
#include "optimizer/measure.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

constexpr char kSelfCheckName[] = "again";

// Tests slow one of two equal things down by so many percent and see whether the benchmark notices.
double SlowDownForTests() {
  const char* text = std::getenv("HALFTONE_TEST_SLOW_SELF_CHECK");
  double percent = 0;
  return text != nullptr && absl::SimpleAtod(text, &percent) && percent > 0 ? percent / 100 : 0;
}

// std::shuffle's result depends on the library; this one only on the seed.
void Shuffle(std::vector<size_t>& order, std::mt19937& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

void Append(const std::vector<std::string>& from, std::vector<std::string>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// The worst of all processes, fact by fact.
RoundFacts WorstOf(const std::vector<RoundData>& rounds) {
  RoundFacts worst = rounds[0][0].facts;
  const auto rate = [](const RoundFacts& f) {
    return static_cast<double>(f.involuntary_switches) / std::max(f.seconds, 1e-9);
  };
  for (const RoundData& round : rounds) {
    for (const RoundResult& process : round) {
      const RoundFacts& facts = process.facts;
      if (rate(facts) > rate(worst)) {
        worst.involuntary_switches = facts.involuntary_switches;
        worst.seconds = facts.seconds;
      }
      worst.steal_share = std::max(worst.steal_share, facts.steal_share);
      worst.cgroup_throttled = std::max(worst.cgroup_throttled, facts.cgroup_throttled);
      worst.load = std::max(worst.load, facts.load);
      worst.major_faults = std::max(worst.major_faults, facts.major_faults);
      worst.swapped_bytes = std::max(worst.swapped_bytes, facts.swapped_bytes);
      worst.threads = std::min(worst.threads, facts.threads);
      worst.tasks = std::max(worst.tasks, facts.tasks);
      worst.pinned = worst.pinned && facts.pinned;
    }
  }
  return worst;
}

SampleSummary SummaryOf(const std::vector<RoundData>& rounds, bool percentiles) {
  std::vector<RoundSamples> samples;
  for (const RoundData& round : rounds) {
    RoundSamples& of_round = samples.emplace_back();
    for (const RoundResult& process : round) of_round.push_back(process.samples);
  }
  return Summarize(samples, percentiles);
}

// What may be said of two columns of round numbers; nullopt with fewer than 3 rounds.
std::optional<SpeedupResult> SpeedupOver(const std::vector<double>& baseline_ms, const std::vector<double>& variant_ms,
                                         uint64_t seed) {
  const std::optional<RatioEstimate> estimate = CompareRounds(baseline_ms, variant_ms, static_cast<uint32_t>(seed));
  if (!estimate.has_value()) return std::nullopt;
  return SpeedupResult{1 / estimate->ratio, 1 / estimate->interval.high, 1 / estimate->interval.low,
                       Judge(estimate->interval)};
}

class Benchmark {
 public:
  Benchmark(const std::vector<MeasuredVariant>& variants, size_t baseline, const BenchmarkOptions& options,
            const BenchmarkCores& cores, ChildRunner& children)
      : variants_(variants), baseline_(baseline), options_(options), cores_(cores), children_(children) {}

  absl::StatusOr<BenchmarkRunResult> Run(const ProgressCallback& progress) {
    result_.cores = cores_;
    result_.test_slow_down = SlowDownForTests();
    result_.variables = RoundEnvironment(options_.threads, CoresOf(0), options_.wait_policy);
    const bool with_self_check = options_.rounds >= static_cast<int>(kFewestRounds);
    const size_t turns = variants_.size() + (with_self_check ? 1 : 0);  // the last one is the baseline again
    rounds_.resize(turns);
    std::mt19937 random(static_cast<uint32_t>(options_.seed));
    std::vector<size_t> order(turns);
    std::iota(order.begin(), order.end(), 0);
    const int64_t total = static_cast<int64_t>(turns) * options_.rounds;
    int64_t done = 0;
    for (int round = 0; round < options_.rounds; ++round) {
      Shuffle(order, random);
      std::vector<std::string> names;
      for (const size_t turn : order) {
        names.push_back(turn < variants_.size() ? variants_[turn].name : kSelfCheckName);
        progress("measure", done++, total);
        HALFTONE_ASSIGN_OR_RETURN(RoundData data, children_.Round(SpecsOf(turn)));
        for (RoundResult& process : data) {
          if (VariantOf(turn).load_ms.has_value()) process.load_ms = *VariantOf(turn).load_ms;
        }
        rounds_[turn].push_back(std::move(data));
      }
      result_.order.push_back(absl::StrJoin(names, " "));
    }
    progress("measure", total, total);
    Conclude(with_self_check);
    return std::move(result_);
  }

 private:
  std::vector<int> CoresOf(int instance) const {
    if (cores_.chosen.empty()) return {};
    const auto first = cores_.chosen.begin() + instance * options_.threads;
    return {first, first + options_.threads};
  }

  const MeasuredVariant& VariantOf(size_t turn) const { return variants_[turn == variants_.size() ? baseline_ : turn]; }

  std::vector<RoundSpec> SpecsOf(size_t turn) const {
    const bool again = turn == variants_.size();
    RoundSpec spec;
    spec.run = VariantOf(turn).run;
    spec.seconds = options_.round_seconds;
    spec.min_samples = options_.round_samples;
    spec.cold = options_.cold_cache;
    spec.slow_down = again ? result_.test_slow_down : 0;
    std::vector<RoundSpec> specs(options_.instances, spec);
    for (int i = 0; i < options_.instances; ++i) specs[i].run.cores = CoresOf(i);
    return specs;
  }

  void Conclude(bool with_self_check) {
    for (size_t v = 0; v < variants_.size(); ++v) {
      BenchmarkResult& variant = result_.variants.emplace_back();
      variant.summary = SummaryOf(rounds_[v], options_.percentiles());
      AddOwnReasons(v, variant);
      variant.rounds = std::move(rounds_[v]);
    }
    const std::vector<double>& baseline_ms = result_.variants[baseline_].summary.round_ms;
    for (BenchmarkResult& variant : result_.variants) {
      variant.speedup = SpeedupOver(baseline_ms, variant.summary.round_ms, options_.seed);
    }
    if (with_self_check) {
      SelfCheckResult& check = result_.self_check.emplace();
      check.summary = SummaryOf(rounds_.back(), options_.percentiles());
      check.speedup = *SpeedupOver(baseline_ms, check.summary.round_ms, options_.seed);
      check.rounds = std::move(rounds_.back());
    }
    AddReasonsOfTheWhole();
    for (BenchmarkResult& variant : result_.variants) {
      Append(result_.invalid_reasons, variant.invalid_reasons);
      Append(result_.noise, variant.noise);
    }
    for (BenchmarkResult& variant : result_.variants) variant.valid = IsValid(variant);
  }

  bool IsValid(const BenchmarkResult& variant) const {
    if (!variant.invalid_reasons.empty()) return false;
    if (variant.noise.empty() && result_.variants[baseline_].noise.empty()) return true;
    if (!variant.speedup.has_value() || !result_.self_check.has_value()) return false;
    const SpeedupResult& check = result_.self_check->speedup;
    return Judge(WidenedByNoise({variant.speedup->low, variant.speedup->high}, {check.low, check.high})) !=
           Verdict::kUndecided;
  }

  void AddOwnReasons(size_t v, BenchmarkResult& variant) const {
    RoundFacts worst = WorstOf(rounds_[v]);
    worst.cores = cores_.allowed;
    variant.invalid_reasons = InvalidReasons(worst, options_.threads);
    variant.noise = NoiseReasons(worst, options_.threads, options_.noise_limits);
    Append(variants_[v].reasons, variant.invalid_reasons);
    for (const RoundData& round : rounds_[v]) {
      for (const RoundResult& process : round) {
        if (process.output_hash == variants_[v].expected_hash) continue;
        variant.invalid_reasons.push_back("its outputs while timed are not those that were compared");
        return;
      }
    }
  }

  void AddReasonsOfTheWhole() {
    std::vector<double> spins;
    const auto add_spins = [&](const std::vector<RoundData>& rounds) {
      for (const RoundData& round : rounds) {
        for (const RoundResult& process : round) spins.push_back(process.facts.spin_us);
      }
    };
    for (const BenchmarkResult& variant : result_.variants) add_spins(variant.rounds);
    if (result_.self_check.has_value()) add_spins(result_.self_check->rounds);
    result_.spin_drift = SpinDrift(spins);
    const double limit = options_.noise_limits.frequency;
    if (result_.spin_drift > limit) {
      result_.noise.push_back(absl::StrFormat("the clock frequency changed by %.1f %% between rounds (limit %g %%)",
                                              100 * result_.spin_drift, 100 * limit));
    }
    if (!result_.self_check.has_value()) {
      result_.invalid_reasons.push_back(
          Concat("fewer than ", kFewestRounds, " rounds: no confidence interval of the speed-up"));
      return;
    }
    const SpeedupResult& check = result_.self_check->speedup;
    if (check.high < 1 / kSameWithin || check.low > kSameWithin) {
      result_.noise.push_back(absl::StrFormat("A/A test: %s against itself is %.3f (%.3f .. %.3f), not 1 (within 2 %%)",
                                              variants_[baseline_].name, check.median, check.low, check.high));
    }
  }

  const std::vector<MeasuredVariant>& variants_;
  const size_t baseline_;
  const BenchmarkOptions& options_;
  const BenchmarkCores& cores_;
  ChildRunner& children_;
  std::vector<std::vector<RoundData>> rounds_;  // by turn
  BenchmarkRunResult result_;
};

}  // namespace

absl::StatusOr<BenchmarkCores> CoresFor(const BenchmarkOptions& options) {
  const std::vector<Core> allowed = AllowedCores();
  BenchmarkCores cores;
  cores.allowed = static_cast<int>(allowed.size());
  absl::StatusOr<std::vector<int>> chosen = ChooseCores(allowed, options.threads * options.instances, options.cores);
  if (chosen.ok()) {
    cores.chosen = *std::move(chosen);
  } else if (options.instances > 1 || !options.cores.empty()) {
    return Annotate(chosen.status(), "benchmark");
  }
  return cores;
}

absl::StatusOr<BenchmarkRunResult> MeasureVariants(const std::vector<MeasuredVariant>& variants, size_t baseline,
                                                   const BenchmarkOptions& options, const BenchmarkCores& cores,
                                                   ChildRunner& children, const ProgressCallback& progress) {
  return Benchmark(variants, baseline, options, cores, children).Run(progress);
}

}  // namespace halftone
