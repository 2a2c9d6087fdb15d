// SPDX-License-Identifier: Apache-2.0
// Runs the golden cases of this folder with the CPU target: a case without a target line must give the same result
// there. Cases with a target line are skipped.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "runtime/cpu/target.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

// What the target refuses because the parts are faster.
constexpr char kFaster[] = " is faster on this CPU";
// Whether a contraction reads int8 depends on more than its fused ops: tests/kernels:int8_test tests that.
constexpr std::string_view kOfIntegers = "fold-quantization";
// oneDNN writes bf16 from bf16 matmuls, but not from f32 matmuls.
constexpr std::string_view kRoundsF32 = "f32 that is rounded after the matmul";

// Cases of another target, and those of types that this CPU has no instructions for.
bool IsOfThisCpu(const GoldenCase& golden, const Target& target) {
  if (!golden.target.empty() || !golden.plan.empty()) return false;
  const bool of_bf16 = absl::StrContains(golden.in, "bf16") || absl::StrContains(golden.out, "bf16");
  return !of_bf16 || target.IsNative(DataType::kBFloat16);
}

TEST(GoldenOnOneDnn, WhatFusesInATextFusesOnACpu) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  int cases = 0, left = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/passes")) {
    if (entry.path().extension() != ".graph" || entry.path().stem() == kOfIntegers) continue;
    const absl::StatusOr<std::string> text = ReadFile(entry.path().string());
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<std::vector<GoldenCase>> golden = ParseGoldenCases(*text);
    ASSERT_TRUE(golden.ok()) << golden.status();
    for (const GoldenCase& one : *golden) {
      if (one.kept() || one.name == kRoundsF32 || !IsOfThisCpu(one, *target)) continue;
      ++cases;
      const GoldenResult result = RunGoldenCase(one, entry.path().stem().string(), target.get());
      if (!result.problem.empty() && absl::StrContains(result.refusals, kFaster)) {
        ++left;
        continue;
      }
      EXPECT_EQ(result.problem, "") << entry.path().filename() << ":" << one.line << " \"" << one.name << "\"\n"
                                    << result.actual << "\nrefused: " << result.refusals;
    }
  }
  EXPECT_GT(cases, 200);
  EXPECT_LT(left, cases / 10);
}

}  // namespace
}  // namespace halftone
