// SPDX-License-Identifier: Apache-2.0
// Functions of TensorFlow: import, reference functions, engine, export.
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "tests/tf_ops/file_text.h"
#include "tests/tf_ops/run_text.h"

namespace halftone {
namespace {

using testing::Bool;
using ::testing::ElementsAre;
using testing::FileFromText;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Import;
using testing::RunGraph;
using testing::RunText;

constexpr std::string_view kFunctions = R"(
  x = Placeholder() dtype=f32 shape=[2]
  p = Placeholder() dtype=bool shape=[]
  zero = Const() value=s32:0
  loop = StatelessWhile(zero, x) T={s32,f32} cond=@more body=@step
  choice = StatelessIf(p, loop:1) Tcond=bool Tin={f32} Tout={f32} then_branch=@twice else_branch=@minus
  out = PartitionedCall(choice, x) Tin={f32,f32} Tout={f32} f=@outer
  function more(i: s32, y: f32) -> (bool r = less:z:0) {
    n = Const() value=s32:3
    less = Less(i, n:output:0) T=s32
  }
  function step(i: s32, y: f32) -> (s32 i2 = next:z:0, f32 y2 = tops:values:0) {
    one = Const() value=s32:1
    two = Const() value=s32:2
    next = AddV2(i, one:output:0) T=s32
    more = AddV2(y, y) T=f32
    tops = TopKV2(more:z:0, two:output:0) T=f32
  }
  function twice(y: f32) -> (f32 r = add:z:0) {
    add = AddV2(y, y) T=f32
  }
  function minus(y: f32) -> (f32 r = neg:y:0) {
    neg = Neg(y) T=f32
  }
  function outer(a: f32, b: f32) -> (f32 r = call:output:0) {
    add = AddV2(a, b) T=f32
    call = StatefulPartitionedCall(add:z:0) Tin={f32} Tout={f32} f=@minus
  }
)";

TEST(Functions, CallsLoopsAndBranches) {
  const Tensor x = Floats({2}, {1, -2});  // 8, -16
  EXPECT_THAT(RunText(kFunctions, "out", {x, Bool(true)}), ElementsAre(-17, 34));
  EXPECT_THAT(RunText(kFunctions, "out", {x, Bool(false)}), ElementsAre(7, -14));
}

// Bodies that a pass changed become new functions; reading these gives the same graph.
TEST(Functions, ChangedBodiesBecomeNewFunctions) {
  Graph graph = Import(kFunctions, {"out"});
  GraphEditor edit(graph);
  ASSERT_TRUE(Specialize(edit, {}, 1).ok());  // writes shapes into the bodies
  for (const NodeId id : graph.nodes()) {
    for (const char* name : {"body", "condition", "then", "else"}) {
      if (const auto* nested = graph.node(id).attributes.find(name); nested != nullptr) {
        Graph body = *std::get<std::shared_ptr<const Graph>>(*nested);
        GraphEditor inside(body);
        for (const NodeId n : body.nodes()) {
          if (body.op(n) == OpKind::kAdd) inside.SetName(n, "renamed");
        }
        edit.SetNestedGraph(id, name, std::move(body), inside.edits());
      }
    }
  }
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  tensorflow::GraphDef after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  for (const auto& function : after.library().function()) {
    EXPECT_NE(function.signature().name(), "step") << "no node calls it";
  }
  const absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"out"}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(RunGraph(*again, {Floats({2}, {1, -2}), Bool(true)}), ElementsAre(-17, 34));
}

TEST(Functions, CallsThatDoNotMatchTheirFunction) {
  const auto error = [](std::string_view text) {
    return std::string(ImportGraphDef(FileFromText(text).SerializeAsString(), false, {}).status().message());
  };
  EXPECT_THAT(error(R"(
    x = Placeholder() dtype=f32
    y = PartitionedCall(x, x) Tin={f32,f32} Tout={f32} f=@g
    function g(a: f32) -> (f32 r = n:y:0) {
      n = Neg(a) T=f32
    }
  )"),
              HasSubstr("node 'y': function 'g' has 1 arguments and 1 results; the call gives 2 and takes 1"));
  EXPECT_THAT(error(R"(
    x = Placeholder() dtype=f32
    y = PartitionedCall(x) Tin={f32} Tout={f32} f=@g
    function g(a: f32) -> (f32 r = n:y:0) {
      n = Neg(missing:y:0) T=f32
    }
  )"),
              HasSubstr("function 'g'"));
}

}  // namespace
}  // namespace halftone
