// SPDX-License-Identifier: Apache-2.0
// Steps of a run, joined with what the report says of them.

#include "optimizer/result.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace halftone {
namespace {

StepReport Step(std::string op, std::string kernel, std::string src, std::string dst) {
  return {.name = "node",
          .op = std::move(op),
          .kernel = std::move(kernel),
          .src_type = std::move(src),
          .weights_type = "",
          .dst_type = std::move(dst),
          .median_us = 1};
}

TEST(AddNodes, CountsStepsThatOnlyConvertFloats) {
  VariantResult variant{.kind = VariantKind::kBf16};
  AddNodes(
      {Step("cast", "copy", "f32", "bf16"), Step("reorder", "jit", "bf16", "f32"), Step("reorder", "jit", "f32", "f32"),
       Step("cast", "constant", "f32", "bf16"), Step("cast", "copy", "s64", "f32"), Step("conv", "jit", "bf16", "f32")},
      variant);
  EXPECT_EQ(variant.casts.run, 2);
  ASSERT_EQ(variant.nodes.size(), 6u);
  EXPECT_EQ(variant.nodes[5].precision, VariantKind::kBf16);
  EXPECT_EQ(variant.nodes[4].precision, VariantKind::kFp32);
}

TEST(AddNodes, ReasonsComeByName) {
  VariantResult variant{.kind = VariantKind::kFp32};
  variant.decisions.push_back({.node = "node", .op = "conv", .reason = {"lists.allow", "because"}});
  AddNodes({Step("conv", "jit", "f32", "f32")}, variant);
  EXPECT_EQ(variant.nodes[0].reason.rule, "lists.allow");
}

}  // namespace
}  // namespace halftone
