// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

// Printing what was parsed gives the same text again.
void ExpectStable(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string printed = PrintGraph(*graph, {.with_weights = true});
  const absl::StatusOr<Graph> again = ParseGraph(printed);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
  EXPECT_EQ(PrintGraph(*again, {.with_weights = true}), printed);
}

TEST(Text, PrintsWhatWasParsed) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(
    graph (x: f32[2,3]) {
      w = const f32[3,6] uniform(0, 1)
      b = const f32[2] {0.1, -inf}
      m = matmul(x, w) {transpose_b=false}   # a comment
      t = transpose(m, [1, 0])
      return t, "y:0"=relu(t)
    })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string printed = PrintGraph(*graph);
  EXPECT_THAT(printed, HasSubstr("w = const f32[3,6] hash="));
  EXPECT_THAT(printed, HasSubstr("b = const f32[2] {0.1, -inf}"));
  EXPECT_THAT(printed, HasSubstr("m: f32[2,6] = matmul(x, w) {transpose_b=false}"));
  EXPECT_THAT(printed, HasSubstr("t: f32[6,2] = transpose(m, [1, 0])"));
  EXPECT_THAT(printed, HasSubstr("\"y:0\"=%"));
}

TEST(Text, RoundTripsEveryKindOfAttribute) {
  ExpectStable(R"(
    graph "g" ("x 1": f32[N,?,3] extra {doc="a\n\"b\"\x00"}) {
      y: f32[*], _, %7: ?[*] = opaque "LSTM" domain="my.ops" ("x 1", _, [1, 2]:s32, 0.5, -3:s8, [7, 255]:u8) extra {a=true, b=-3, c=1.5, d="s", e=type:bf16,
        f=shape:[N,2,?], g=tensor s64[2] {1, 2}, h=raw:"AAEC", i=[true, false], j=[1, 2], k=[1.5, nan], l=["a", "b"], m=[type:f32],
        n=[shape:[2], shape:[*]], o=ints[], p=floats[], q=strings[], r=floatbits:"7fc00001", s=inf,
        body=graph (z: f32[2]) {
          return z
        }} name="node" device="/cpu:0"
      no_op() name="init" after("node")
      s = const string[2] {"a", "b\\"}
      c = const bool[2] {true, false}
      return y, other=%7
    } header {opset=[13], library=raw:""})");
}

TEST(Text, WeightsMayLieBesideTheText) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"(
    graph (x: f32[2,40]) {
      w = const f32[40,3] uniform(-2, 2)
      v: s8[3,40]{[0.1, 0.00123456789, 3e-08], 0, axis=0} = const s8[3,40]
      few = const f32[2] {0.1, 7}
      many = const string[17] {"a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"}
      o: f32[?] = opaque "Keeps" (x) extra {body=graph (a: f32[2]) {
        n = const f32[17] uniform(0, 1)
        return n
      }}
      "at" = matmul(x, w)
      return "at", v, few, many, o
    })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::string bytes;
  const auto store = [&bytes](const Tensor& tensor) {
    bytes.resize((bytes.size() + 63) / 64 * 64);
    const uint64_t offset = bytes.size();
    bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.byte_size());
    return offset;
  };
  const std::string text = PrintGraph(*graph, {.store_weights = store});
  EXPECT_THAT(text, HasSubstr("w = const f32[40,3] at=0\n"));
  EXPECT_THAT(text, HasSubstr("n = const f32[17] at="));
  const absl::StatusOr<Graph> read = ParseGraph(text, Buffer::CopyOf(bytes.data(), bytes.size()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintGraph(*read, {.with_weights = true}), PrintGraph(*graph, {.with_weights = true}));

  bytes.pop_back();
  const absl::StatusOr<Graph> cut = ParseGraph(text, Buffer::CopyOf(bytes.data(), bytes.size()));
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("an offset at which the"));
  EXPECT_EQ(ParseGraph(text).status().code(), absl::StatusCode::kInvalidArgument) << "without the weights";
}

TEST(Text, NamesMayLookLikeTemporariesAndAbsentValues) {
  const std::string text = R"(graph ("%1": f32[2]) {
  "_": f32[2] = relu("%1")
  "\"q": f32[2] = relu("_")
  %9: f32[2] = add("\"q", "%1")
  return "%2"=%9, "_"
}
)";
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->HasName("%1") && graph->HasName("_") && graph->HasName("\"q"));
  EXPECT_EQ(graph->outputs()[0].name, "%2");
  const std::string printed = PrintGraph(*graph);
  const absl::StatusOr<Graph> again = ParseGraph(printed);
  ASSERT_TRUE(again.ok()) << again.status() << printed;
  EXPECT_EQ(PrintGraph(*again), printed);
}

TEST(Text, ValuesMayBeReadBeforeTheyAreMade) {
  ExpectStable(R"(
    graph layout=channels_last (x: f32[]) {
      m: f32[], i: s32[] = merge(x, n)
      a: f32[] = add(m, x)
      n: f32[] = next_iteration(a)
      return a
    })");
}

struct BadText {
  const char* text;
  const char* error;
};

TEST(Text, ErrorsNameThePlace) {
  const BadText kCases[] = {
      {"graf", "1:1: expected 'graph', found 'graf'"},
      {"graph (x: f32[2]) {\n  y = foo(x)\n return y }", "2:7: expected a known op"},
      {"graph (x: f32[2]) {\n  y = relu(z)\n return y }", "2:12: no value is called 'z'"},
      {"graph (x: f32[2]) { y = relu(x) y = relu(x) return y }", "the value 'y' is made twice"},
      {"graph () { c = const f32[3] {1, 2} return c }", "expected 3 elements, not 2"},
      {"graph () { c = const f32[99] hash=0123456789abcdef return c }", "printed without weights"},
      {"graph (x: f32[2]) { return x", "expected '}', found the end of the text"},
      {"graph (x: f32[2]) { y = relu(x) name=\"a return y }", "has no end"},
      {"graph (x: g32[2]) { return x }", "expected an element type such as f32"},
      {"graph (x: u8[2]{0.5}) { return x }", "expected ',', found '}'"},
      {"graph (x: u8[2]{[0.5, 1], 0}) { return x }", "expected ',', found '}'"},
      {"graph (x: u8[2]{[0.5, 1], 0, 1}) { return x }", "expected 'axis=' of the scales"},
      {"graph (x: u8[2]{0.5, 3000000000}) { return x }", "expected a zero point of 32 bits before"},
  };
  for (const BadText& bad : kCases) {
    const absl::StatusOr<Graph> graph = ParseGraph(bad.text);
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument) << bad.text;
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr(bad.error)) << bad.text;
  }
}

TEST(Text, Quantizations) {
  constexpr char kText[] = R"(graph (x: u8[1,3]{0.1, 128}) {
  w: s8[3,2]{[0.5, 0.33333334], 0, axis=1} = const s8[3,2] {1, 2, 3, 4, 5, -6}
  v: u8[2]{[0.5, 0.25], [7, 9], axis=0} = const u8[2] {1, 2}
  y: s8[1,2]{1e-05, -3} = matmul(x, w, v)
  z: f32[1,2] = relu(y)
  return y, z
}
)";
  const absl::StatusOr<Graph> graph = ParseGraph(kText);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(PrintGraph(*graph), kText);
  ExpectStable(kText);
  // Without shapes, what the integers stand for stays.
  EXPECT_THAT(PrintGraph(*graph, {.shapes = false}), HasSubstr("y: s8[1,2]{1e-05, -3} = matmul(x, w, v)"));
  EXPECT_THAT(PrintGraph(*graph, {.shapes = false}), HasSubstr("z = relu(y)"));
}

TEST(Text, ResultsOfIntegersAreNumbers) {
  const absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: u8[1,3]{0.1, 128}) { y = add(x, x) r = requant(x) return y }");
  EXPECT_FALSE(graph.ok());
  const absl::StatusOr<Graph> sum = ParseGraph("graph (x: u8[1,3]{0.1, 128}) { y = add(x, x) return y }");
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->type(sum->FindValue("y")), DataType::kFloat32);
}

TEST(Text, FloatsReadBackToTheSameBits) {
  Graph graph;
  GraphEditor edit(graph);
  std::vector<float> values = {1.0f / 3, 1e-45f, 3.4e38f, -0.0f, 16777217.0f, 0.1f, 1e10f, 5};
  edit.AddGraphOutput("c", edit.AddConstant("c", Tensor::Of<float>({8}, values)));
  const absl::StatusOr<Graph> again = ParseGraph(PrintGraph(graph));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->ConstantTensor(again->FindValue("c"))->SameBytes(*graph.ConstantTensor(graph.FindValue("c"))));
}

}  // namespace
}  // namespace halftone
