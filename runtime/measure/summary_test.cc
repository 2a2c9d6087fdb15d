// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/summary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;

TEST(SummarizeTest, OneProcessARoundIsItsMedian) {
  const std::vector<RoundSamples> rounds = {{{{1'000'000, 3'000'000, 2'000'000}, 1}}, {{{8'000'000, 12'000'000}, 2}}};
  const SampleSummary summary = Summarize(rounds, /*with_percentiles=*/true);
  EXPECT_THAT(summary.round_ms, ElementsAre(2.0, 5.0));  // the second timed two inferences at once
  EXPECT_EQ(summary.samples, 5);
  EXPECT_EQ(summary.median_ms, 3.0);
  EXPECT_EQ(summary.min_ms, 1.0);
  EXPECT_EQ(summary.mad_ms, 1.0);
  EXPECT_EQ(summary.inferences_per_second, (3 / 0.006 + 4 / 0.020) / 2);
  EXPECT_EQ(summary.p90_ms, std::nullopt);
}

TEST(SummarizeTest, SeveralProcessesAreCountedTogether) {
  // 100 and 300 inferences per second.
  const std::vector<RoundSamples> rounds = {{{{10'000'000, 10'000'000}, 1}, {{10'000'000}, 3}}};
  const SampleSummary summary = Summarize(rounds, /*with_percentiles=*/false);
  EXPECT_NEAR(summary.inferences_per_second, 400, 1e-9);
  EXPECT_NEAR(summary.round_ms[0], 2.5, 1e-9);
  EXPECT_EQ(summary.median_ms, 10.0) << "one inference takes what it takes";
}

TEST(SummarizeTest, PercentilesNeedTheirSamplesAndLeave) {
  std::vector<int64_t> ns;
  for (int i = 1; i <= 662; ++i) ns.push_back(i * 1'000'000);
  const std::vector<RoundSamples> rounds = {{{ns, 1}}};
  const SampleSummary with = Summarize(rounds, /*with_percentiles=*/true);
  EXPECT_EQ(with.p90_ms, 596.0);
  EXPECT_EQ(with.p95_ms, 629.0);
  EXPECT_EQ(with.p99_ms, 656.0);
  EXPECT_EQ(with.p999_ms, std::nullopt) << "that needs 6636";
  EXPECT_EQ(Summarize(rounds, /*with_percentiles=*/false).p90_ms, std::nullopt);
}

}  // namespace
}  // namespace halftone
