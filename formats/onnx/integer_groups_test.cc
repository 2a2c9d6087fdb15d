// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/integer_groups.h"

#include <string>

#include "base/strings.h"
#include "formats/onnx/test_models.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

// Operators of the file; `what` is computed from x (u8) and its number xd, weights w, wd (s8, one scale per channel),
// bias bd, and other numbers zd (of z, another scale than x) and sd (of s, the scale of x).
std::string Operators(const std::string& what, bool integer_operators = true) {
  const std::string text = Concat(R"(graph (x: u8[1,2,5,4], z: u8[1,2,5,4], s: u8[1,2,5,4], a: u8[3,2]) {
      zero = const u8[] {0}
      mid = const u8[] {128}
      xd = dequantize_linear(x, 0.1, zero)
      sd = dequantize_linear(s, 0.1, zero)
      zd = dequantize_linear(z, 0.2, mid)
      ad = dequantize_linear(a, 0.1, zero)
      w = const s8[3,2,3,3]
      ws = const f32[3] {0.5, 0.25, 0.125}
      wz = const s8[3] {0, 0, 0}
      wd = dequantize_linear(w, ws, wz) {axis=0}
      b = const s32[3] {10, -20, 30}
      bs = const f32[3] {0.05, 0.025, 0.0125}
      bd = dequantize_linear(b, bs) {axis=0}
      wrong_bs = const f32[3] {0.05, 0.025, 0.0126}
      wrong_bd = dequantize_linear(b, wrong_bs) {axis=0}
      v = const s8[3,2]
      vs = const f32[2] {0.5, 0.25}
      vz = const s8[2] {0, 0}
      u = const s8[2,3]
      ud = dequantize_linear(u, ws, wz) {axis=1}
      rows = dequantize_linear(u, vs, vz) {axis=0}
)",
                                  what, " }");
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (!graph.ok()) return "";
  const absl::StatusOr<std::string> bytes =
      ExportOnnx(*graph, {.min_opset = 13, .integer_operators = integer_operators});
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  onnx::ModelProto model;
  if (!bytes.ok() || !model.ParseFromString(*bytes)) return "";
  // Dequantized inputs without consumers are in the file, too: left out here.
  const std::string unread = " xd sd zd ad wd bd wrong_bd ud rows ";
  std::string operators;
  for (const onnx::NodeProto& node : model.graph().node()) {
    bool read = unread.find(" " + node.output(0) + " ") == std::string::npos;
    for (const onnx::NodeProto& reader : model.graph().node()) {
      for (const std::string& input : reader.input()) read = read || input == node.output(0);
    }
    if (read) operators += (operators.empty() ? "" : " ") + node.op_type();
  }
  return operators;
}

TEST(IntegerGroups, PairsStayWhereNotRequested) {
  EXPECT_EQ(Operators("c = conv(xd, wd, bd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, zero) return y", false),
            "DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

TEST(IntegerGroups, WritesOneOperator) {
  const char* const kCases[][2] = {
      {"c = conv(xd, wd, bd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, zero) return y", "QLinearConv"},
      {"c = conv(xd, wd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, mid) return y", "QLinearConv"},
      {"c = conv(xd, wd) r = relu(c) y: u8[1,3,3,2] = quantize_linear(r, 0.3, zero) return y", "QLinearConv"},
      {"c = conv(xd, wd) r = clip(c, 0.0, 6.0) y: u8[1,3,3,2] = quantize_linear(r, 0.023, zero) return y",
       "QLinearConv"},
      {"m = matmul(ad, ud) y: u8[3,3] = quantize_linear(m, 0.3, mid) return y", "QLinearMatMul"},
      {"m = gemm(ad, ud, bd) y: u8[3,3] = quantize_linear(m, 0.3, mid) return y", "QGemm"},
      {"m = add(xd, zd) y: u8[1,2,5,4] = quantize_linear(m, 0.3, mid) return y", "QLinearAdd"},
      {"m = mul(xd, zd) y: u8[1,2,5,4] = quantize_linear(m, 0.3, mid) return y", "QLinearMul"},
      {"m = sigmoid(xd) y: u8[1,2,5,4] = quantize_linear(m, 0.003, zero) return y", "QLinearSigmoid"},
      {"m = leaky_relu(zd) {alpha=0.1} y: u8[1,2,5,4] = quantize_linear(m, 0.3, mid) return y", "QLinearLeakyRelu"},
      {"m = global_average_pool(zd) y: u8[1,2,1,1] = quantize_linear(m, 0.3, mid) return y",
       "QLinearGlobalAveragePool"},
      {"m = average_pool(zd) {kernel=[2,2]} y: u8[1,2,4,3] = quantize_linear(m, 0.3, mid) return y",
       "QLinearAveragePool"},
      {"m = max_pool(xd) {kernel=[2,2]} y: u8[1,2,4,3] = quantize_linear(m, 0.1, zero) return y", "MaxPool"},
      {"m = concat(xd, zd, 1) y: u8[1,4,5,4] = quantize_linear(m, 0.3, mid) return y", "QLinearConcat"},
      {"m = concat(xd, sd, 1) y: u8[1,4,5,4] = quantize_linear(m, 0.1, zero) return y", "Concat"},
  };
  for (const auto& [what, operators] : kCases) EXPECT_EQ(Operators(what), operators) << what;
}

TEST(IntegerGroups, NumbersThatOthersReadAreWrittenToo) {
  EXPECT_EQ(Operators("m = add(xd, zd) y: u8[1,2,5,4] = quantize_linear(m, 0.3, mid) n = relu(zd) return y, n"),
            "DequantizeLinear QLinearAdd Relu");
}

TEST(IntegerGroups, ChainsOfOperatorsReadIntegers) {
  EXPECT_EQ(Operators("m = max_pool(xd) {kernel=[2,2]} q: u8[1,2,4,3] = quantize_linear(m, 0.1, zero) "
                      "d = dequantize_linear(q, 0.1, zero) l = leaky_relu(d) {alpha=0.1} "
                      "y: u8[1,2,4,3] = quantize_linear(l, 0.1, mid) return dequantize_linear(y, 0.1, mid)"),
            "MaxPool QLinearLeakyRelu DequantizeLinear");
}

TEST(IntegerGroups, KeepsWhatOperatorsCannotSay) {
  const char* const kCases[] = {
      // A bias of other steps than the product's.
      "c = conv(xd, wd, wrong_bd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, zero) return y",
      // Integers that go below 0, and a bound inside of them.
      "c = conv(xd, wd) r = relu(c) y: u8[1,3,3,2] = quantize_linear(r, 0.3, mid) return y",
      "c = conv(xd, wd) r = clip(c, 0.0, 6.0) y: u8[1,3,3,2] = quantize_linear(r, 0.03, zero) return y",
      // A result that is read as a number, and one that leaves the graph.
      "c = conv(xd, wd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, zero) return y, relu(c)",
      "c = conv(xd, wd) y: u8[1,3,3,2] = quantize_linear(c, 0.3, zero) return y, c",
      // One scale per row, other types on both sides, a pool of two scales.
      "m = matmul(ad, rows) y: u8[3,3] = quantize_linear(m, 0.3, mid) return y",
      "c = conv(xd, wd) y: s8[1,3,3,2] = quantize_linear(c, 0.3, 0:s8) return y",
      "m = max_pool(xd) {kernel=[2,2]} y: u8[1,2,4,3] = quantize_linear(m, 0.2, zero) return y",
  };
  for (const char* const what : kCases) {
    EXPECT_NE(Operators(what).find("DequantizeLinear"), std::string::npos) << what << ": " << Operators(what);
    EXPECT_NE(Operators(what).find(" QuantizeLinear"), std::string::npos) << what << ": " << Operators(what);
  }
}

}  // namespace
}  // namespace halftone::onnx_format
