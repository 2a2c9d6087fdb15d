// SPDX-License-Identifier: Apache-2.0
// Operators of integers as ONNX Runtime's quantizer writes them, read and computed, against loops over real numbers.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using Numbers = std::vector<double>;

// x is u8[1,2,2,3] in steps of 0.1 with zero point 10, z the same of 0.05 and 20; results are in steps of t with 128.
constexpr double kXStep = 0.1, kZStep = 0.05, kTStep = 0.02;
constexpr int kXZero = 10, kZZero = 20, kTZero = 128;
const std::vector<uint8_t> kX = {3, 17, 9, 44, 12, 0, 25, 10, 31, 8, 60, 22};
const std::vector<uint8_t> kZ = {20, 3, 90, 41, 7, 33, 26, 14, 55, 19, 70, 2};

constexpr char kUsual[] =
    "float xs = {0.1}, uint8 xz = {10}, float zs = {0.05}, uint8 zz = {20}, float ts = {0.02}, uint8 tz = {128}";

// Of an operator, with these constants.
onnx::ModelProto ModelOf(const std::string& output, const std::string& body, const std::string& constants = kUsual) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "agraph (uint8[1,2,2,3] x, uint8[1,2,2,3] z, bool[2,3] c) => (" +
      output + ") <" + constants + "> {\n" + body + " }";
  onnx::ModelProto model;
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

Numbers RealOf(const std::vector<uint8_t>& integers, double step, int zero) {
  Numbers numbers;
  for (const uint8_t q : integers) numbers.push_back((q - zero) * step);
  return numbers;
}

Tensor Bytes(const std::vector<uint8_t>& bytes) { return Tensor::Of<uint8_t>({1, 2, 2, 3}, bytes); }

Tensor Bits() {
  Tensor bits(DataType::kBool, {2, 3});
  for (const int i : {0, 2, 4, 5}) bits.mutable_data<uint8_t>()[i] = 1;
  return bits;
}

Tensor OutputOf(const onnx::ModelProto& model) {
  const Graph graph = Imported(model);
  for (const NodeId id : graph.nodes()) EXPECT_NE(graph.op(id), OpKind::kOpaque) << PrintGraph(graph);
  const absl::StatusOr<std::vector<Tensor>> outputs = reference::EvaluateGraph(graph, {Bytes(kX), Bytes(kZ), Bits()});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0] : Tensor();
}

struct OperatorCase {
  const char* output;  // "uint8[...] y"
  const char* body;
  std::function<Numbers(const Numbers& x, const Numbers& z)> numbers;
};

Numbers Each(const Numbers& x, double (*f)(double)) {
  Numbers y;
  for (const double number : x) y.push_back(f(number));
  return y;
}

// The mean over rows of three numbers, and over a channel of six.
Numbers Means(const Numbers& x, int count) {
  Numbers y;
  for (size_t i = 0; i < x.size(); i += count) {
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += x[i + k];
    y.push_back(sum / count);
  }
  return y;
}

const OperatorCase kOperators[] = {
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearAdd(x, xs, xz, z, zs, zz, ts, tz)",
     [](const Numbers& x, const Numbers& z) {
       Numbers y;
       for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] + z[i]);
       return y;
     }},
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearMul(x, xs, xz, z, zs, zz, ts, tz)",
     [](const Numbers& x, const Numbers& z) {
       Numbers y;
       for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * z[i]);
       return y;
     }},
    {"uint8[1,2,1,2] y", "y = com.microsoft.QLinearAveragePool<kernel_shape=[2,2]>(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) {
       Numbers y;
       for (const int at : {0, 1, 6, 7}) y.push_back((x[at] + x[at + 1] + x[at + 3] + x[at + 4]) / 4);
       return y;
     }},
    {"uint8[1,2,1,1] y", "y = com.microsoft.QLinearGlobalAveragePool(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) { return Means(x, 6); }},
    {"uint8[1,2,2] y", "y = com.microsoft.QLinearReduceMean<axes=[3], keepdims=0>(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) { return Means(x, 3); }},
    {"uint8[1,2,2,1] y", "y = com.microsoft.QLinearReduceMean<axes=[-1], keepdims=1>(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) { return Means(x, 3); }},
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearLeakyRelu<alpha=0.25>(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) { return Each(x, [](double v) { return v < 0 ? 0.25 * v : v; }); }},
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearSigmoid(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) { return Each(x, [](double v) { return 1 / (1 + std::exp(-v)); }); }},
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearSoftmax<axis=3, opset=13>(x, xs, xz, ts, tz)",
     [](const Numbers& x, const Numbers&) {
       Numbers y;
       for (size_t i = 0; i < x.size(); ++i) {
         double sum = 0;
         for (size_t k = i / 3 * 3; k < i / 3 * 3 + 3; ++k) sum += std::exp(x[k]);
         y.push_back(std::exp(x[i]) / sum);
       }
       return y;
     }},
    {"uint8[1,4,2,3] y", "y = com.microsoft.QLinearConcat<axis=1>(ts, tz, x, xs, xz, z, zs, zz)",
     [](const Numbers& x, const Numbers& z) {
       Numbers y = x;
       y.insert(y.end(), z.begin(), z.end());
       return y;
     }},
    {"uint8[1,2,2,3] y", "y = com.microsoft.QLinearWhere(c, x, xs, xz, z, zs, zz, ts, tz)",
     [](const Numbers& x, const Numbers& z) {
       Numbers y;
       for (size_t i = 0; i < x.size(); ++i) y.push_back(i % 6 == 1 || i % 6 == 3 ? z[i] : x[i]);
       return y;
     }},
    {"uint8[1,2,2,3] y", "d = com.microsoft.DequantizeLinear(x, xs, xz) y = com.microsoft.QuantizeLinear(d, ts, tz)",
     [](const Numbers& x, const Numbers&) { return x; }},
};

TEST(QuantizedOperators, ContribOpsComputeWhatTheirFloatOpsDo) {
  for (const OperatorCase& c : kOperators) {
    SCOPED_TRACE(c.body);
    const Tensor output = OutputOf(ModelOf(c.output, c.body));
    const Numbers numbers = c.numbers(RealOf(kX, kXStep, kXZero), RealOf(kZ, kZStep, kZZero));
    ASSERT_EQ(output.num_elements(), static_cast<int64_t>(numbers.size()));
    EXPECT_EQ(output.type(), DataType::kUInt8);
    for (size_t i = 0; i < numbers.size(); ++i) {
      // One step where the number lies (nearly) between two.
      const double at = numbers[i] / kTStep + kTZero;
      const double expected = std::clamp(at, 0.0, 255.0);
      EXPECT_LE(std::abs(output.data<uint8_t>()[i] - expected), 0.5001) << i;
    }
  }
}

// A is 4x3, B is 2x3 (transposed) with a scale per column; C has the scale of A times that of B.
std::string Gemm(bool real) {
  return std::string("r = Reshape(x, dims) y = com.microsoft.QGemm<transB=1>(r, xs, xz, w, ws, wz, b") +
         (real ? "" : ", ts, tz") + ")";
}

TEST(QuantizedOperators, GemmWithBiasAndScalesPerColumn) {
  const int w[2][3] = {{5, -7, 3}, {-2, 9, 4}};
  const int b[] = {30, -200};
  const double scales[] = {0.02, 0.01};
  const std::string constants =
      std::string(kUsual) +
      ", int8[2,3] w = {5, -7, 3, -2, 9, 4}, float[2] ws = {0.02, 0.01}, int8[2] wz = {0, 0}, "
      "int32[2] b = {30, -200}, int64[2] dims = {4, 3}";
  for (const bool real : {false, true}) {
    const Tensor output = OutputOf(ModelOf(real ? "float[4,2] y" : "uint8[4,2] y", Gemm(real), constants));
    ASSERT_EQ(output.num_elements(), 8);
    const std::vector<float> y = output.ToFloats();
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 2; ++column) {
        int sum = b[column];
        for (int k = 0; k < 3; ++k) sum += (kX[row * 3 + k] - kXZero) * w[column][k];
        const double number = sum * kXStep * scales[column];
        const double expected = real ? number : std::clamp(number / kTStep + kTZero, 0.0, 255.0);
        EXPECT_NEAR(y[row * 2 + column], expected, real ? 1e-5 : 0.5001) << row << "," << column;
      }
    }
  }
}

// They are written in QDQ format; read back, the file gives the same outputs.
TEST(QuantizedOperators, AreWrittenAsQdq) {
  for (const OperatorCase& c : kOperators) {
    SCOPED_TRACE(c.body);
    const onnx::ModelProto model = ModelOf(c.output, c.body);
    const onnx::ModelProto written = Exported(Imported(model), /*min_opset=*/17);
    EXPECT_EQ(NodesOf(written).find("QLinear"), std::string::npos);
    EXPECT_TRUE(OutputOf(written).SameBytes(OutputOf(model))) << NodesOf(written);
  }
}

TEST(QuantizedOperators, ErrorsNameTheNode) {
  const char* const kWrong[][2] = {
      {"y = com.microsoft.QLinearWhere(c, x, xs, xz, z, zs, zz)", "input 7 (a scale) is missing"},
      {"y = com.microsoft.QLinearReduceMean<axes=[7], keepdims=0>(x, xs, xz, ts, tz)", "node 'y'"},
      {"y = com.microsoft.QLinearConcat<axis=1>(ts, tz, x, xs)", "it has 4 inputs"},
      {"y = com.microsoft.QLinearAdd(x, xs, xz, z)", "input 4 (a scale) is missing"},
  };
  for (const auto& [body, says] : kWrong) {
    const absl::Status status = Import(ModelOf("uint8 y", body)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(says)) << body;
  }
}

}  // namespace
}  // namespace halftone::onnx_format
