// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/benchmark.h"

#include <chrono>
#include <numeric>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::Status Nothing() { return absl::OkStatus(); }

void WaitBusily(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(BenchmarkTest, EnvironmentFixesThreadsAndTheirCores) {
  EXPECT_THAT(RoundEnvironment(1), ElementsAre("OMP_NUM_THREADS=1", "OMP_DYNAMIC=false"));
  EXPECT_THAT(RoundEnvironment(2, {3, 5}), ElementsAre("OMP_NUM_THREADS=2", "OMP_DYNAMIC=false", "OMP_PLACES={3},{5}",
                                                       "OMP_PROC_BIND=close", "OMP_WAIT_POLICY=active"));
  EXPECT_THAT(RoundEnvironment(2, {3, 5}, "passive"), Contains("OMP_WAIT_POLICY=passive"));
}

TEST(BenchmarkTest, MeasuresAfterAWarmUp) {
  int calls = 0;
  int calls_before = 0;
  const absl::StatusOr<RoundResult> round = RunRound({.seconds = 0.05,
                                                      .warmup_limit_seconds = 0.2,
                                                      .warmup_min_inferences = 5,
                                                      .before_measuring =
                                                          [&] {
                                                            calls_before = calls;
                                                            return absl::OkStatus();
                                                          }},
                                                     [&] {
                                                       ++calls;
                                                       std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                                       return absl::OkStatus();
                                                     });
  ASSERT_TRUE(round.ok()) << round.status();
  EXPECT_GE(round->warmup_inferences, 5);
  EXPECT_EQ(calls_before, round->warmup_inferences);
  EXPECT_EQ(round->samples.inferences_per_sample, 1);
  EXPECT_EQ(calls, round->warmup_inferences + static_cast<int64_t>(round->samples.ns.size()));
  EXPECT_GE(round->facts.seconds, 0.05);
  for (const int64_t ns : round->samples.ns) EXPECT_GE(ns, 2'000'000);
  EXPECT_GT(round->facts.spin_us, 0);
  EXPECT_GT(round->peak_resident_bytes, 1 << 20);
}

TEST(BenchmarkTest, TakesTheLeastNumberOfSamples) {
  const absl::StatusOr<RoundResult> round =
      RunRound({.seconds = 0, .warmup_limit_seconds = 0, .min_samples = 7}, Nothing);
  ASSERT_TRUE(round.ok());
  EXPECT_EQ(round->samples.ns.size(), 7u);
  EXPECT_FALSE(round->facts.pinned);
}

// F-8: reading the clock is at most 0.1 % of a sample, also of an inference that takes no time.
TEST(BenchmarkTest, ShortInferencesAreTimedTogether) {
  const absl::StatusOr<RoundResult> round = RunRound({.seconds = 0.05}, Nothing);
  ASSERT_TRUE(round.ok());
  EXPECT_GT(round->samples.inferences_per_sample, 1);
  EXPECT_LE(round->samples.ns.size(), 40'000u);
  const double mean =
      std::accumulate(round->samples.ns.begin(), round->samples.ns.end(), 0.0) / round->samples.ns.size();
  EXPECT_GT(mean, 500 * TimerNanoseconds()) << "0.1 %, and as much for a machine that is not quiet";
}

TEST(BenchmarkTest, ASlowDownForTestsIsFelt) {
  const auto inference = [] {
    WaitBusily(std::chrono::microseconds(500));
    return absl::OkStatus();
  };
  const absl::StatusOr<RoundResult> plain = RunRound({.seconds = 0.05}, inference);
  const absl::StatusOr<RoundResult> slow = RunRound({.seconds = 0.05, .slow_down = 0.5}, inference);
  ASSERT_TRUE(plain.ok() && slow.ok());
  const auto fastest = [](const RoundResult& r) { return *std::min_element(r.samples.ns.begin(), r.samples.ns.end()); };
  EXPECT_GE(fastest(*slow), 1.45 * fastest(*plain));
}

TEST(BenchmarkTest, ColdIsSlowerThanWarm) {
  std::vector<uint64_t> weights(1 << 17);  // 1 MB
  const auto inference = [&] {
    volatile uint64_t sum = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
    (void)sum;
    return absl::OkStatus();
  };
  const absl::StatusOr<RoundResult> warm = RunRound({.seconds = 0.02, .min_samples = 5}, inference);
  const absl::StatusOr<RoundResult> cold =
      RunRound({.seconds = 0.02, .warmup_limit_seconds = 0.1, .min_samples = 5, .cold = true}, inference);
  ASSERT_TRUE(warm.ok() && cold.ok());
  EXPECT_EQ(cold->samples.inferences_per_sample, 1);
  const double warm_ms = Summarize(std::vector<RoundSamples>{{warm->samples}}, false).median_ms;
  const double cold_ms = Summarize(std::vector<RoundSamples>{{cold->samples}}, false).median_ms;
  EXPECT_GT(cold_ms, warm_ms);
}

TEST(BenchmarkTest, TheFirstErrorEndsTheRound) {
  int calls = 0;
  const absl::StatusOr<RoundResult> round =
      RunRound({.seconds = 5}, [&] { return ++calls < 3 ? absl::OkStatus() : absl::InternalError("broken"); });
  EXPECT_EQ(round.status().message(), "broken");
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(RunRound({.before_measuring = [] { return absl::AbortedError("no go"); }}, Nothing).status().message(),
            "no go");
}

TEST(BenchmarkTest, NonsenseIsRefused) {
  EXPECT_EQ(RunRound({.threads = 0}, Nothing).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(BenchmarkTest, PinsToTheCoreThatItIsGiven) {
  const std::vector<Core> cores = AllowedCores();
  ASSERT_FALSE(cores.empty());
  int seen = -1;
  const absl::StatusOr<RoundResult> round =
      RunRound({.seconds = 0, .warmup_limit_seconds = 0, .cores = {cores.back().number}}, [&] {
        seen = sched_getcpu();
        return absl::OkStatus();
      });
  ASSERT_TRUE(round.ok());
  EXPECT_EQ(seen, cores.back().number);
  EXPECT_TRUE(round->facts.pinned);
  EXPECT_EQ(AllowedCores().size(), cores.size()) << "put back";
}

TEST(CoresTest, OneThreadOfEachPhysicalCoreAndOneNodeFirst) {
  // Two nodes of two physical cores of two hardware threads; core 0 belongs to another process.
  const std::vector<Core> allowed = {{1, 0, 0}, {2, 1, 0}, {3, 1, 0}, {4, 0, 1}, {5, 0, 1}, {6, 1, 1}, {7, 1, 1}};
  EXPECT_THAT(*ChooseCores(allowed, 2, {}), ElementsAre(2, 3));
  EXPECT_THAT(*ChooseCores(allowed, 4, {}), ElementsAre(2, 3, 1, 4));
  EXPECT_THAT(*ChooseCores(allowed, 1, {5, 7}), ElementsAre(5));
  EXPECT_THAT(std::string(ChooseCores(allowed, 8, {}).status().message()),
              HasSubstr("8 threads need as many cores; 7"));
  EXPECT_THAT(std::string(ChooseCores(allowed, 1, {0}).status().message()), HasSubstr("core 0 may not be used"));
  EXPECT_THAT(ParseCoreList("0-2,5"), ElementsAre(0, 1, 2, 5));
}

TEST(RoundFactsTest, InvalidAndNoisyRounds) {
  const RoundFacts good{.seconds = 1, .load = 0.5, .cores = 4, .threads = 2, .tasks = 2, .pinned = true};
  EXPECT_THAT(InvalidReasons(good, 2), IsEmpty());
  EXPECT_THAT(NoiseReasons(good, 2, {}), IsEmpty());
  NoiseLimits limits;
  const auto noise = [&](void (*disturb)(RoundFacts&)) {
    RoundFacts bad = good;
    disturb(bad);
    EXPECT_THAT(InvalidReasons(bad, 2), IsEmpty()) << "it measured what it should";
    return NoiseReasons(bad, 2, limits);
  };
  const auto steal = [](RoundFacts& f) { f.steal_share = 0.02; };
  const auto load = [](RoundFacts& f) { f.load = 4.5; };
  const auto switches = [](RoundFacts& f) { f.involuntary_switches = 21; };
  EXPECT_THAT(noise([](RoundFacts& f) { f.cgroup_throttled = 3; }), ElementsAre(HasSubstr("quota")));
  EXPECT_THAT(noise(steal), ElementsAre("the hypervisor took 2.0 % of the CPU time (limit 1 %)"));
  EXPECT_THAT(noise(load), ElementsAre("load: 4.5 running tasks on 4 cores"));
  EXPECT_THAT(noise([](RoundFacts& f) { f.involuntary_switches = 20; }), IsEmpty());
  EXPECT_THAT(noise(switches), ElementsAre(HasSubstr("context switches")));
  EXPECT_THAT(noise([](RoundFacts& f) { f.major_faults = 1; }), ElementsAre(HasSubstr("from disk")));
  EXPECT_THAT(noise([](RoundFacts& f) { f.swapped_bytes = 4096; }), ElementsAre(HasSubstr("swapped out")));
  limits = {.context_switches = 11, .steal = 0.05, .load = 2};
  for (const auto& tolerated : {+steal, +load, +switches}) EXPECT_THAT(noise(tolerated), IsEmpty());

  RoundFacts bad = good;
  bad.pinned = false;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre(HasSubstr("pinned")));
  bad = good;
  bad.tasks = 3;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre("the process had 3 threads, not 2"));
  EXPECT_THAT(InvalidReasons(good, 1), ElementsAre("OpenMP uses 2 threads, not 1", "the process had 2 threads, not 1"));
}

TEST(RoundFactsTest, DriftOfTheClockFrequency) {
  EXPECT_EQ(SpinDrift({}), 0);
  EXPECT_NEAR(SpinDrift(std::vector<double>{100, 104, 102}), 0.04, 1e-12);
}

}  // namespace
}  // namespace halftone
