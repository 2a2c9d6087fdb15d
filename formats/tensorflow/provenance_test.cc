// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/provenance.h"

#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "ir/provenance.h"
#include "ir/text.h"

namespace halftone::graphdef {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

const Provenance kNone;

Graph Imported(const std::string& text) {
  absl::StatusOr<Graph> graph = ImportGraphDef(text, /*is_text=*/true);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

std::string Exported(const Graph& graph, bool as_text = false) {
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, as_text);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

tf::GraphDef Parsed(const std::string& bytes) {
  tf::GraphDef def;
  EXPECT_TRUE(def.ParseFromString(bytes));
  return def;
}

constexpr char kModel[] = R"pb(
  node {
    name: "x"
    op: "Placeholder"
    attr {
      key: "dtype"
      value { type: DT_FLOAT }
    }
  }
  node {
    name: "y"
    op: "Relu"
    input: "x"
    attr {
      key: "T"
      value { type: DT_FLOAT }
    }
  }
  versions { producer: 440 min_consumer: 12 }
)pb";

const Provenance kOurs{.version = "1.2", .policy_sha256 = "00ff", .planner = "placement", .cpu = "a CPU, avx512"};

TEST(GraphDefProvenance, IsAnUncalledFunctionAndNothingElseChanges) {
  Graph graph = Imported(kModel);
  const tf::GraphDef before = Parsed(Exported(graph));
  EXPECT_FALSE(before.has_library());
  GraphEditor edit(graph);
  SetProvenance(edit, kOurs);
  tf::GraphDef after = Parsed(Exported(graph));
  ASSERT_THAT(after.library().function(), SizeIs(1));
  const tf::FunctionDef& function = after.library().function(0);
  EXPECT_EQ(function.signature().name(), "halftone_provenance");
  EXPECT_EQ(function.node_def_size() + function.ret_size() + function.signature().input_arg_size(), 0);
  ASSERT_THAT(function.attr(), SizeIs(4));
  EXPECT_EQ(function.attr(3).key(), "_halftone_cpu");
  EXPECT_EQ(function.attr(3).value().s(), "a CPU, avx512");
  after.clear_library();
  EXPECT_EQ(after.SerializeAsString(), before.SerializeAsString());
}

TEST(GraphDefProvenance, ReadsBackBitForBitInBothForms) {
  Graph graph = Imported(kModel);
  GraphEditor edit(graph);
  SetProvenance(edit, kOurs);
  for (const bool as_text : {false, true}) {
    const std::string bytes = Exported(graph, as_text);
    const absl::StatusOr<Graph> again = ImportGraphDef(bytes, as_text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ProvenanceOf(*again), kOurs);
    EXPECT_FALSE(again->header().has("library"));
    EXPECT_EQ(Exported(*again, as_text), bytes);
  }
}

// A second run replaces what the first wrote; functions of the model stay before it.
TEST(GraphDefProvenance, FollowsFunctionsOfTheModel) {
  Graph graph = Imported(std::string(kModel) + R"pb(library { function { signature { name: "mine" } } })pb");
  GraphEditor edit(graph);
  SetProvenance(edit, kOurs);
  Graph again = *ImportGraphDef(Exported(graph), /*is_text=*/false);
  const Provenance next{.version = "2"};
  GraphEditor edit_again(again);
  SetProvenance(edit_again, next);
  const tf::GraphDef def = Parsed(Exported(again));
  ASSERT_THAT(def.library().function(), SizeIs(2));
  EXPECT_EQ(def.library().function(0).signature().name(), "mine");
  EXPECT_THAT(ProvenanceRows(*ImportGraphDef(def.SerializeAsString(), /*is_text=*/false)),
              ElementsAre(Pair("halftone.version", "2")));
}

TEST(GraphDefProvenance, FunctionOfThatNameInTheModelStays) {
  Graph graph = Imported(std::string(kModel) + R"pb(library {
                                                      function {
                                                        signature { name: "halftone_provenance" }
                                                        attr {
                                                          key: "_halftone_cpu"
                                                          value { i: 3 }
                                                        }
                                                      }
                                                    })pb");
  EXPECT_EQ(ProvenanceOf(graph), kNone);
  const std::string before = Exported(graph);
  EXPECT_THAT(Parsed(before).library().function(), SizeIs(1));
  GraphEditor edit(graph);
  SetProvenance(edit, kOurs);
  EXPECT_EQ(Exported(graph), before);  // two functions of one name would be no valid library
}

}  // namespace
}  // namespace halftone::graphdef
