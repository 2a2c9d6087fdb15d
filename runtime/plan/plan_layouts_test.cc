// SPDX-License-Identifier: Apache-2.0
// Which layout images get, and that conversions appear only where that choice says so. Prices are made up here.
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/cpu/backend.h"
#include "runtime/plan/backend_wrapper.h"
#include "runtime/plan/plan.h"

namespace halftone {
namespace {

using testing::ElementsAre;

// oneDNN's kernels on a machine without caches, on which convolutions take as long as we say.
class PricedBackend final : public BackendWrapper {
 public:
  explicit PricedBackend(std::map<std::string, LayoutSeconds> prices)
      : BackendWrapper(CpuBackend()), prices_(std::move(prices)) {}

  std::vector<std::optional<LayoutSeconds>> SecondsByLayout(std::span<const NodeContext* const> convs) const override {
    std::vector<std::optional<LayoutSeconds>> result;
    for (const NodeContext* const conv : convs) {
      const auto it = prices_.find(conv->graph().Label(conv->id()));
      result.push_back(it == prices_.end() ? std::nullopt : std::optional<LayoutSeconds>(it->second));
    }
    return result;
  }
  double ReorderSeconds(size_t) const override { return 1; }
  size_t CacheBytes() const override { return 0; }

 private:
  const std::map<std::string, LayoutSeconds> prices_;
};

constexpr std::string_view kChain = R"(graph (x: f32[2,3,9,7]) {
  w = const f32[32,3,3,3]   v = const f32[32,32,3,3]   u = const f32[32,32,1,1]
  a = conv(x, w) {pads=[1,1,1,1], activation="relu"}
  b = conv(a, v) {pads=[1,1,1,1]}
  m = max_pool(b) {kernel=[2,2]}
  c = conv(m, u)
  return c
})";

// What the plan converts, by the node that wants it; and the plan's numbers are right.
std::vector<std::string> Conversions(std::string_view text, const PricedBackend& backend) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto plan = Plan::Compile(*graph, {}, backend);
  EXPECT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = reference::RandomInputs(*graph, 1);
  const auto actual = (*plan)->Run(inputs);
  const auto expected = reference::EvaluateGraph(*graph, inputs);
  EXPECT_TRUE(actual.ok() && expected.ok());
  for (size_t i = 0; i < expected->size(); ++i)
    EXPECT_EQ(reference::Compare((*actual)[i], (*expected)[i], 1e-4f, 1e-4f), "");
  std::vector<std::string> result;
  for (const StepInfo& step : (*plan)->steps()) {
    if (step.op == "reorder") result.push_back(step.label);
  }
  return result;
}

TEST(PlanLayoutsTest, AFewChannelsAreReadAsTheyAreWhereBlocksFollow) {
  EXPECT_THAT(Conversions(kChain, PricedBackend({{"a", {9, 1}}, {"b", {9, 1}}, {"c", {9, 1}}})), ElementsAre("c"))
      << "only the result";
}

TEST(PlanLayoutsTest, ChannelsLastWhereThatIsCheaper) {
  EXPECT_THAT(Conversions(kChain, PricedBackend({{"a", {1, 9}}, {"b", {1, 9}}, {"c", {1, 9}}})), ElementsAre("a", "c"));
}

TEST(PlanLayoutsTest, ASmallGainIsNotWorthConversions) {
  EXPECT_THAT(Conversions(kChain, PricedBackend({{"a", {1, 9}}, {"b", {2, 1}}, {"c", {1, 9}}})), ElementsAre("a", "c"));
}

TEST(PlanLayoutsTest, ALargeGainIs) {
  EXPECT_THAT(Conversions(kChain, PricedBackend({{"a", {1, 9}}, {"b", {9, 1}}, {"c", {1, 9}}})),
              ElementsAre("a", "b", "c", "c"))
      << "before b, and after the pool that works in b's layout; the result";
}

TEST(PlanLayoutsTest, AReshapeCountsAgainstBlocks) {
  constexpr std::string_view kSplit = R"(graph (x: f32[2,32,4,6]) {
    v = const f32[32,32,1,1]
    a = conv(x, v)
    r = transpose(reshape(a, [2,2,16,4,6]), [0,2,1,3,4])
    b = conv(reshape(r, [2,32,4,6]), v)
    return b
  })";
  const auto with_blocks = Conversions(kSplit, PricedBackend({{"a", {2, 1}}, {"b", {1, 9}}}));
  EXPECT_EQ(with_blocks, Conversions(kSplit, PricedBackend({{"a", {1, 9}}, {"b", {1, 9}}})));
}

}  // namespace
}  // namespace halftone
