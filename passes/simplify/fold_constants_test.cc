// SPDX-License-Identifier: Apache-2.0
// Which dequantized constants are folded, by their size.

#include <string>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

bool Folds(const std::string& constant) {
  absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: f32[2,300]) { c = const " + constant + "  return add(x, dequantize_linear(c, 0.5)) }");
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return false;
  const PermissiveTarget target;
  PassContext context{.target = target};
  Pipeline fold("fold");
  fold.Add<FoldConstants>();
  EXPECT_TRUE(fold.Run(*graph, context).ok());
  for (const NodeId id : graph->nodes()) {
    if (graph->op(id) == OpKind::kDequantizeLinear) return false;
  }
  return true;
}

TEST(FoldConstants, DequantizesWhatIsNoLargerAsNumbers) {
  EXPECT_TRUE(Folds("s32[300]"));    // a bias of many channels
  EXPECT_TRUE(Folds("s8[1,1]"));     // small
  EXPECT_FALSE(Folds("s8[2,300]"));  // four times as large
}

}  // namespace
}  // namespace halftone
