// SPDX-License-Identifier: Apache-2.0
// Steps of a run, joined with what the report says of them.

#include "optimizer/result.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace halftone {
namespace {

using enum StepKind;

StepReport Step(std::string op, StepKind kind, std::string src, std::string dst) {
  return {.name = "node",
          .op = std::move(op),
          .kind = kind,
          .kernel = "jit",
          .src_type = std::move(src),
          .weights_type = "",
          .dst_type = std::move(dst),
          .median_us = 1};
}

TEST(AddNodes, CountsStepsThatOnlyConvertFloats) {
  VariantResult variant{.kind = VariantKind::kBf16};
  AddNodes({Step("cast", kKernel, "f32", "bf16"), Step("reorder", kConversion, "bf16", "f32"),
            Step("reorder", kConversion, "f32", "f32"), Step("cast", kConstant, "f32", "bf16"),
            Step("cast", kKernel, "s64", "f32"), Step("conv", kKernel, "bf16", "f32")},
           variant);
  EXPECT_EQ(variant.casts.run, 2);
  ASSERT_EQ(variant.nodes.size(), 6u);
  EXPECT_EQ(variant.nodes[5].precision, VariantKind::kBf16);
  EXPECT_EQ(variant.nodes[4].precision, VariantKind::kFp32);
}

TEST(AddNodes, ReasonsComeByName) {
  VariantResult variant{.kind = VariantKind::kFp32};
  variant.decisions.push_back({.node = "node", .op = "conv", .reason = {"lists.allow", "because"}});
  AddNodes({Step("conv", kKernel, "f32", "f32")}, variant);
  EXPECT_EQ(variant.nodes[0].reason.rule, "lists.allow");
}

TEST(AddNodes, ReferenceLoopsByTheirFact) {
  StepReport slow = Step("conv", kKernel, "s8", "f32");
  slow.kernel = {"ref_int8:any", /*slow=*/true};
  VariantResult variant{.kind = VariantKind::kInt8};
  AddNodes({Step("conv", kKernel, "f32", "f32"), std::move(slow)}, variant);
  EXPECT_EQ(variant.reference_share, 0.5);
  EXPECT_EQ(variant.reference_nodes, std::vector<std::string>{"node (conv)"});
}

}  // namespace
}  // namespace halftone
