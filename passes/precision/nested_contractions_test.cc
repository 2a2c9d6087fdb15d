// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/nested_contractions.h"

#include <string>

#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

NestedContractions Count(const std::string& text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? CountNestedContractions(*graph) : NestedContractions();
}

TEST(NestedContractions, NoneWithoutNestedGraphs) {
  const NestedContractions found =
      Count(R"(graph (x: f32[2,3], w: f32[3,3]) { a = matmul(x, w)  y = relu(a)  return y })");
  EXPECT_EQ(found.nested, 0);
  EXPECT_EQ(found.all, 1);
  EXPECT_EQ(found.first, "");
}

// The contractions of both branches, and of a loop inside one of them.
TEST(NestedContractions, AreCountedInEveryDepth) {
  const NestedContractions found = Count(R"(graph (c: bool[], x: f32[2,3], w: f32[3,3], z: f64[2,3], v: f64[3,3]) {
    a = matmul(x, w)
    y = if(c, a, w, z, v) {
      then=graph (x: f32[2,3], w: f32[3,3], z: f64[2,3], v: f64[3,3]) {
        t = matmul(x, w)
        u: f32[2,3] = loop(3, _, t) {body=graph (i: s64[], c: bool[], s: f32[2,3]) {
          k = const f32[3,3]  r = matmul(s, k)  return c, r }}
        return u },
      else=graph (x: f32[2,3], w: f32[3,3], z: f64[2,3], v: f64[3,3]) {
        e = matmul(x, w)  f = matmul(z, v)  g: f32[2,3] = cast(f)  h = add(e, g)  return h }}
    return y })");
  EXPECT_EQ(found.nested, 3);  // the f64 one does not count
  EXPECT_EQ(found.all, 4);
  EXPECT_EQ(found.first, "e");  // nested graphs come in the order of their names
}

}  // namespace
}  // namespace halftone
