#include "runtime/benchmark.h"

#include <chrono>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(BenchmarkTest, EnvironmentFixesTheNumberOfThreads) {
  EXPECT_THAT(RoundEnvironment(1), ElementsAre("OMP_NUM_THREADS=1", "OMP_DYNAMIC=false"));
  EXPECT_THAT(RoundEnvironment(4), Contains("OMP_NUM_THREADS=4"));
  EXPECT_THAT(RoundEnvironment(4), Contains("OMP_PROC_BIND=close"));
}

TEST(BenchmarkTest, MeasuresAfterAWarmUp) {
  int calls = 0;
  const absl::StatusOr<RoundResult> round =
      RunRound({.seconds = 0.05, .warmup_limit_seconds = 0.2, .warmup_min_inferences = 5}, [&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return absl::OkStatus();
      });
  ASSERT_TRUE(round.ok()) << round.status();
  EXPECT_GE(round->warmup_inferences, 5);
  EXPECT_EQ(calls, round->warmup_inferences + static_cast<int64_t>(round->samples_ms.size()));
  EXPECT_GE(round->facts.seconds, 0.05);
  for (const double sample : round->samples_ms) EXPECT_GE(sample, 2.0);
  EXPECT_GT(round->facts.spin_us, 0);
}

TEST(BenchmarkTest, TakesTheLeastNumberOfSamples) {
  const absl::StatusOr<RoundResult> round = RunRound(
      {.seconds = 0, .warmup_limit_seconds = 0, .min_samples = 7, .pin = false}, [] { return absl::OkStatus(); });
  ASSERT_TRUE(round.ok());
  EXPECT_EQ(round->samples_ms.size(), 7u);
  EXPECT_FALSE(round->facts.pinned);
}

TEST(BenchmarkTest, TheFirstErrorEndsTheRound) {
  int calls = 0;
  const absl::StatusOr<RoundResult> round =
      RunRound({.seconds = 5}, [&] { return ++calls < 3 ? absl::OkStatus() : absl::InternalError("broken"); });
  EXPECT_EQ(round.status().message(), "broken");
  EXPECT_EQ(calls, 3);
}

TEST(BenchmarkTest, NonsenseIsRefused) {
  EXPECT_EQ(RunRound({.threads = 0}, [] { return absl::OkStatus(); }).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(BenchmarkTest, ReasonsAgainstARound) {
  const RoundFacts good{.seconds = 1, .load = 0.5, .cores = 4, .threads = 2, .pinned = true};
  EXPECT_THAT(InvalidReasons(good, 2), IsEmpty());
  RoundFacts bad = good;
  bad.cgroup_throttled = 3;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre(HasSubstr("quota")));
  bad = good;
  bad.steal_share = 0.02;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre("the hypervisor took 2.0 % of the CPU time (limit 1 %)"));
  bad = good;
  bad.load = 4.5;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre("4.5 tasks wanted to run on 4 cores"));
  bad = good;
  bad.involuntary_switches_per_second_per_thread = 11;
  EXPECT_THAT(InvalidReasons(bad, 2), ElementsAre(HasSubstr("context switches")));
  EXPECT_THAT(InvalidReasons(good, 1), ElementsAre("OpenMP uses 2 threads, not 1"));
}

}  // namespace
}  // namespace halftone
