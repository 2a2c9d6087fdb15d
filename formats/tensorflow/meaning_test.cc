// SPDX-License-Identifier: Apache-2.0
// Where TensorFlow means something else by an op than the canonical op does: the importer says so by an attribute, the
// exporter demands it.

#include "formats/tensorflow/meaning.h"

#include <string>
#include <string_view>

#include "base/strings.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::HasSubstr;

constexpr std::string_view kInputs = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
  node { name: 'i' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }
  node { name: 'e' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
         attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { } } } } } }
  node { name: 'n' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
         attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1 } } } }
  node { name: 'k' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
         attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 4 } } } }
  node { name: 'f' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } })";

// Node "y" of this op on these inputs, imported.
Node Imported(std::string_view op, std::string_view inputs, std::string_view attributes) {
  std::string text = Concat(kInputs, "node { name: 'y' op: '", op, "' ", attributes);
  for (const char c : inputs) text += Concat(" input: '", std::string(1, c), "'");
  const absl::StatusOr<Graph> graph = ImportGraphDef(text + " }", /*is_text=*/true, {{"y"}});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? graph->node(graph->FindNode("y")) : Node();
}

constexpr std::string_view kFloat = "attr { key: 'T' value { type: DT_FLOAT } }";

TEST(Meaning, AnEmptyListOfAxesIsNoAxis) {
  for (const char* empty : {"xi", "xe"})
    EXPECT_TRUE(Imported("Sum", empty, kFloat).attributes.Bool("noop_with_empty_axes", false));
  EXPECT_FALSE(Imported("Sum", "xn", kFloat).attributes.has("noop_with_empty_axes"));
  EXPECT_TRUE(Imported("L2Loss", "x", kFloat).attributes.empty());  // has no axes
}

TEST(Meaning, ADimensionOfZeroIsZero) {
  EXPECT_TRUE(Imported("Reshape", "xi", kFloat).attributes.Bool("allowzero", false));
  EXPECT_FALSE(Imported("Reshape", "xn", kFloat).attributes.has("allowzero"));
}

TEST(Meaning, NegativeIndicesOfOneHotAreOutOfRange) {
  const Node node = Imported("OneHot", "ikff", Concat(kFloat, "attr { key: 'TI' value { type: DT_INT32 } }"));
  EXPECT_FALSE(node.attributes.Bool("wrap_negative", true));
}

TEST(Meaning, TrainingHandsOutTheStatisticsOfTheBatch) {
  EXPECT_EQ(Imported("FusedBatchNorm", "xffff", kFloat).attributes.String("statistics", ""), "batch");
  const std::string inference = Concat(kFloat, "attr { key: 'is_training' value { b: false } }");
  EXPECT_FALSE(Imported("FusedBatchNorm", "xffff", inference).attributes.has("statistics"));
}

struct Written {
  const char* text;
  const char* error;  // "": it is written
};

TEST(Meaning, WhatTensorFlowDoesNotMeanIsNotWritten) {
  const Written kCases[] = {
      {"graph (x: f32[2,3], a: s32[?]) { return y=reduce_sum(x, a) {noop_with_empty_axes=true} }", ""},
      {"graph (x: f32[2,3], a: s32[?]) { return y=reduce_sum(x, a) }", "where the computed axes are none"},
      {"graph (x: f32[2,3]) { return y=reduce_sum(x) }", ""},
      {"graph (x: f32[2,3], s: s32[2]) { return y=reshape(x, s) {allowzero=true} }", ""},
      {"graph (x: f32[2,3], s: s32[2]) { return y=reshape(x, s) }", "copies dimensions where the shape has 0"},
      {"graph (x: f32[2,3]) { return y=reshape(x, [3, 2]) }", ""},
      {"graph (i: s32[2]) { v = const f32[2] {0, 1}  return y=one_hot \"OneHot\" (i, 4:s32, v) {wrap_negative=false} }",
       ""},
      {"graph (i: s32[2]) { v = const f32[2] {0, 1}  return y=one_hot \"OneHot\" (i, 4:s32, v) }",
       "this form of the op"},
      {"graph (x: f32[2,3,4,5]) { n = const s32[2] {6, 4} return y=resize(x, _, _, n) {mode=\"nearest\", axes=[1, 2], "
       "coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"} }",
       ""},
      {"graph (x: f32[2,3,4,5]) { n = const s32[2] {6, 4} return y=resize(x, _, _, n) {mode=\"nearest\", axes=[1, 2]} "
       "}",
       "this form of resize"},
  };
  for (const Written& one : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(one.text);
    ASSERT_TRUE(graph.ok()) << one.text << graph.status();
    const absl::Status status = ExportGraphDef(*graph, /*as_text=*/false).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(one.error)) << one.text;
    EXPECT_EQ(status.ok(), one.error[0] == '\0') << one.text << status;
  }
}

TEST(Meaning, BatchNormsThatMoveRunningStatisticsAreNotWritten) {
  const std::string begin =
      "graph (x: f32[2,4,5,3], s: f32[3]) { y, m, v = batch_norm(x, s, s, s, s) {layout=\"NHWC\", is_training=true";
  for (const bool batch : {false, true}) {
    const std::string text = Concat(begin, batch ? ", statistics=\"batch\"" : "", "}  return y, z=relu(m) }");
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(ExportGraphDef(*graph, /*as_text=*/false).ok(), batch) << text;
  }
}

}  // namespace
}  // namespace halftone
