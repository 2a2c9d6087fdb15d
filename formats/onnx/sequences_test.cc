// SPDX-License-Identifier: Apache-2.0
// Sequences that are resolved at import, and those that are not; nodes of opset 6.
#include "formats/onnx/sequences.h"

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::onnx_format {
namespace {

using testing::HasSubstr;

std::string Again(const std::string& graph, int opset = 12) { return NodesOf(Exported(Imported(Model(opset, graph)))); }

std::string Problem(const std::string& graph, int opset = 12) {
  return std::string(Import(Model(opset, graph)).status().message());
}

TEST(SequencesTest, WhatIsReadFromAListIsOneOfItsTensors) {
  EXPECT_EQ(Again(R"(g (float[2] a, float[3] b) => (float[3] y, int64 n) <int64 last = {-1}> {
      s = SequenceConstruct(a, b, a)
      t = SequenceErase(s)
      y = SequenceAt(t, last)
      n = SequenceLength(t)
    })"),
            "Identity(b)->y\nConstant()->n value=tensor\n");
}

TEST(SequencesTest, ChunksAreASplit) {
  EXPECT_EQ(Again(R"(g (float[2,5] x) => (float[2,1] y) <int64 size = {2}, int64 at = {2}> {
      s = SplitToSequence<axis = 1>(x, size)
      y = SequenceAt(s, at)
    })",
                  13)
                .substr(0, 8),
            "Split(x,");
}

TEST(SequencesTest, AListThatIsAnOutputStaysOne) {
  EXPECT_EQ(Again(R"(g (float[2] a) => (seq(float[2]) s) <int64 front = {0}> {
      e = SequenceEmpty()
      s = SequenceInsert(e, a, front)
    })"),
            "SequenceConstruct(a)->s\n");
}

TEST(SequencesTest, AnUnknownPositionKeepsTheNodes) {
  const std::string nodes = Again(R"(g (float[2] a, int64 at) => (float[2] y) {
      s = SequenceConstruct(a, a)
      y = SequenceAt(s, at)
    })");
  EXPECT_EQ(nodes, "SequenceConstruct(a,a)->s\nSequenceAt(s,at)->y\n");
}

TEST(SequencesTest, APositionThatTheListHasNot) {
  EXPECT_THAT(Problem(R"(g (float[2] a) => (float[2] y) <int64 at = {2}> {
      s = SequenceConstruct(a, a)
      y = SequenceAt(s, at)
    })"),
              HasSubstr("position 2 of a sequence of 2 tensors: -2 to 1 are allowed"));
}

TEST(Opset6Test, BroadcastingFromAnAxis) {
  const std::string nodes = Again(R"(g (float[2,3,4] x, float[3] b) => (float[2,3,4] y) {
      y = Add<broadcast = 1, axis = 1>(x, b)
    })",
                                  6);
  EXPECT_THAT(nodes, HasSubstr("Unsqueeze(b)"));
  EXPECT_THAT(nodes, HasSubstr("Add(x,"));
  EXPECT_THAT(nodes, testing::Not(HasSubstr("broadcast")));
}

TEST(Opset6Test, TrainingIsRefused) {
  EXPECT_THAT(Problem("g (float[2,3] x) => (float[2,3] y) { y = Dropout<ratio = 0.5>(x) }", 6),
              HasSubstr("training mode (is_test = 0)"));
}

}  // namespace
}  // namespace halftone::onnx_format
