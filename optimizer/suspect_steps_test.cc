// SPDX-License-Identifier: Apache-2.0
#include "optimizer/suspect_steps.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StepReport Step(const char* name, const char* kernel, double us) {
  StepReport step;
  step.name = name;
  step.kernel = kernel;
  step.median_us = us;
  return step;
}

TEST(SuspectSteps, OnlyWhatIsFelt) {
  const std::vector<StepReport> steps = {Step("a", "brgconv:avx512_core_bf16", 97), Step("b", "reference", 1),
                                         Step("c", "jit:avx2", 1), Step("d", "copy", 1)};
  EXPECT_THAT(SuspectSteps(steps, "avx512_core_bf16"), IsEmpty());
}

TEST(SuspectSteps, NamesTheSlowestFirst) {
  const std::vector<StepReport> steps = {Step("a", "brgconv:avx512_core", 50), Step("b", "reference", 10),
                                         Step("c", "ref:any", 20), Step("d", "jit_dw:avx2", 20)};
  EXPECT_THAT(SuspectSteps(steps, "avx512_core_amx"),
              ElementsAre("reference functions, which are slow, take 30.0 % of the time: c (ref:any), b (reference)",
                          "kernels for a smaller instruction set than this CPU's take 20.0 % of the time: d "
                          "(jit_dw:avx2)"));
  EXPECT_THAT(SuspectSteps({Step("d", "jit_dw:avx2", 20)}, "avx2_vnni"), IsEmpty());
}

}  // namespace
}  // namespace halftone
