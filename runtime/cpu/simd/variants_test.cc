// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/variants.h"

#include <iostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/cpu/simd/targets.h"

namespace halftone::simd {
namespace {

// The list for this build, which the log shows.
TEST(VariantsTest, EveryVariantIsCompiled) {
  std::vector<std::string> names;
  for (const Variant& variant : CompiledVariants()) {
    names.emplace_back(variant.instructions);
    std::cout << variant.instructions << (variant.has() ? "" : " (not on this CPU)") << ": " << variant.loops << "\n";
  }
#if defined(__x86_64__)
  std::vector<std::string> expected = {"AVX2", "AVX-512", "AVX-512 VNNI", "AVX-512 VBMI", "AVX-512 BF16"};
  if (HALFTONE_HAS_CLONES) expected.push_back("clones");
  EXPECT_EQ(names, expected);
#else
  EXPECT_TRUE(names.empty());
#endif
}

TEST(VariantsTest, WhatThisCpuHasRuns) {
  for (const Variant& variant : CompiledVariants()) {
    if (!variant.has()) continue;
    EXPECT_EQ(variant.probe(), kProbe) << variant.instructions;
  }
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
TEST(VariantsTest, OnlySanitizersGoWithoutClones) { EXPECT_EQ(HALFTONE_HAS_CLONES, 1); }
#endif

}  // namespace
}  // namespace halftone::simd
