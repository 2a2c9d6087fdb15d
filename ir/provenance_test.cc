// SPDX-License-Identifier: Apache-2.0
#include "ir/provenance.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kText[] = "graph (x: f32[2]) { y = relu(x)  return y }";

TEST(Provenance, IsEmptyWithoutMetadata) {
  const Graph graph = *ParseGraph(kText);
  EXPECT_EQ(ProvenanceOf(graph), Provenance());
  EXPECT_THAT(ProvenanceRows(graph), IsEmpty());
}

TEST(Provenance, FollowsOtherMetadataAndReplacesItself) {
  Graph graph = *ParseGraph(kText);
  GraphEditor edit(graph);
  AddMetadata(edit, "author", "an author");
  SetProvenance(edit, {.version = "1", .policy_sha256 = "ab", .planner = "lists", .cpu = "a \"CPU\""});
  AddMetadata(edit, "halftone.of_a_later_version", "z");
  EXPECT_THAT(ProvenanceRows(graph), ElementsAre(Pair("halftone.version", "1"), Pair("halftone.policy_sha256", "ab"),
                                                 Pair("halftone.planner", "lists"), Pair("halftone.cpu", "a \"CPU\""),
                                                 Pair("halftone.of_a_later_version", "z")));
  const Provenance next{.version = "2", .cpu = "b"};
  SetProvenance(edit, next);
  EXPECT_EQ(ProvenanceOf(graph), next);
  EXPECT_THAT(ProvenanceRows(graph), ElementsAre(Pair("halftone.version", "2"), Pair("halftone.cpu", "b")));
  EXPECT_EQ(std::get<std::vector<std::string>>(*graph.header().find("metadata_keys")).front(), "author");
}

TEST(Provenance, GoesThroughTheTextForm) {
  Graph graph = *ParseGraph(kText);
  GraphEditor edit(graph);
  const Provenance provenance{.version = "1", .policy_sha256 = "ab", .planner = "placement", .cpu = "a \"CPU\""};
  SetProvenance(edit, provenance);
  const absl::StatusOr<Graph> again = ParseGraph(PrintGraph(graph));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ProvenanceOf(*again), provenance);
}

}  // namespace
}  // namespace halftone
