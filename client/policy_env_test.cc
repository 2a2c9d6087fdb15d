// SPDX-License-Identifier: Apache-2.0
#include "client/policy_env.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GetVariable From(const std::map<std::string, std::string>& variables) {
  return [variables](const std::string& name) -> const char* {
    static std::string kept;
    const auto found = variables.find(name);
    if (found == variables.end()) return nullptr;
    kept = found->second;
    return kept.c_str();
  };
}

constexpr char kPrefix[] = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";

TEST(PolicyEnv, EachListIsRead) {
  const v1::ListEdits edits = ListEditsFromEnvironment(From({
      {std::string(kPrefix) + "ALLOWLIST_ADD", "A1,A2"},
      {std::string(kPrefix) + "ALLOWLIST_REMOVE", "A3"},
      {std::string(kPrefix) + "INFERLIST_ADD", "I1"},
      {std::string(kPrefix) + "INFERLIST_REMOVE", "I2"},
      {std::string(kPrefix) + "DENYLIST_ADD", "D1"},
      {std::string(kPrefix) + "DENYLIST_REMOVE", "D2, D3,,"},
      {std::string(kPrefix) + "CLEARLIST_ADD", "C1"},
      {std::string(kPrefix) + "CLEARLIST_REMOVE", "C2"},
  }));
  EXPECT_THAT(edits.allow().add(), ElementsAre("A1", "A2"));
  EXPECT_THAT(edits.allow().remove(), ElementsAre("A3"));
  EXPECT_THAT(edits.infer().add(), ElementsAre("I1"));
  EXPECT_THAT(edits.infer().remove(), ElementsAre("I2"));
  EXPECT_THAT(edits.deny().add(), ElementsAre("D1"));
  EXPECT_THAT(edits.deny().remove(), ElementsAre("D2", "D3"));
  EXPECT_THAT(edits.clear().add(), ElementsAre("C1"));
  EXPECT_THAT(edits.clear().remove(), ElementsAre("C2"));
}

TEST(PolicyEnv, OldNamesWorkAndComeLater) {
  const v1::ListEdits edits = ListEditsFromEnvironment(From({
      {std::string(kPrefix) + "ALLOWLIST_ADD", "A,B"},
      {std::string(kPrefix) + "WHITELIST_REMOVE", "A"},
      {std::string(kPrefix) + "GRAYLIST_ADD", "G"},
      {std::string(kPrefix) + "BLACKLIST_ADD", "X"},
  }));
  EXPECT_THAT(edits.allow().add(), ElementsAre("B"));
  EXPECT_THAT(edits.allow().remove(), ElementsAre("A"));
  EXPECT_THAT(edits.infer().add(), ElementsAre("G"));
  EXPECT_THAT(edits.deny().add(), ElementsAre("X"));
}

TEST(PolicyEnv, ThePolicyFileHasTheLastWord) {
  v1::Policy policy;
  policy.mutable_lists()->mutable_allow()->add_remove("Foo");
  policy.mutable_lists()->mutable_deny()->add_add("Exp");
  MergeEnvironment(From({{std::string(kPrefix) + "ALLOWLIST_ADD", "Foo,Bar"},
                         {std::string(kPrefix) + "DENYLIST_REMOVE", "Exp,Log"}}),
                   &policy);
  EXPECT_THAT(policy.lists().allow().add(), ElementsAre("Bar"));
  EXPECT_THAT(policy.lists().allow().remove(), ElementsAre("Foo"));
  EXPECT_THAT(policy.lists().deny().add(), ElementsAre("Exp"));
  EXPECT_THAT(policy.lists().deny().remove(), ElementsAre("Log"));
}

TEST(PolicyEnv, WithinOneEditRemovingWinsAsInTensorFlow) {
  const v1::ListEdits edits = ListEditsFromEnvironment(
      From({{std::string(kPrefix) + "DENYLIST_ADD", "Exp"}, {std::string(kPrefix) + "DENYLIST_REMOVE", "Exp"}}));
  EXPECT_THAT(edits.deny().add(), IsEmpty());
  EXPECT_THAT(edits.deny().remove(), ElementsAre("Exp"));
}

TEST(PolicyEnv, IntelsListsHaveVariablesOfTheirOwn) {
  const GetVariable get = From({{std::string(kPrefix) + "ALLOWLIST_ADD", "Ours"},
                                {"ITEX_AUTO_MIXED_PRECISION_ALLOWLIST_ADD", "Theirs"},
                                {"ITEX_AUTO_MIXED_PRECISION_WHITELIST_ADD", "Older"}});
  v1::Policy policy;
  policy.set_lists_version("itex");
  MergeEnvironment(get, &policy);
  EXPECT_THAT(policy.lists().allow().add(), ElementsAre("Theirs"));
  v1::Policy other;
  MergeEnvironment(get, &other);
  EXPECT_THAT(other.lists().allow().add(), ElementsAre("Ours"));
}

TEST(PolicyEnv, TheLevelIsThatOfThePolicyFirst) {
  const GetVariable get = From({{std::string(kPrefix) + "LEVEL", "TREAT_INFER_AS_DENY"}});
  v1::Policy policy;
  MergeEnvironment(get, &policy);
  EXPECT_EQ(policy.lists_level(), "TREAT_INFER_AS_DENY");
  policy.set_lists_level("other");
  MergeEnvironment(get, &policy);
  EXPECT_EQ(policy.lists_level(), "other");
  v1::Policy placement;
  placement.set_planner(v1::PLANNER_PLACEMENT);
  MergeEnvironment(get, &placement);
  EXPECT_EQ(placement.lists_level(), "");
}

TEST(PolicyEnv, NothingSetLeavesThePolicyAlone) {
  v1::Policy policy;
  MergeEnvironment(From({}), &policy);
  EXPECT_FALSE(policy.has_lists());
  policy.mutable_lists()->mutable_infer()->add_add("Foo");
  MergeEnvironment(From({{std::string(kPrefix) + "ALLOWLIST_ADD", ""}}), &policy);
  EXPECT_THAT(policy.lists().infer().add(), ElementsAre("Foo"));
}

}  // namespace
}  // namespace halftone::client
