// SPDX-License-Identifier: Apache-2.0
// TensorFlow's products and sums of quantized tensors, read and computed, against loops over the integers that its
// kernels have.

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

// [2,5] times [5,3]; with MIN_FIRST x has a zero point.
void CheckMatMul(const std::string& op, const std::string& mode, bool bias_is_words) {
  SCOPED_TRACE(Concat(op, " ", mode));
  const auto has = [&](const char* word) { return op.find(word) != std::string::npos; };
  const bool bias = has("WithBias"), requantizes = has("AndRequantize"), affine = mode == "MIN_FIRST";
  const bool dequantizes = has("AndDequantize");
  QuantizedFile file;
  file.Input("x", {2, 5});
  file.Quantize("q", "x", affine ? -1.0f : 0.0f, 1.55f, tf::DT_QUINT8, mode);
  const std::vector<int> w = bias ? SomeBytes(15, -127, 127) : SomeBytes(15, 0, 255);
  file.Bytes("w", {5, 3}, bias ? tf::DT_QINT8 : tf::DT_QUINT8, w);
  file.Ends("w", bias ? -0.5f : -0.4f, bias ? 0.5f : 0.62f);
  std::vector<std::string> inputs = {"q", "w"};
  const std::vector<float> numbers = {0.3f, -1.0f, 0.7f};
  const std::vector<int> words = {200, -3000, 4000};
  if (bias) inputs.push_back("b");
  if (bias && bias_is_words) file.Words("b", {3}, words);
  if (bias && !bias_is_words) file.Floats("b", {3}, numbers);
  for (const char* end : {"q:1", "q:2", "w_min", "w_max"}) inputs.push_back(end);
  if (requantizes || dequantizes) file.Ends("out", 0.0f, 2.0f);
  if (requantizes || dequantizes) inputs.insert(inputs.end(), {"out_min", "out_max"});
  tf::NodeDef& node = file.Node(op, dequantizes ? "y" : "m", inputs);
  QuantizedFile::Type(node, "T1", tf::DT_QUINT8);
  QuantizedFile::Type(node, "T2", bias ? tf::DT_QINT8 : tf::DT_QUINT8);
  const tf::DataType out_type = requantizes ? tf::DT_QUINT8 : dequantizes ? tf::DT_FLOAT : tf::DT_QINT32;
  QuantizedFile::Type(node, "Toutput", out_type);
  if (bias && op != "QuantizedMatMulWithBiasAndRelu")
    QuantizedFile::Type(node, "Tbias", bias_is_words ? tf::DT_QINT32 : tf::DT_FLOAT);
  if (bias) QuantizedFile::Text(node, "input_quant_mode", mode);
  if (!dequantizes) file.Dequantize("m", out_type, "SCALED");

  const std::vector<float> x = Numbers(10, 1.2f);
  const double x_scale = affine ? 2.55 / 255 : 1.55 / 255, x_zero = affine ? 100 : 0;
  const double w_scale = bias ? 0.5 / 127 : 1.02 / 255, w_zero = bias ? 0 : 100;
  std::vector<double> expected;
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      double sum = 0;
      // A bias of 32 bits is added to the products of the integers as they are: it has the zero point's share in it.
      const double offset = bias_is_words ? 0 : x_zero;
      for (int k = 0; k < 5; ++k) {
        sum += (Saturated(x[row * 5 + k] / x_scale + x_zero, false) - offset) * (w[k * 3 + column] - w_zero);
      }
      double number = sum * x_scale * w_scale;
      if (bias) number += bias_is_words ? words[column] * x_scale * w_scale : numbers[column];
      if (has("AndRelu")) number = std::max(number, 0.0);
      expected.push_back(requantizes ? Saturated(number / (2.0 / 255), false) * (2.0 / 255) : number);
    }
  }
  ExpectOutputs(file.def(), {Tensor::Of<float>({2, 5}, x)}, expected, 1e-4);
}

TEST(QuantizedOps, Products) {
  CheckMatMul("QuantizedMatMul", "MIN_FIRST", false);
  for (const char* mode : {"MIN_FIRST", "SCALED"}) {
    CheckMatMul("QuantizedMatMulWithBias", mode, false);
    CheckMatMul("QuantizedMatMulWithBias", mode, true);
    CheckMatMul("QuantizedMatMulWithBiasAndRelu", mode, false);
    CheckMatMul("QuantizedMatMulWithBiasAndReluAndRequantize", mode, false);
    CheckMatMul("QuantizedMatMulWithBiasAndReluAndRequantize", mode, true);
    CheckMatMul("QuantizedMatMulWithBiasAndRequantize", mode, false);
    CheckMatMul("QuantizedMatMulWithBiasAndRequantize", mode, true);
    CheckMatMul("QuantizedMatMulWithBiasAndDequantize", mode, false);
    CheckMatMul("QuantizedMatMulWithBiasAndDequantize", mode, true);
  }
}

// Sums and products of two quantized tensors, of which the second is one row.
TEST(QuantizedOps, SumsAndProductsOfElements) {
  for (const char* op : {"QuantizedAdd", "QuantizedMul"}) {
    SCOPED_TRACE(op);
    QuantizedFile file;
    file.Input("x", {2, 3});
    file.Input("z", {3});
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    file.Quantize("zq", "z", -0.4f, 2.15f, tf::DT_QUINT8, "MIN_FIRST");
    tf::NodeDef& node = file.Node(op, "m", {"q", "zq", "q:1", "q:2", "zq:1", "zq:2"});
    for (const char* type : {"T1", "T2"}) QuantizedFile::Type(node, type, tf::DT_QUINT8);
    file.Ends("out", -3.0f, 4.65f);
    tf::NodeDef& down = file.Node("Requantize", "r", {"m", "m:1", "m:2", "out_min", "out_max"});
    QuantizedFile::Type(down, "Tinput", tf::DT_QINT32);
    QuantizedFile::Type(down, "out_type", tf::DT_QUINT8);
    file.Dequantize("r", tf::DT_QUINT8, "MIN_FIRST");
    const std::vector<float> x = Numbers(6, 1.2f), z = Numbers(3, 1.9f);
    std::vector<double> expected;
    for (int i = 0; i < 6; ++i) {
      const double a = (Saturated(x[i] / 0.01 + 100, false) - 100) * 0.01;
      const double b = (Saturated(z[i % 3] / 0.01 + 40, false) - 40) * 0.01;
      const double number = std::string(op) == "QuantizedAdd" ? a + b : a * b;
      expected.push_back((Saturated(number / 0.03 + 100, false) - 100) * 0.03);
    }
    ExpectOutputs(file.def(), {Tensor::Of<float>({2, 3}, x), Tensor::Of<float>({3}, z)}, expected, 1e-4);
  }
}

}  // namespace
}  // namespace halftone
