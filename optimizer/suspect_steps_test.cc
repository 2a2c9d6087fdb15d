// SPDX-License-Identifier: Apache-2.0
#include "optimizer/suspect_steps.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StepReport Step(const char* name, Implementation kernel, double us) {
  StepReport step;
  step.name = name;
  step.kernel = std::move(kernel);
  step.median_us = us;
  return step;
}

TEST(SuspectSteps, OnlyWhatIsFelt) {
  const std::vector<StepReport> steps = {Step("a", {"brgconv:avx512_core_bf16", false, 512}, 97),
                                         Step("b", {"reference", true}, 1), Step("c", {"jit:avx2", false, 256}, 1),
                                         Step("d", "copy", 1)};
  EXPECT_THAT(SuspectSteps(steps, 512), IsEmpty());
}

TEST(SuspectSteps, NamesTheSlowestFirst) {
  const std::vector<StepReport> steps = {Step("a", {"brgconv:avx512_core", false, 512}, 50),
                                         Step("b", {"reference", true}, 10), Step("c", {"ref_int8:any", true}, 20),
                                         Step("d", {"jit_dw:avx2", false, 256}, 20)};
  EXPECT_THAT(
      SuspectSteps(steps, 512),
      ElementsAre("reference functions, which are slow, take 30.0 % of the time: c (ref_int8:any), b (reference)",
                  "kernels for a smaller instruction set than this CPU's take 20.0 % of the time: d "
                  "(jit_dw:avx2)"));
}

TEST(SuspectSteps, ByTheFactsOfAKernelAndNotByItsName) {
  EXPECT_THAT(SuspectSteps({Step("d", {"jit_dw:avx2", false, 256}, 20)}, 256), IsEmpty()) << "all that the CPU has";
  EXPECT_THAT(SuspectSteps({Step("d", {"jit_dw:avx2", false, 256}, 20)}, 0), IsEmpty()) << "a CPU that is not known";
  EXPECT_THAT(SuspectSteps({Step("d", "loop after avx2 reference", 20)}, 512), IsEmpty());
}

}  // namespace
}  // namespace halftone
