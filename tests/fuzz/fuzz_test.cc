// SPDX-License-Identifier: Apache-2.0
// The fuzzer finds each of ten injected bugs, starting from the same seed, and minimizes it to a graph of few nodes.
#include <chrono>

#include "gtest/gtest.h"
#include "tests/fuzz/bugs.h"
#include "tests/fuzz/run.h"

namespace halftone::fuzz {
namespace {

constexpr uint64_t kFirstSeed = 1, kSeeds = 3000;

const Coverage& Covered() {
  static const Coverage coverage = FindCoverage(Halftone());
  return coverage;
}

class BugTest : public testing::TestWithParam<int> {};

TEST_P(BugTest, IsFound) {
  const Bug& bug = Bugs()[static_cast<size_t>(GetParam())];
  const Subject broken = bug.subject();
  Totals totals;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    const std::optional<Failure> failure = TrySeed(seed, Covered(), broken, totals);
    if (!failure.has_value()) continue;
    EXPECT_LE(failure->nodes, 4) << failure->text;
    EXPECT_GE(failure->nodes, 1) << failure->text;
    Totals healthy;
    EXPECT_FALSE(TrySeed(seed, Covered(), Halftone(), healthy).has_value()) << "the graph also fails without the bug";
    std::printf("%s: seed %d\n%s", std::string(bug.name).c_str(), static_cast<int>(seed), failure->text.c_str());
    return;
  }
  FAIL() << bug.name << ": not found in " << kSeeds << " graphs";
}

INSTANTIATE_TEST_SUITE_P(Ten, BugTest, testing::Range(0, static_cast<int>(Bugs().size())));

TEST(FuzzTest, ASeedAlwaysMakesTheSameGraph) {
  const absl::StatusOr<Case> a = MakeCase(42, Covered().ops), b = MakeCase(42, Covered().ops);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(Describe(*a), Describe(*b));
}

TEST(FuzzTest, EveryOpWithAReferenceFunctionHasAGenerator) {
  for (const auto& [name, reason] : Covered().not_covered) EXPECT_EQ(reason, "no reference function") << name;
}

}  // namespace
}  // namespace halftone::fuzz
