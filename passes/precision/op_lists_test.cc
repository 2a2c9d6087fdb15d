// SPDX-License-Identifier: Apache-2.0
// The lists of all versions, users' edits of them, the environment.

#include "passes/precision/op_lists.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "passes/precision/lists_options.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ListEdits Edits(ListEdit allow, ListEdit infer = {}, ListEdit deny = {}, ListEdit clear = {}) {
  return {std::move(allow), std::move(infer), std::move(deny), std::move(clear)};
}

OpLists Lists(const PlannerOptions& options, std::vector<std::string>* warnings = nullptr) {
  std::vector<std::string> unread;
  return OpLists(options, /*with_own=*/false, warnings == nullptr ? unread : *warnings);
}

TEST(OpLists, EditsInOrder) {
  const ListEdits environment = Edits({.add = {"Softmax"}, .remove = {"MatMul"}}, {.add = {}, .remove = {"Softmax"}});
  std::vector<std::string> warnings;
  const OpLists once = Lists({.edits = {environment}}, &warnings);
  EXPECT_EQ(once.ListOf("MatMul"), ListKind::kNone);
  EXPECT_EQ(once.ListOf("Softmax"), ListKind::kAllow);
  EXPECT_THAT(warnings, IsEmpty());
  const ListEdits policy = Edits({.add = {"MatMul"}, .remove = {}});
  EXPECT_EQ(Lists({.edits = {environment, policy}}).ListOf("MatMul"), ListKind::kAllow);
}

TEST(OpLists, OddEditsAreWarnings) {
  const ListEdits edits = Edits({.add = {"Exp"}, .remove = {"Relu"}}, {}, {.add = {"Tanh"}, .remove = {"Tanh"}});
  std::vector<std::string> warnings;
  const OpLists lists = Lists({.edits = {edits}}, &warnings);
  EXPECT_EQ(lists.ListOf("Exp"), ListKind::kAllow);
  EXPECT_EQ(lists.ListOf("Relu"), ListKind::kClear);
  EXPECT_EQ(lists.ListOf("Tanh"), ListKind::kInfer);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("'Relu' cannot be removed from the allow list"),
                                    AllOf(HasSubstr("'Exp' was added to the allow list"),
                                          HasSubstr("removed from the deny list")),
                                    HasSubstr("'Tanh' is both added")));
}

// How many ops a version has on each list.
std::map<ListKind, int> Counts(ListsVersion version) {
  std::map<ListKind, int> counts;
  for (const OpListRow& row : OpListRows()) {
    if (!row.own && row.Of(version) != ListKind::kNone) ++counts[row.Of(version)];
  }
  return counts;
}

TEST(OpLists, CountsAreThoseOfTensorFlow) {
  EXPECT_THAT(Counts(ListsVersion::kTensorFlow),
              UnorderedElementsAre(Pair(ListKind::kAllow, 14), Pair(ListKind::kInfer, 48), Pair(ListKind::kDeny, 7),
                                   Pair(ListKind::kClear, 96 + 15)));
  EXPECT_THAT(Counts(ListsVersion::kTensorFlow24),
              UnorderedElementsAre(Pair(ListKind::kAllow, 13), Pair(ListKind::kInfer, 40), Pair(ListKind::kDeny, 9),
                                   Pair(ListKind::kClear, 91 + 15)));
}

TEST(OpLists, VariantsDifferWhereTheirSourcesDo) {
  const OpLists newest = Lists({});
  const OpLists older = Lists({.lists_version = ListsVersion::kTensorFlow24});
  const OpLists itex = Lists({.lists_version = ListsVersion::kItex});
  EXPECT_EQ(newest.ListOf("Mean"), ListKind::kInfer);
  EXPECT_EQ(older.ListOf("Mean"), ListKind::kDeny);
  EXPECT_EQ(itex.ListOf("Mean"), ListKind::kDeny);
  EXPECT_EQ(older.ListOf("Sum"), ListKind::kDeny);
  EXPECT_EQ(itex.ListOf("Sum"), ListKind::kInfer);
  EXPECT_EQ(older.ListOf("Rsqrt"), ListKind::kNone);
  EXPECT_EQ(newest.ListOf("_ITEXFusedConv2D"), ListKind::kNone);
  EXPECT_EQ(itex.ListOf("_ITEXFusedConv2D"), ListKind::kAllow);
  EXPECT_EQ(itex.ListOf("ITEXGelu"), ListKind::kInfer);
  EXPECT_EQ(itex.ListOf("ResizeBilinear"), ListKind::kNone);
  EXPECT_EQ(itex.ListOf("OneHot"), ListKind::kClear);
  EXPECT_EQ(newest.ListOf("OneHot"), ListKind::kNone);
}

TEST(OpLists, WhatAMissingCommaKeepsOffIntelsListIsOnItAndSaysSo) {
  const OpLists itex = Lists({.lists_version = ListsVersion::kItex});
  for (const char* op : {"_ITEXPadWithDepthwiseConv2dNative", "_ITEXPadWithFusedConv2D"}) {
    EXPECT_EQ(itex.ListOf(op), ListKind::kAllow) << op;
    EXPECT_THAT(std::string(FindOpListRow(op)->reason), HasSubstr("missing comma"));
  }
}

TEST(OpLists, NamesOfOurOwnCountOnlyWhereAsked) {
  std::vector<std::string> warnings;
  EXPECT_EQ(OpLists({}, /*with_own=*/true, warnings).ListOf("_MklGRU"), ListKind::kAllow);
  EXPECT_EQ(Lists({}).ListOf("_MklGRU"), ListKind::kNone);
}

TEST(OpLists, LevelTreatInferAsDeny) {
  std::vector<std::string> warnings;
  const OpLists lists = Lists({.level = "TREAT_INFER_AS_DENY"}, &warnings);
  EXPECT_EQ(lists.ListOf("Tanh"), ListKind::kDeny);
  EXPECT_EQ(lists.ListOf("Relu"), ListKind::kClear);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(OpLists, OtherLevelsAreWarnings) {
  for (const auto& [level, why] : std::map<std::string, std::string>{
           {"UNSAFE_FORCE_ALL", "refuses it on CPUs"}, {"TENSOR_CORES_ONLY", "for GPUs"}, {"FAST", "no such level"}}) {
    std::vector<std::string> warnings;
    const OpLists lists = Lists({.level = level}, &warnings);
    EXPECT_EQ(lists.ListOf("Tanh"), ListKind::kInfer);
    EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr(level), HasSubstr(why)))) << level;
  }
  std::vector<std::string> warnings;
  Lists({.lists_version = ListsVersion::kItex, .level = "TREAT_INFER_AS_DENY"}, &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("these lists do not support it")));
}

// Looks variables up in a map.
VariableLookup In(std::map<std::string, std::string> environment) {
  return [environment = std::move(environment)](const std::string& name) -> std::optional<std::string> {
    const auto it = environment.find(name);
    return it == environment.end() ? std::nullopt : std::optional<std::string>(it->second);
  };
}

TEST(OpLists, EnvironmentNewAndOldNames) {
  const ListEdits edits =
      ListEditsFromEnvironment(In({{"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD", "Softmax, Exp"},
                                   {"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_WHITELIST_ADD", "Mean"},
                                   {"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_GRAYLIST_REMOVE", "Softmax,"},
                                   {"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_BLACKLIST_REMOVE", "Exp"},
                                   {"ITEX_AUTO_MIXED_PRECISION_CLEARLIST_ADD", "Conv2D"}}));
  EXPECT_THAT(edits.allow.add, ElementsAre("Softmax", "Exp", "Mean"));
  EXPECT_THAT(edits.infer.remove, ElementsAre("Softmax"));
  EXPECT_THAT(edits.deny.remove, ElementsAre("Exp"));
  EXPECT_THAT(edits.clear.add, IsEmpty());
}

TEST(OpLists, OldNamesAreReadAfterTheNewOnes) {
  const ListEdits edits =
      ListEditsFromEnvironment(In({{"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE", "MatMul,Conv2D"},
                                   {"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_WHITELIST_ADD", "MatMul"}}));
  const OpLists lists = Lists({.edits = {edits}});
  EXPECT_EQ(lists.ListOf("MatMul"), ListKind::kAllow);
  EXPECT_EQ(lists.ListOf("Conv2D"), ListKind::kNone);
}

TEST(OpLists, IntelsEnvironmentHasNamesOfItsOwnAndNoOldOnes) {
  const ListEdits edits = ListEditsFromEnvironment(In({{"ITEX_AUTO_MIXED_PRECISION_DENYLIST_ADD", "Softmax"},
                                                       {"ITEX_AUTO_MIXED_PRECISION_BLACKLIST_ADD", "Tanh"},
                                                       {"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD", "Relu"}}),
                                                   ListsVersion::kItex);
  EXPECT_THAT(edits.deny.add, ElementsAre("Softmax"));
}

TEST(OpLists, LevelOfTheEnvironmentInCapitals) {
  EXPECT_EQ(LevelFromEnvironment(In({{"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LEVEL", "treat_infer_as_deny"}})),
            "TREAT_INFER_AS_DENY");
  EXPECT_EQ(LevelFromEnvironment(In({})), "");
}

TEST(OpLists, VersionNames) {
  for (const char* name : {"tensorflow", "tensorflow-2.4", "itex"}) {
    ASSERT_TRUE(ListsVersionFromName(name).has_value()) << name;
    EXPECT_EQ(ListsVersionName(*ListsVersionFromName(name)), name);
  }
  EXPECT_FALSE(ListsVersionFromName("caffe").has_value());
  EXPECT_TRUE(PlansFusedGraph(ListsVersion::kItex));
  EXPECT_FALSE(PlansFusedGraph(ListsVersion::kTensorFlow24));
}

}  // namespace
}  // namespace halftone
