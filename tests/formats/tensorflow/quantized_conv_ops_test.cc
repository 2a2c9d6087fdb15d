// SPDX-License-Identifier: Apache-2.0
// TensorFlow's convolutions of quantized tensors, read and computed, against loops over the integers that its kernels
// have.

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gtest/gtest.h"
#include "ir/tensor.h"
#include "tests/formats/tensorflow/quantized_file.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using testing::ExpectOutputs;
using testing::Numbers;
using testing::QuantizedFile;
using testing::Saturated;
using testing::SomeBytes;

constexpr float kXHigh = 1.5f, kWHigh = 0.75f, kOutHigh = 9.0f;

// A convolution of [1,4,5,3] with 3x3 and SAME by 4 channels, depthwise by 3.
struct ConvCase {
  std::string op;
  bool bias = false, bias_is_words = false, per_channel = false, signed_x = false, signed_summand = false;
};

void CheckConv(const ConvCase& c) {
  SCOPED_TRACE(Concat(c.op, c.bias_is_words ? ", bias of 32 bits" : "", c.per_channel ? ", per channel" : "",
                      c.signed_x ? ", signed" : ""));
  const auto has = [&](const char* word) { return c.op.find(word) != std::string::npos; };
  const bool depthwise = has("Depthwise"), relu = has("AndRelu"), requantizes = has("AndRequantize"), sum = has("Sum");
  const int height = 4, width = 5, in = 3, out = depthwise ? 3 : 4;
  QuantizedFile file;
  file.Input("x", {1, height, width, in});
  const tf::DataType x_type = c.signed_x ? tf::DT_QINT8 : tf::DT_QUINT8;
  file.Quantize("q", "x", c.signed_x ? -kXHigh : 0.0f, kXHigh, x_type, "SCALED");
  const std::vector<int> w = SomeBytes(9 * in * (depthwise ? 1 : out), -127, 127);
  if (depthwise) {
    file.Bytes("w", {3, 3, in, 1}, tf::DT_QINT8, w);
  } else {
    file.Bytes("w", {3, 3, in, out}, tf::DT_QINT8, w);
  }
  std::vector<float> w_highs(out, kWHigh);
  if (c.per_channel) {
    for (int i = 0; i < out; ++i) w_highs[i] = kWHigh * static_cast<float>(i + 1) / 2;
  }
  if (c.per_channel) {
    std::vector<float> w_lows;
    for (const float high : w_highs) w_lows.push_back(-high);
    file.Floats("w_min", {out}, w_lows);
    file.Floats("w_max", {out}, w_highs);
  } else {
    file.Ends("w", -kWHigh, kWHigh);
  }
  std::vector<std::string> inputs = {"q", "w"};
  const std::vector<float> bias = Numbers(out, 2.0f);
  std::vector<int> words;
  for (int i = 0; i < out; ++i) words.push_back(i * 1500 - 2000);
  if (c.bias && c.bias_is_words) file.Words("b", {out}, words);
  if (c.bias && !c.bias_is_words) file.Floats("b", {out}, bias);
  if (c.bias) inputs.push_back("b");
  for (const char* end : {"q:1", "q:2", "w_min", "w_max"}) inputs.push_back(end);
  const bool signed_out = requantizes && !relu;
  if (requantizes) {
    file.Ends("out", signed_out ? -kOutHigh : 0.0f, kOutHigh);
    inputs.insert(inputs.end(), {"out_min", "out_max"});
  }
  const std::vector<float> summand = Numbers(height * width * out, 2.93f);
  if (sum) {
    file.Input("s", {1, height, width, out});
    if (requantizes) {
      file.Quantize("sq", "s", c.signed_summand ? -3.0f : 0.0f, 3.0f, c.signed_summand ? tf::DT_QINT8 : tf::DT_QUINT8,
                    "SCALED");
      inputs.insert(inputs.end(), {"sq", "sq:1", "sq:2"});
    } else {
      inputs.push_back("s");
    }
  }
  tf::NodeDef& node = file.Node(c.op, "conv", inputs);
  const tf::DataType out_type = !requantizes ? tf::DT_QINT32 : signed_out ? tf::DT_QINT8 : tf::DT_QUINT8;
  QuantizedFile::Type(node, "Tinput", x_type);
  QuantizedFile::Type(node, "Tfilter", tf::DT_QINT8);
  QuantizedFile::Type(node, "out_type", out_type);
  if (c.bias && requantizes) QuantizedFile::Type(node, "Tbias", c.bias_is_words ? tf::DT_QINT32 : tf::DT_FLOAT);
  if (sum && requantizes) QuantizedFile::Type(node, "Tsummand", c.signed_summand ? tf::DT_QINT8 : tf::DT_QUINT8);
  QuantizedFile::Ints(node, "strides", {1, 1, 1, 1});
  QuantizedFile::Text(node, "padding", "SAME");
  file.Dequantize("conv", out_type, "SCALED");

  const std::vector<float> x = Numbers(height * width * in, 1.4f);
  std::vector<int> q;
  const double x_scale = kXHigh / (c.signed_x ? 127.0 : 255.0);
  for (const float number : x) q.push_back(Saturated(number / x_scale, c.signed_x));
  std::vector<double> expected;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      for (int o = 0; o < out; ++o) {
        int sum_of_products = 0;
        for (int i = 0; i < 9 * in; ++i) {
          const int y = row + i / in / 3 - 1, z = column + i / in % 3 - 1, channel = i % in;
          if (y < 0 || y >= height || z < 0 || z >= width || (depthwise && channel != o)) continue;
          sum_of_products += q[(y * width + z) * in + channel] * w[depthwise ? i : i * out + o];
        }
        const double step = x_scale * w_highs[o] / 127;
        double number = sum_of_products * step;
        if (c.bias) number += c.bias_is_words ? words[o] * step : bias[o];
        if (sum) {
          const double scale = 3.0 / (c.signed_summand ? 127 : 255);
          const float s = summand[(row * width + column) * out + o];
          number += requantizes ? Saturated(s / scale, c.signed_summand) * scale : s;
        }
        if (relu) number = std::max(number, 0.0);
        const double out_scale = kOutHigh / (signed_out ? 127.0 : 255.0);
        expected.push_back(requantizes ? Saturated(number / out_scale, signed_out) * out_scale : number);
      }
    }
  }
  std::vector<Tensor> fed = {Tensor::Of<float>({1, height, width, in}, x)};
  if (sum) fed.push_back(Tensor::Of<float>({1, height, width, out}, summand));
  ExpectOutputs(file.def(), fed, expected, 1e-4);
}

TEST(QuantizedOps, Convolutions) {
  CheckConv({.op = "QuantizedConv2D"});
  CheckConv({.op = "QuantizedConv2D", .signed_x = true});
  CheckConv({.op = "QuantizedConv2DPerChannel", .per_channel = true});
  CheckConv({.op = "QuantizedConv2DAndRelu"});
  CheckConv({.op = "QuantizedConv2DAndRequantize"});
  CheckConv({.op = "QuantizedConv2DAndReluAndRequantize", .per_channel = true});
  CheckConv({.op = "QuantizedConv2DWithBias", .bias = true});
  CheckConv({.op = "QuantizedConv2DWithBiasAndRelu", .bias = true, .per_channel = true});
  CheckConv({.op = "QuantizedConv2DWithBiasAndRequantize", .bias = true, .signed_x = true});
  CheckConv({.op = "QuantizedConv2DWithBiasAndReluAndRequantize", .bias = true, .per_channel = true});
  CheckConv(
      {.op = "QuantizedConv2DWithBiasAndReluAndRequantize", .bias = true, .bias_is_words = true, .per_channel = true});
  CheckConv({.op = "QuantizedConv2DWithBiasSumAndRelu", .bias = true});
  CheckConv({.op = "QuantizedConv2DWithBiasSumAndReluAndRequantize", .bias = true, .per_channel = true});
  CheckConv({.op = "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
             .bias = true,
             .bias_is_words = true,
             .signed_summand = true});
}

TEST(QuantizedOps, DepthwiseConvolutions) {
  CheckConv({.op = "QuantizedDepthwiseConv2D"});
  CheckConv({.op = "QuantizedDepthwiseConv2DWithBias", .bias = true, .per_channel = true});
  CheckConv({.op = "QuantizedDepthwiseConv2DWithBiasAndRelu", .bias = true});
  CheckConv({.op = "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", .bias = true, .per_channel = true});
}

// The sums of a convolution to bytes by an op of their own, with other ends than they came from.
TEST(QuantizedOps, RequantizeWithConstantEnds) {
  for (const char* op : {"Requantize", "RequantizePerChannel"}) {
    SCOPED_TRACE(op);
    QuantizedFile file;
    file.Input("x", {1, 2, 1, 5});
    file.Quantize("q", "x", 0.0f, 1.55f, tf::DT_QUINT8, "SCALED");
    const std::vector<int> w = SomeBytes(15, -127, 127);
    file.Bytes("w", {1, 1, 5, 3}, tf::DT_QINT8, w);
    file.Ends("w", -0.5f, 0.5f);
    tf::NodeDef& conv = file.Node("QuantizedConv2D", "conv", {"q", "w", "q:1", "q:2", "w_min", "w_max"});
    QuantizedFile::Type(conv, "Tinput", tf::DT_QUINT8);
    QuantizedFile::Type(conv, "Tfilter", tf::DT_QINT8);
    QuantizedFile::Ints(conv, "strides", {1, 1, 1, 1});
    QuantizedFile::Text(conv, "padding", "VALID");
    file.Ends("out", -0.5f, 0.775f);
    const bool per_channel = std::string(op) == "RequantizePerChannel";
    tf::NodeDef& node = file.Node(op, "r", {"conv", "conv:1", "conv:2", "out_min", "out_max"});
    QuantizedFile::Type(node, per_channel ? "T" : "Tinput", tf::DT_QINT32);
    const tf::DataType type = per_channel ? tf::DT_QINT8 : tf::DT_QUINT8;
    QuantizedFile::Type(node, "out_type", type);
    tf::NodeDef& y = file.Node("Dequantize", "y", {"r", "r:1", "r:2"});
    QuantizedFile::Type(y, "T", type);
    QuantizedFile::Text(y, "mode", per_channel ? "SCALED" : "MIN_FIRST");
    if (per_channel) QuantizedFile::Attr(y, "narrow_range").set_b(true);

    const std::vector<float> x = Numbers(10, 1.2f);
    std::vector<double> expected;
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 3; ++column) {
        int sum = 0;
        for (int k = 0; k < 5; ++k) sum += Saturated(x[row * 5 + k] / (1.55 / 255), false) * w[k * 3 + column];
        const double number = sum * (1.55 / 255) * (0.5 / 127);
        const double scale = per_channel ? 0.775 / 127 : 1.275 / 255, zero = per_channel ? 0 : 100;
        expected.push_back((Saturated(number / scale + zero, per_channel) - zero) * scale);
      }
    }
    ExpectOutputs(file.def(), {Tensor::Of<float>({1, 2, 1, 5}, x)}, expected, 1e-4);
  }
}

}  // namespace
}  // namespace halftone
