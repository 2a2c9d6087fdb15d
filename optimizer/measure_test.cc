// SPDX-License-Identifier: Apache-2.0
// The benchmark's schedule and its reasons, with processes that only pretend to run.

#include "optimizer/measure.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr size_t kBaseline = 0;

// Each process takes the time of its model, which grows with every process that ran before.
class PretendedMachine final : public ChildRunner {
 public:
  std::map<std::string, double> ms = {{"fp32", 10}, {"bf16", 10}};
  double drift_per_process = 0;
  RoundResult blank;  // what every process returns, but for its samples
  std::vector<std::vector<RoundSpec>> calls;

  PretendedMachine() {
    blank.output_hash = "outputs";
    blank.facts = {.seconds = 1, .threads = 1, .tasks = 1, .pinned = true, .spin_us = 100};
  }

  absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec&) override { return EvaluateResult(); }
  absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>& specs) override {
    std::vector<RoundResult> results;
    for (const RoundSpec& spec : specs) {
      RoundResult& result = results.emplace_back(blank);
      const double drift = 1 + drift_per_process * static_cast<double>(calls.size());
      result.samples.ns.assign(3, std::llround(ms[spec.run.model.path] * drift * 1e6));
    }
    calls.push_back(specs);
    return results;
  }
};

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    for (const char* name : {"fp32", "bf16"}) {
      variants_.push_back({.name = name, .run = {}, .expected_hash = "outputs", .reasons = {}});
      variants_.back().run.model.path = name;
    }
    options_.rounds = 10;
  }

  BenchmarkRunResult Run() {
    absl::StatusOr<BenchmarkRunResult> result =
        MeasureVariants(variants_, kBaseline, options_, cores_, machine_, [](std::string_view, int64_t, int64_t) {});
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  PretendedMachine machine_;
  std::vector<MeasuredVariant> variants_;
  BenchmarkOptions options_;
  BenchmarkCores cores_{{0}, 2};
};

TEST_F(MeasureTest, EachRoundHasEveryVariantOnceAndTheBaselineTwice) {
  const BenchmarkRunResult result = Run();
  EXPECT_EQ(machine_.calls.size(), 30u);
  ASSERT_EQ(result.order.size(), 10u);
  std::set<std::string> orders;
  for (const std::string& order : result.order) {
    for (const char* name : {"fp32", "bf16", "again"}) EXPECT_THAT(order, HasSubstr(name));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 2u) << "random";
  EXPECT_EQ(Run().order, result.order) << "by the seed alone";
  EXPECT_THAT(result.invalid_reasons, IsEmpty());
  EXPECT_EQ(result.variants[1].speedup->verdict, Verdict::kSame);
  EXPECT_EQ(result.variables[0], "OMP_NUM_THREADS=1");
}

// F-6: what drifts while a benchmark runs must not become a difference between its variants.
TEST_F(MeasureTest, InterleavingRemovesALinearDrift) {
  options_.rounds = 20;
  machine_.drift_per_process = 0.003;
  const BenchmarkRunResult result = Run();
  EXPECT_NEAR(result.variants[1].speedup->median, 1, 0.005);

  // The same machine, one variant after the other.
  double first = 0, second = 0;
  for (int i = 0; i < 20; ++i) {
    first += 1 + machine_.drift_per_process * i;
    second += 1 + machine_.drift_per_process * (20 + i);
  }
  EXPECT_GT(second / first, 1.05);
}

TEST_F(MeasureTest, SlowerAndFasterAreSaidByTheInterval) {
  machine_.ms["bf16"] = 5;
  EXPECT_EQ(Run().variants[1].speedup->verdict, Verdict::kFaster);
  EXPECT_EQ(Run().variants[1].speedup->median, 2);
  machine_.ms["bf16"] = 10.3;
  EXPECT_EQ(Run().variants[1].speedup->verdict, Verdict::kSlower);
}

TEST_F(MeasureTest, ADisturbedProcessMakesItsVariantNoisy) {
  machine_.blank.facts.steal_share = 0.5;
  EXPECT_THAT(Run().variants[1].noise, ElementsAre(HasSubstr("hypervisor")));
  machine_.blank.facts.steal_share = 0;
  machine_.blank.facts.load = 2.5;
  EXPECT_THAT(Run().variants[1].noise, ElementsAre("load: 2.5 running tasks on 2 cores"));
  options_.noise_limits.load = 1.5;
  EXPECT_THAT(Run().variants[1].noise, IsEmpty());
}

TEST_F(MeasureTest, NoiseMakesAVariantInvalidOnlyWhereTheIntervalDoesNotDecide) {
  machine_.ms["bf16"] = 5;
  machine_.blank.facts.steal_share = 0.5;
  const BenchmarkRunResult decided = Run();
  EXPECT_THAT(decided.variants[1].invalid_reasons, IsEmpty());
  EXPECT_EQ(decided.variants[1].speedup->verdict, Verdict::kFaster);
  EXPECT_TRUE(decided.variants[1].valid) << "clear of 1 by more than the A/A test's noise";
  options_.rounds = 2;
  EXPECT_FALSE(Run().variants[1].valid) << "no interval";
}

TEST_F(MeasureTest, OtherAnswersThanThoseThatWereComparedAreInvalid) {
  variants_[1].expected_hash = "others";
  const BenchmarkRunResult result = Run();
  EXPECT_THAT(result.variants[0].invalid_reasons, IsEmpty());
  EXPECT_THAT(result.variants[1].invalid_reasons, ElementsAre(HasSubstr("are not those that were compared")));
}

TEST_F(MeasureTest, StepsThatSpoilAVariantMakeItInvalid) {
  variants_[1].reasons = {"reference functions"};
  EXPECT_THAT(Run().variants[1].invalid_reasons, ElementsAre("reference functions"));
}

TEST_F(MeasureTest, EqualThingsThatDifferMakeAllInvalid) {
  setenv("HALFTONE_TEST_SLOW_SELF_CHECK", "5", 1);
  const BenchmarkRunResult pretended = Run();
  unsetenv("HALFTONE_TEST_SLOW_SELF_CHECK");
  EXPECT_EQ(pretended.test_slow_down, 0.05);
  int slowed = 0;
  for (const std::vector<RoundSpec>& call : machine_.calls) slowed += call[0].slow_down == 0.05 ? 1 : 0;
  EXPECT_EQ(slowed, 10) << "one of two equal things";
  EXPECT_THAT(pretended.invalid_reasons, IsEmpty()) << "this machine does not feel it";
}

TEST_F(MeasureTest, TheClockFrequencyIsWatched) {
  class Throttling final : public ChildRunner {
   public:
    explicit Throttling(PretendedMachine& machine) : machine_(machine) {}
    absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec&) override { return EvaluateResult(); }
    absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>& specs) override {
      machine_.blank.facts.spin_us *= 1.005;
      return machine_.Round(specs);
    }

   private:
    PretendedMachine& machine_;
  } throttling(machine_);
  const absl::StatusOr<BenchmarkRunResult> result =
      MeasureVariants(variants_, kBaseline, options_, cores_, throttling, [](std::string_view, int64_t, int64_t) {});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->variants[0].noise,
              ElementsAre("the clock frequency changed by 15.6 % between rounds (limit 5 %)"));
}

TEST_F(MeasureTest, TooFewRoundsHaveNoInterval) {
  options_.rounds = 2;
  const BenchmarkRunResult result = Run();
  EXPECT_EQ(machine_.calls.size(), 4u) << "nor a self-check";
  EXPECT_FALSE(result.variants[1].speedup.has_value());
  EXPECT_THAT(result.variants[1].invalid_reasons, Contains(HasSubstr("fewer than 3 rounds")));
}

TEST_F(MeasureTest, InstancesHaveCoresOfTheirOwn) {
  options_.instances = 2;
  options_.threads = 2;
  machine_.blank.facts.threads = machine_.blank.facts.tasks = 2;
  cores_ = {{4, 5, 6, 7}, 8};
  machine_.ms["bf16"] = 5;
  const BenchmarkRunResult result = Run();
  for (const std::vector<RoundSpec>& call : machine_.calls) {
    ASSERT_EQ(call.size(), 2u);
    EXPECT_THAT(call[0].run.cores, ElementsAre(4, 5));
    EXPECT_THAT(call[1].run.cores, ElementsAre(6, 7));
  }
  EXPECT_NEAR(result.variants[1].summary.inferences_per_second, 400, 1e-6);
  EXPECT_NEAR(result.variants[1].summary.round_ms[0], 2.5, 1e-9);
  EXPECT_NEAR(result.variants[1].speedup->median, 2, 1e-9);
}

TEST(BenchmarkOptionsTest, PresetsTakeTheirNumberOfSamples) {
  BenchmarkOptions options;
  ApplyPreset(BenchmarkPreset::kQuick, {}, {}, options);
  EXPECT_EQ(options.rounds, 5);
  EXPECT_EQ(options.round_seconds, 1);
  EXPECT_FALSE(options.percentiles());
  ApplyPreset(BenchmarkPreset::kStandard, {}, {}, options);
  EXPECT_GE(options.rounds * options.round_samples, MinimumSamples(0.99));
  EXPECT_GE(options.rounds * options.round_seconds, 6);
  EXPECT_TRUE(options.percentiles());
  ApplyPreset(BenchmarkPreset::kStrict, {}, {}, options);
  EXPECT_GE(options.rounds * options.round_samples, MinimumSamples(0.999));
  EXPECT_GE(options.rounds * options.round_seconds, 600);
  ApplyPreset(BenchmarkPreset::kStrict, 20, {}, options);
  EXPECT_EQ(options.preset, BenchmarkPreset::kCustom);
  EXPECT_EQ(options.rounds, 20);
  EXPECT_EQ(options.round_seconds, 60);
}

}  // namespace
}  // namespace halftone
