// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/kernel_table.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "runtime/cpu/backend.h"

namespace halftone {
namespace {

TEST(KernelTableTest, TheDocumentIsWhatTheTableSays) {
  std::ifstream file("docs/reference/kernels.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), KernelsPage()) << "run: bazel run //runtime/cpu:print_kernels > docs/reference/kernels.md";
}

TEST(KernelTableTest, RowsOfAnOpStandInTheOrderOfTheTableAndTheReferenceIsLast) {
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<OpKind>(i);
    std::vector<const KernelFacts*> expected;
    for (const CpuKernel& kernel : CpuKernels()) {
      if (kernel.ops.Has(op)) expected.push_back(&kernel.facts);
    }
    if (reference::HasReference(op)) expected.push_back(&ReferenceRow().facts);
    std::vector<const KernelFacts*> rows;
    for (const KernelRow& row : CpuBackend().Kernels(op)) rows.push_back(row.facts);
    EXPECT_EQ(rows, expected) << OpName(op);
  }
}

// Without one a node that no kernel takes could not run.
TEST(KernelTableTest, EachOpWithAKernelHasAReference) {
  for (const CpuKernel& kernel : CpuKernels()) {
    for (int i = 0; i < kNumOps; ++i) {
      const auto op = static_cast<OpKind>(i);
      EXPECT_TRUE(!kernel.ops.Has(op) || reference::HasReference(op)) << OpName(op);
    }
  }
}

TEST(KernelTableTest, AtMostOneRowOfAnOpFusesParts) {
  for (int i = 0; i < kNumOps; ++i) {
    int rows = 0;
    for (const KernelRow& row : CpuBackend().Kernels(static_cast<OpKind>(i))) rows += row.facts->fuses.any();
    EXPECT_LE(rows, 1) << OpName(static_cast<OpKind>(i));
  }
}

TEST(KernelTableTest, ARowSaysWhyItsKernelIsNotAsked) {
  const KernelFacts facts{.name = "k", .file = "", .types = {DataType::kInt8}, .values = {NodeValues::kQuantized}};
  const KernelRow row{nullptr, &facts, ""}, missing{nullptr, &facts, "needs VNNI"};
  EXPECT_EQ(WhyNotAsked(row, NodeValues::kQuantized, DataType::kInt8), "");
  EXPECT_EQ(WhyNotAsked(row, NodeValues::kPlain, DataType::kInt8), "its values are not quantized");
  EXPECT_EQ(WhyNotAsked(row, NodeValues::kQuantized, DataType::kFloat32), "it is for other types");
  EXPECT_EQ(WhyNotAsked(missing, NodeValues::kQuantized, DataType::kInt8), "needs VNNI");
}

}  // namespace
}  // namespace halftone
