// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text, const std::vector<Tensor>& inputs = {},
                                            const RunLimits& limits = {}) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, inputs, limits);
}

std::vector<Tensor> Ran(std::string_view text, const std::vector<Tensor>& inputs = {}) {
  absl::StatusOr<std::vector<Tensor>> outputs = RunText(text, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
  return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>(4, Tensor(DataType::kFloat32, {0}));
}

Tensor Bool(bool value) { return *Tensor::IntScalar(value).ConvertTo(DataType::kBool); }
Tensor Floats(std::vector<float> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  return Tensor::Of<float>({count}, values);
}

TEST(Control, IfRunsOneBranch) {
  // The other branch would fail: it reshapes three elements to two.
  const char* text =
      "graph (c: bool[], x: f32[?]) { y: f32[?] = if(c, x) {then=graph (x: f32[?]) { t = neg(x) return t }, else=graph "
      "(x: f32[?]) { e: f32[2] = reshape(x, [2]) return e }} return y }";
  EXPECT_THAT(Ran(text, {Bool(true), Floats({1, 2, 3})})[0].ToFloats(), ElementsAre(-1, -2, -3));
  EXPECT_THAT(Ran(text, {Bool(false), Floats({1, 2})})[0].ToFloats(), ElementsAre(1, 2));
  const absl::Status bad = RunText(text, {Bool(false), Floats({1, 2, 3})}).status();
  EXPECT_THAT(std::string(bad.message()), HasSubstr("node 'y' (if): else: node 'e' (reshape)"));
  EXPECT_THAT(std::string(RunText(text, {Floats({1, 2}), Floats({1})}).status().message()),
              HasSubstr("the condition is f32[2], need one number or bool"));
}

// y = x + 1 + 2 + ...; z collects i * k. The condition says while the sum is below 100.
constexpr char kLoop[] =
    "graph (n: s64[], c: bool[], x: f32[1], k: f32[2]) { y: f32[1], z: f32[?,2] = loop(n, c, x, k) {body=graph (i: "
    "s64[], c: bool[], s: f32[1], k: f32[2]) { f: f32[] = cast(i) p = mul(k, f) t = add(s, f) h = const f32[] {100} l "
    "= less(reshape(t, []), h) return l, t, p }} captures(\"\") return y, z }";

TEST(Control, LoopStopsByCountOrCondition) {
  const std::vector<Tensor> some = Ran(kLoop, {Tensor::IntScalar(3), Bool(true), Floats({10}), Floats({1, 10})});
  EXPECT_THAT(some[0].ToFloats(), ElementsAre(13));
  EXPECT_EQ(some[1].dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_THAT(some[1].ToFloats(), ElementsAre(0, 0, 1, 10, 2, 20));
  const std::vector<Tensor> until = Ran(kLoop, {Tensor::IntScalar(1000), Bool(true), Floats({90}), Floats({1, 10})});
  EXPECT_THAT(until[0].ToFloats(), ElementsAre(100));
  EXPECT_EQ(until[1].dims()[0], 5);
  for (const auto& [count, condition] : {std::pair(0, true), std::pair(5, false), std::pair(-1, true)}) {
    const std::vector<Tensor> none =
        Ran(kLoop, {Tensor::IntScalar(count), Bool(condition), Floats({10}), Floats({1, 10})});
    EXPECT_THAT(none[0].ToFloats(), ElementsAre(10));
    EXPECT_EQ(none[1].dims(), (std::vector<int64_t>{0, 2}));
  }
}

TEST(Control, BodiesMayWantVectorsOfOne) {
  const std::vector<Tensor> outputs = Ran(
      "graph () { y: s64[1] = loop(3, _, [5]) {body=graph (i: s64[1], c: bool[1], s: s64[1]) { t = add(s, i) return c, "
      "t }} return y }");
  EXPECT_THAT(outputs[0].ToInts(), ElementsAre(8));
}

TEST(Control, EndlessLoopsEnd) {
  const char* text =
      "graph (x: f32[1]) { y: f32[1] = loop(_, _, x) {body=graph (i: s64[], c: bool[], s: f32[1]) { t = relu(s) return "
      "c, t }} return y }";
  const absl::Status status = RunText(text, {Floats({1})}, {.body_runs = 1000}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "node 'y' (loop): it did not end within 1000 runs of loop bodies, all loops together");
  int asked = 0;
  const auto deadline = [&asked] { return ++asked > 5 ? absl::DeadlineExceededError("late") : absl::OkStatus(); };
  EXPECT_EQ(RunText(text, {Floats({1})}, {.interrupted = deadline}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  // Nested loops share one limit.
  const absl::Status nested =
      RunText(
          "graph (x: f32[1]) { y: f32[1] = loop(100, _, x) {body=graph (i: s64[], c: bool[], s: f32[1]) { t: f32[1] = "
          "while(s) {condition=graph (s: f32[1]) { h = const f32[] {0.5} l = greater(s, h) return l }, body=graph (s: "
          "f32[1]) { r = relu(s) return r }} return c, t }} return y }",
          {Floats({1})}, {.body_runs = 50})
          .status();
  EXPECT_EQ(nested.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(nested.message()), HasSubstr("node 'y' (loop): body: node 't' (while): it did not end"));
}

TEST(Control, ScanAlongAnyAxisInBothDirections) {
  const auto scan = [](const std::string& attributes) {
    return Ran(
        "graph (s: f32[2], x: f32[2,3]) { y: f32[2], z: f32[?,?] = scan(s, x) {body=graph (s: f32[2], x: f32[2]) { t "
        "= add(s, x) return t, t }, num_scan_inputs=1, scan_input_axes=[1]" +
            attributes + "} return y, z }",
        {Floats({0, 0}), Tensor::Of<float>({2, 3}, std::vector<float>{1, 2, 3, 10, 20, 30})});
  };
  EXPECT_THAT(scan("")[0].ToFloats(), ElementsAre(6, 60));
  EXPECT_THAT(scan("")[1].ToFloats(), ElementsAre(1, 10, 3, 30, 6, 60));
  EXPECT_THAT(scan(", scan_output_axes=[-1]")[1].ToFloats(), ElementsAre(1, 3, 6, 10, 30, 60));
  EXPECT_THAT(scan(", scan_input_directions=[1]")[1].ToFloats(), ElementsAre(3, 30, 5, 50, 6, 60));
  EXPECT_THAT(scan(", scan_output_directions=[1]")[1].ToFloats(), ElementsAre(6, 60, 3, 30, 1, 10));
  const std::vector<Tensor> none = Ran(
      "graph (s: f32[2], x: f32[0,2]) { y: f32[2], z: f32[?,?] = scan(s, x) {body=graph (s: f32[2], x: f32[2]) { t = "
      "add(s, x) return t, t }, num_scan_inputs=1} return y, z }",
      {Floats({3, 4}), Tensor(DataType::kFloat32, {0, 2})});
  EXPECT_THAT(none[0].ToFloats(), ElementsAre(3, 4));
  EXPECT_THAT(none[1].ToFloats(), IsEmpty());
}

TEST(Control, WhileAndCall) {
  const std::vector<Tensor> outputs = Ran(
      "graph (x: f32[1], k: f32[1]) { a: f32[1], b: f32[1] = while(x, k) {condition=graph (x: f32[1], k: f32[1]) { h = "
      "const f32[] {50} l = less(x, h) return l }, body=graph (x: f32[1], k: f32[1]) { y = mul(x, k) return y, k }} f: "
      "f32[1] = call(a) {body=graph (x: f32[1]) { n = neg(x) return n }} return a, f, b }",
      {Floats({1}), Floats({3})});
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(81));
  EXPECT_THAT(outputs[1].ToFloats(), ElementsAre(-81));
  EXPECT_THAT(outputs[2].ToFloats(), ElementsAre(3));
}

TEST(Control, AScannedValueKeepsItsShape) {
  const absl::Status status =
      RunText(
          "graph (x: f32[1]) { y: f32[?], z: f32[?,?] = loop(2, _, x) {body=graph (i: s64[], c: bool[], s: f32[?]) { t "
          "= concat(s, s, 0) return c, t, t }} return y, z }",
          {Floats({1})})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node 'y' (loop): output 1: a run of the body made f32[4], the first made f32[2]"));
}

}  // namespace
}  // namespace halftone::reference
