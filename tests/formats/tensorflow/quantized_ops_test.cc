// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops that quantize, and those that move, resize or pool quantized tensors, read and computed, against
// loops over the integers that its kernels have.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/tensor.h"
#include "tests/formats/tensorflow/quantized_file.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using testing::ExpectOutputs;
using ::testing::HasSubstr;
using testing::Numbers;
using testing::QuantizedFile;
using testing::Saturated;

struct EndsOf {
  float low, high;
};

// [1,2,3,2] and [1,2,3,1] along the channels, in both orders of inputs; integers of one range are joined as they are.
void CheckConcat(const std::string& op, tf::DataType type, const std::string& mode, EndsOf first, EndsOf second) {
  SCOPED_TRACE(Concat(op, " ", mode, " ", second.high));
  const bool is_signed = type == tf::DT_QINT8;
  QuantizedFile file;
  file.Input("x", {1, 2, 3, 2});
  file.Input("z", {1, 2, 3, 1});
  file.Quantize("q", "x", first.low, first.high, type, mode);
  file.Quantize("zq", "z", second.low, second.high, type, mode);
  tf::NodeDef& axis = file.Node("Const", "axis", {});
  QuantizedFile::Type(axis, "dtype", tf::DT_INT32);
  tf::TensorProto& tensor = *QuantizedFile::Attr(axis, "value").mutable_tensor();
  tensor.set_dtype(tf::DT_INT32);
  tensor.mutable_tensor_shape();
  tensor.add_int_val(3);
  const std::vector<std::string> ranges = {"q:1", "zq:1", "q:2", "zq:2"};
  std::vector<std::string> inputs = {"axis", "q", "zq"};
  if (op == "QuantizedConcatV2") std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
  inputs.insert(inputs.end(), ranges.begin(), ranges.end());
  tf::NodeDef& node = file.Node(op, "c", inputs);
  QuantizedFile::Type(node, "T", type);
  QuantizedFile::Attr(node, "N").set_i(2);
  file.Dequantize("c", type, mode);
  const std::vector<float> x = Numbers(12, 1.4f), z = Numbers(6, 0.9f);
  const auto rounded = [&](float number, EndsOf ends) {
    const double scale = mode == "SCALED" ? ends.high / (is_signed ? 127.0 : 255.0) : (ends.high - ends.low) / 255.0;
    const double zero = mode == "SCALED" ? 0 : std::round(-ends.low / scale);
    return (Saturated(number / scale + zero, is_signed) - zero) * scale;
  };
  const EndsOf all = {std::min(first.low, second.low), std::max(first.high, second.high)};
  std::vector<double> expected;
  for (int i = 0; i < 6; ++i) {
    for (const int c : {0, 1}) expected.push_back(rounded(rounded(x[i * 2 + c], first), all));
    expected.push_back(rounded(rounded(z[i], second), all));
  }
  const bool requantizes = first.low != second.low || first.high != second.high;
  ExpectOutputs(file.def(), {Tensor::Of<float>({1, 2, 3, 2}, x), Tensor::Of<float>({1, 2, 3, 1}, z)}, expected, 1e-4,
                requantizes);
}

TEST(QuantizedOps, Concat) {
  for (const char* op : {"QuantizedConcat", "QuantizedConcatV2"}) {
    CheckConcat(op, tf::DT_QUINT8, "MIN_FIRST", {-1.0f, 1.55f}, {-1.0f, 1.55f});
    CheckConcat(op, tf::DT_QUINT8, "SCALED", {0.0f, 1.3f}, {0.0f, 1.3f});
    CheckConcat(op, tf::DT_QINT8, "SCALED", {-1.3f, 1.3f}, {-1.3f, 1.3f});
    CheckConcat(op, tf::DT_QUINT8, "MIN_FIRST", {-1.0f, 1.55f}, {-0.5f, 0.52f});
  }
}

TEST(QuantizedOps, ResizeBilinear) {
  for (const bool centers : {false, true}) {
    QuantizedFile file;
    file.Input("x", {1, 2, 3, 1});
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    tf::NodeDef& size = file.Node("Const", "size", {});
    QuantizedFile::Type(size, "dtype", tf::DT_INT32);
    tf::TensorProto& tensor = *QuantizedFile::Attr(size, "value").mutable_tensor();
    tensor.set_dtype(tf::DT_INT32);
    tensor.mutable_tensor_shape()->add_dim()->set_size(2);
    for (const int dim : {4, 5}) tensor.add_int_val(dim);
    tf::NodeDef& node = file.Node("QuantizedResizeBilinear", "r", {"q", "size", "q:1", "q:2"});
    QuantizedFile::Type(node, "T", tf::DT_QUINT8);
    if (centers) QuantizedFile::Attr(node, "half_pixel_centers").set_b(true);
    file.Dequantize("r", tf::DT_QUINT8, "MIN_FIRST");
    const std::vector<float> x = {-0.8f, 0.21f, 1.3f, 0.54f, -0.37f, 0.9f};
    const auto from = [&](int to, int in, int out) {  // two neighbours and how far the second is away
      const double at = centers ? (to + 0.5) * in / out - 0.5 : static_cast<double>(to) * in / out;
      const double below = std::floor(at);
      return std::tuple(std::max(static_cast<int>(below), 0), std::min(static_cast<int>(below) + 1, in - 1),
                        at - below);
    };
    std::vector<double> expected;
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 5; ++column) {
        const auto [top, bottom, down] = from(row, 2, 4);
        const auto [left, right, across] = from(column, 3, 5);
        const auto pixel = [&](int y, int z) { return Saturated(x[y * 3 + z] / 0.01 + 100, false) - 100; };
        const double above = pixel(top, left) + (pixel(top, right) - pixel(top, left)) * across;
        const double beneath = pixel(bottom, left) + (pixel(bottom, right) - pixel(bottom, left)) * across;
        expected.push_back(std::nearbyint(above + (beneath - above) * down) * 0.01);
      }
    }
    // A number just between two steps may be rounded to either.
    ExpectOutputs(file.def(), {Tensor::Of<float>({1, 2, 3, 1}, x)}, expected, 0.0101);
  }
}

// quantize -> op -> dequantize, all MIN_FIRST over [-1, 1.55]: steps of 0.01, zero 100.
void CheckUnary(const std::string& op, const std::vector<int64_t>& dims, const std::vector<std::string>& more,
                const std::vector<double>& expected_steps, QuantizedFile& file) {
  SCOPED_TRACE(op);
  std::vector<std::string> inputs = {"q"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  inputs.insert(inputs.end(), {"q:1", "q:2"});
  tf::NodeDef& node = file.Node(op, "f", inputs);
  const bool relu = op.find("Relu") != std::string::npos;
  QuantizedFile::Type(node, relu ? "Tinput" : "T", tf::DT_QUINT8);
  if (relu) QuantizedFile::Type(node, "out_type", tf::DT_QUINT8);
  if (op.ends_with("Pool")) {
    QuantizedFile::Ints(node, "ksize", {1, 2, 2, 1});
    QuantizedFile::Ints(node, "strides", {1, 1, 1, 1});
    QuantizedFile::Text(node, "padding", "VALID");
  }
  file.Dequantize("f", tf::DT_QUINT8, "MIN_FIRST");
  std::vector<float> x;
  for (int i = 0; i < 8; ++i) x.push_back(static_cast<float>(i * 29 % 120 - 60) / 100);
  std::vector<double> expected;
  for (const double step : expected_steps) expected.push_back(step / 100);
  ExpectOutputs(file.def(), {Tensor::Of<float>(dims, x)}, expected, 1e-5);
}

TEST(QuantizedOps, WithOneInput) {
  const std::vector<int64_t> dims = {1, 2, 2, 2};
  std::vector<double> x, relu;
  for (int i = 0; i < 8; ++i) x.push_back(i * 29 % 120 - 60);
  for (const double step : x) relu.push_back(std::max(step, 0.0));
  const auto channel = [&](int c, auto combine) {
    return combine(combine(x[c], x[c + 2]), combine(x[c + 4], x[c + 6]));
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto add = [](double a, double b) { return a + b; };
  const auto quantized = [&](const std::vector<int64_t>& shape) {
    QuantizedFile file;
    file.Input("x", shape);
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    return file;
  };
  QuantizedFile a = quantized(dims), b = quantized(dims), c = quantized(dims), d = quantized(dims);
  CheckUnary("QuantizedRelu", dims, {}, relu, a);
  CheckUnary("QuantizedMaxPool", dims, {}, {channel(0, larger), channel(1, larger)}, b);
  CheckUnary("QuantizedAvgPool", dims, {}, {std::nearbyint(channel(0, add) / 4), std::nearbyint(channel(1, add) / 4)},
             c);
  tf::NodeDef& shape = d.Node("Const", "shape", {});
  QuantizedFile::Type(shape, "dtype", tf::DT_INT32);
  tf::TensorProto& tensor = *QuantizedFile::Attr(shape, "value").mutable_tensor();
  tensor.set_dtype(tf::DT_INT32);
  tensor.mutable_tensor_shape()->add_dim()->set_size(2);
  for (const int dim : {2, 4}) tensor.add_int_val(dim);
  CheckUnary("QuantizedReshape", dims, {"shape"}, x, d);
}

TEST(QuantizedOps, ModesOfQuantizeV2) {
  struct Mode {
    const char* name;
    tf::DataType type;
    float low, high;
    double scale, zero;
  };
  for (const Mode& mode :
       {Mode{"MIN_FIRST", tf::DT_QUINT8, -1.0f, 1.55f, 0.01, 100},
        Mode{"MIN_FIRST", tf::DT_QINT8, -1.0f, 1.55f, 0.01, -28},
        Mode{"MIN_COMBINED", tf::DT_QUINT8, 0.0f, 2.55f, 0.01, 0},
        Mode{"MIN_COMBINED", tf::DT_QUINT8, -1.0f, 1.55f, 0.01, 100},
        Mode{"SCALED", tf::DT_QUINT8, -1.0f, 2.55f, 0.01, 0}, Mode{"SCALED", tf::DT_QINT8, -1.28f, 0.5f, 0.01, 0}}) {
    SCOPED_TRACE(Concat(mode.name, " ", mode.low));
    QuantizedFile file;
    file.Input("x", {12});
    file.Quantize("q", "x", mode.low, mode.high, mode.type, mode.name);
    file.Dequantize("q", mode.type, mode.name);
    const std::vector<float> x = Numbers(12, 3.01f);
    std::vector<double> expected;
    for (const float number : x) {
      const int q = Saturated(number / mode.scale + mode.zero, mode.type == tf::DT_QINT8);
      expected.push_back((q - mode.zero) * mode.scale);
    }
    ExpectOutputs(file.def(), {Tensor::Of<float>({12}, x)}, expected, 1e-5);
  }
}

TEST(QuantizedOps, RangesThatAreComputedNeedAModeWithZeroAsAStep) {
  QuantizedFile file;
  file.Input("x", {3});
  file.Ends("q", 0, 1);
  tf::NodeDef& node = file.Node("QuantizeV2", "quantized_x", {"x", "x", "q_max"});
  QuantizedFile::Type(node, "T", tf::DT_QUINT8);
  const absl::Status status =
      ImportGraphDef(file.def().SerializeAsString(), /*is_text=*/false, {.outputs = {"quantized_x"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'quantized_x'"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("mode MIN_COMBINED with a range that is computed when the model runs"));
}

}  // namespace
}  // namespace halftone
