// SPDX-License-Identifier: Apache-2.0
// Shapes and errors of recurrent ops, einsum, attention and signals, from text.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

// Shapes of the outputs, or the error.
std::string Outcome(const std::string& text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return std::string(graph.status().message());
  std::string result;
  for (const GraphOutput& output : graph->outputs()) {
    result += (result.empty() ? "" : " ") + graph->shape(output.value).ToString();
  }
  return result;
}

TEST(RecurrentShapes, KeepWhatIsKnown) {
  EXPECT_EQ(Outcome("graph (x: f32[T,N,5]) { w = const f32[1,12,5]  r = const f32[1,12,3]  y, h, c = lstm(x, w, r)  "
                    "return y, h, c }"),
            "[T,1,N,3] [1,N,3] [1,N,3]");
  EXPECT_EQ(Outcome("graph (x: f32[N,T,5]) { w = const f32[2,9,5]  r = const f32[2,9,3]  _, h = gru(x, w, r) "
                    "{direction=\"bidirectional\", batch_first=true}  return h }"),
            "[N,2,3]");
  EXPECT_EQ(Outcome("graph (x: f32[*], w: f32[1,M,5]) { r = const f32[1,3,3]  return rnn(x, w, r) }"), "[?,1,?,3]");
  EXPECT_EQ(Outcome("graph (a: f32[N,T,5], b: f32[N,5,7]) { return einsum(a, b) {equation=\"bij,bjk->bki\"} }"),
            "[N,7,T]");
  EXPECT_EQ(Outcome("graph (a: f32[N,M,4,4]) { return einsum(a) {equation=\"...ii->i...\"} }"), "[4,N,M]");
  EXPECT_EQ(Outcome("graph (x: f32[N,T,8]) { w = const f32[8,24]  y, p = attention(x, w) {num_heads=2}  return y, p }"),
            "[N,T,8] [2,N,2,T,4]");
  EXPECT_EQ(Outcome("graph (x: f32[N,100,1]) { w = const f32[16]  return stft(x, 4, w) }"), "[N,22,9,2]");
  EXPECT_EQ(Outcome("graph (x: f32[N,30,1]) { return dft(x, 32) {onesided=true} }"), "[N,17,2]");
}

TEST(RecurrentShapes, SayWhatDoesNotFit) {
  EXPECT_THAT(Outcome("graph (x: f32[7,2,5]) { w = const f32[1,12,4]  r = const f32[1,12,3]  return lstm(x, w, r) }"),
              HasSubstr("w is [1,12,4], need [directions, gates * hidden, input] with 1 directions, 4 gates, steps 7"));
  EXPECT_THAT(Outcome("graph (x: f32[7,2,5]) { w = const f32[1,9,5]  r = const f32[1,9,3]  return gru(x, w, r) "
                      "{activations=[\"Sigmoid\", \"Cosine\"]} }"),
              HasSubstr("activation 'Cosine' is unknown"));
  EXPECT_THAT(Outcome("graph (x: f32[7,2,5]) { w = const f32[1,9,5]  r = const f32[1,9,3]  return gru(x, w, r) "
                      "{activations=[\"Sigmoid\"]} }"),
              HasSubstr("1 activations, need 2"));
  EXPECT_THAT(Outcome("graph (a: f32[2,3]) { return einsum(a) {equation=\"ijk->i\"} }"),
              HasSubstr("operand 0 has rank 2, equation 'ijk->i' has 3 indices for it"));
  EXPECT_THAT(Outcome("graph (a: f32[2,3]) { return einsum(a) {equation=\"ij->k\"} }"),
              HasSubstr("index k of the result"));
  EXPECT_THAT(Outcome("graph (a: f32[2,3], b: f32[4,5]) { return einsum(a, b) {equation=\"ij,jk\"} }"),
              HasSubstr("dimension 0 of operand 1 is 4, its index has 3 elsewhere"));
  EXPECT_THAT(Outcome("graph (x: f32[2,3,8]) { w = const f32[8,24]  return attention(x, w) {num_heads=3} }"),
              HasSubstr("a hidden size of 8 does not divide into 3 heads"));
  EXPECT_THAT(Outcome("graph (x: f32[1,10,1]) { w = const f32[16]  return stft(x, 4, w) }"),
              HasSubstr("a frame of 16 does not fit the signal"));
  EXPECT_THAT(Outcome("graph (x: f32[2,3,4]) { return det(x) }"), HasSubstr("need square matrices"));
}

}  // namespace
}  // namespace halftone
