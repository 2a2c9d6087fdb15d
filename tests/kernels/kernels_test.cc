// SPDX-License-Identifier: Apache-2.0
// Every kernel against its reference function. The cases are text: see cases.h and any .cases file. A case fails where
// a step runs by its reference function, or by one of oneDNN's reference loops, unless it says "slow".
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

std::vector<std::string>& Files() {
  static std::vector<std::string> files;
  return files;
}

void Check(const Case& c, const std::string& type, int threads) {
  SCOPED_TRACE(c.Replay(type));
  const absl::StatusOr<Graph> graph = ParseGraph(c.TextWith(type));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> inputs = reference::RandomInputs(*graph, /*seed=*/17);
  const absl::StatusOr<OutputSets> expected = ExpectedOutputs(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = threads});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Tolerance tolerance = ToleranceOf(*graph, type);
  if (type == "bf16") tolerance.absolute += c.bf16_error;
  for (int run = 0; run < 2; ++run) {  // the second run sees the first one's memory
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(CompareAny(*actual, *expected, tolerance), "") << "run " << run << ", " << threads << " threads";
  }
  if (!HasAllKernels()) return;
  if (!c.slow) {
    EXPECT_EQ(SlowSteps(**plan), "") << "slow steps of\n" << AllSteps(**plan);
  }
  if (c.reorders >= 0 && RoundsInMathMode()) {  // else nothing is rounded on its way into a product
    const std::vector<StepInfo> steps = (*plan)->steps();
    EXPECT_EQ(std::ranges::count(steps, "reorder", &StepInfo::op), c.reorders) << AllSteps(**plan);
  }
}

constexpr const char* kOtherTypes[] = {"f32", "f64", "f16", "s8",  "s16", "s32",
                                       "s64", "u8",  "u16", "u32", "u64", "bool"};

// Whether the reference functions take the type.
bool CheckIfComputable(const Case& c, const std::string& type) {
  SCOPED_TRACE(c.Replay(type));
  const absl::StatusOr<Graph> graph = ParseGraph(c.TextWith(type));
  if (!graph.ok()) return false;
  const std::vector<Tensor> inputs = reference::RandomInputs(*graph, /*seed=*/17);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, inputs);
  if (!expected.ok()) return false;
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = 1});
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return true;
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
  EXPECT_TRUE(actual.ok()) << actual.status();
  if (!actual.ok()) return true;
  Tolerance tolerance = ToleranceOf(*graph, type);
  if (type == "f16") tolerance.absolute += std::max(1e-3f, c.bf16_error / 8);  // what lies between is rounded, too
  EXPECT_EQ(CompareAll(*actual, *expected, tolerance), "") << AllSteps(**plan);
  return true;
}

TEST(KernelsTest, EveryCaseMatchesTheReference) {
  ASSERT_FALSE(Files().empty()) << "give the .cases files as arguments";
  int count = 0;
  for (const std::string& path : Files()) {
    for (const Case& c : ReadCases(path)) {
      for (const std::string& type : c.types) {
        Check(c, type, /*threads=*/1);
        ++count;
      }
      Check(c, c.types.front(), /*threads=*/2);
    }
  }
  EXPECT_GT(count, 100);
}

// The same graphs with all other types of elements: what the reference functions compute, the engine computes, too,
// by any step. Not bf16, which every case lists that is meant for it.
TEST(KernelsTest, EveryCaseInEveryType) {
  int count = 0;
  for (const std::string& path : Files()) {
    for (const Case& c : ReadCases(path)) {
      if (c.text.find("$T") == std::string::npos) continue;
      for (const char* type : kOtherTypes) {
        if (std::ranges::find(c.types, type) == c.types.end()) count += CheckIfComputable(c, type);
      }
    }
  }
  EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace halftone::testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) halftone::testing::Files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}
