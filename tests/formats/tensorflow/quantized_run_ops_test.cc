// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops on quantized tensors whose ranges the run finds, as quantize_graph.py's unfrozen stage has them,
// read and computed, against loops over the steps that its kernels have.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/ops.h"
#include "ir/tensor.h"
#include "tests/formats/tensorflow/quantized_file.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using testing::ExpectNumbers;
using ::testing::HasSubstr;
using testing::Numbers;
using testing::QuantizedFile;
using testing::SomeBytes;
using Reals = std::vector<double>;

// A step of the range is one of 255; halves go away from 0. (quantization_utils.h)
Reals Rounded(const Reals& numbers, double low, double high) {
  const double step = (high - low) / 255;
  const double first = step == 0 ? 0 : std::round(low / step);
  Reals rounded;
  for (const double x : numbers) {
    const double q = step == 0 ? 0 : std::clamp(std::round(x / step) - first, 0.0, 255.0);
    rounded.push_back(step == 0 ? low : (q + first) * step);
  }
  return rounded;
}
double Least(const Reals& x) { return *std::min_element(x.begin(), x.end()); }
double Largest(const Reals& x) { return *std::max_element(x.begin(), x.end()); }
// QuantizeV2 by Min and Max, and RequantizationRange.
Reals Quantized(const Reals& x) { return Rounded(x, std::min(0.0, Least(x)), std::max(0.0, Largest(x))); }
Reals Requantized(const Reals& x) { return Rounded(x, std::min(0.0, Least(x)), Largest(x)); }

class FileOfRun : public QuantizedFile {
 public:
  void Dims(const std::string& name, const std::vector<int>& dims) {
    tf::NodeDef& node = Node("Const", name, {});
    Type(node, "dtype", tf::DT_INT32);
    tf::TensorProto& tensor = *Attr(node, "value").mutable_tensor();
    tensor.set_dtype(tf::DT_INT32);
    tensor.mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(dims.size()));
    for (const int dim : dims) tensor.add_int_val(dim);
  }
  // OP_eightbit_{reshape,min,max,quantize}_X; the name of the last.
  std::string Prologue(const std::string& op, const std::string& x) {
    const auto name = [&](const char* word) { return Concat(op, "_eightbit_", word, "_", x); };
    Dims(name("reshape_dims"), {-1});
    Dims(name("reduction_dims"), {0});
    Type(Node("Reshape", name("reshape"), {x, name("reshape_dims")}), "T", tf::DT_FLOAT);
    for (const auto& [kind, word] : {std::pair("Min", "min"), std::pair("Max", "max")}) {
      Type(Node(kind, name(word), {name("reshape"), name("reduction_dims")}), "T", tf::DT_FLOAT);
    }
    tf::NodeDef& quantize = Node("QuantizeV2", name("quantize"), {x, name("min"), name("max")});
    Type(quantize, "T", tf::DT_QUINT8);
    Text(quantize, "mode", "MIN_FIRST");
    return name("quantize");
  }
  // OP_eightbit_requant_range and OP_eightbit_requantize behind sums; the name of the last.
  std::string Epilogue(const std::string& op, const std::string& sums) {
    const std::string range = op + "_eightbit_requant_range", last = op + "_eightbit_requantize";
    Type(Node("RequantizationRange", range, {sums, sums + ":1", sums + ":2"}), "Tinput", tf::DT_QINT32);
    tf::NodeDef& down = Node("Requantize", last, {sums, sums + ":1", sums + ":2", range, range + ":1"});
    Type(down, "Tinput", tf::DT_QINT32);
    Type(down, "out_type", tf::DT_QUINT8);
    return last;
  }
};

// Of u8 by [-0.4, 0.62]: steps of 0.004, zero 100.
Reals WeightsOf(const std::vector<int>& bytes) {
  Reals numbers;
  for (const int byte : bytes) numbers.push_back((byte - 100) * 0.004);
  return numbers;
}

// [rows, depth] times [depth, columns].
Reals Product(const Reals& x, const Reals& w, int depth, int columns) {
  Reals y;
  for (size_t row = 0; row < x.size() / depth; ++row) {
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int k = 0; k < depth; ++k) sum += x[row * depth + k] * w[k * columns + column];
      y.push_back(sum);
    }
  }
  return y;
}

int CountOf(const Graph& graph, OpKind op) {
  const std::vector<NodeId> nodes = graph.nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.op(id) == op; }));
}

// MatMul + BiasAdd + Relu, each of them in eight bits. The product is one of integers.
TEST(QuantizedByRun, MatMulBiasAddReluOfQuantizeGraph) {
  FileOfRun file;
  file.Input("x", {2, 5});
  const std::string q = file.Prologue("m", "x");
  const std::vector<int> w = SomeBytes(15, 0, 255), b = {3, 100, 250};
  file.Bytes("w", {5, 3}, tf::DT_QUINT8, w);
  file.Ends("w", -0.4f, 0.62f);
  file.Bytes("b", {3}, tf::DT_QUINT8, b);
  file.Ends("b", -0.4f, 0.62f);
  tf::NodeDef& product =
      file.Node("QuantizedMatMul", "m_eightbit_quantized_mat_mul", {q, "w", q + ":1", q + ":2", "w_min", "w_max"});
  for (const char* type : {"T1", "T2"}) QuantizedFile::Type(product, type, tf::DT_QUINT8);
  QuantizedFile::Type(product, "Toutput", tf::DT_QINT32);
  const std::string m = file.Epilogue("m", "m_eightbit_quantized_mat_mul");
  tf::NodeDef& add = file.Node("QuantizedBiasAdd", "a_sum", {m, "b", m + ":1", m + ":2", "b_min", "b_max"});
  for (const char* type : {"T1", "T2"}) QuantizedFile::Type(add, type, tf::DT_QUINT8);
  QuantizedFile::Type(add, "out_type", tf::DT_QINT32);
  const std::string a = file.Epilogue("a", "a_sum");
  tf::NodeDef& relu = file.Node("QuantizedRelu", "r", {a, a + ":1", a + ":2"});
  QuantizedFile::Type(relu, "Tinput", tf::DT_QUINT8);
  QuantizedFile::Type(relu, "out_type", tf::DT_QUINT8);
  file.Dequantize("r", tf::DT_QUINT8, "MIN_FIRST");

  const std::vector<float> x = Numbers(10, 1.2f);
  Reals y = Requantized(Product(Quantized(Reals(x.begin(), x.end())), WeightsOf(w), 5, 3));
  const Reals bias = WeightsOf(b);
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % 3];
  y = Requantized(y);
  for (double& number : y) number = std::max(number, 0.0);
  Graph folded;
  ExpectNumbers(file.def(), {Tensor::Of<float>({2, 5}, x)}, y, 1e-5, folded);
  EXPECT_EQ(CountOf(folded, OpKind::kMatMulIntegerToFloat), 1);
  EXPECT_EQ(CountOf(folded, OpKind::kMatMul), 0);
}

// Conv2D + BiasAdd + Relu, in one op of Intel's, and two of them in a row: the second reads what the first wrote.
TEST(QuantizedByRun, ConvolutionsOfQuantizeGraph) {
  FileOfRun file;
  file.Input("x", {1, 2, 3, 2});
  std::string q = file.Prologue("c0", "x");
  const std::vector<float> x = Numbers(12, 1.4f);
  Reals y = Quantized(Reals(x.begin(), x.end()));
  for (const char* op : {"c0", "c1"}) {
    const int depth = std::string(op) == "c0" ? 2 : 3, columns = 5 - depth;
    const std::string weights = Concat(op, "_w");
    const std::vector<int> w = SomeBytes(6, -127, 127);
    file.Bytes(weights, {1, 1, depth, columns}, tf::DT_QINT8, w);
    file.Ends(weights, -0.5f, 0.5f);
    const std::vector<float> bias = {0.1f, -0.2f, 0.3f};
    file.Floats(Concat(op, "_b"), {columns}, {bias.begin(), bias.begin() + columns});
    tf::NodeDef& conv =
        file.Node("QuantizedConv2DWithBiasAndRelu", Concat(op, "_sums"),
                  {q, weights, Concat(op, "_b"), q + ":1", q + ":2", weights + "_min", weights + "_max"});
    QuantizedFile::Type(conv, "Tinput", tf::DT_QUINT8);
    QuantizedFile::Type(conv, "Tfilter", tf::DT_QINT8);
    QuantizedFile::Type(conv, "out_type", tf::DT_QINT32);
    QuantizedFile::Ints(conv, "strides", {1, 1, 1, 1});
    QuantizedFile::Text(conv, "padding", "VALID");
    q = file.Epilogue(op, Concat(op, "_sums"));
    Reals numbers;
    for (const int byte : w) numbers.push_back(byte * 0.5 / 127);
    y = Product(y, numbers, depth, columns);
    for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(y[i] + bias[i % columns], 0.0);
    y = Requantized(y);
  }
  file.Dequantize(q, tf::DT_QUINT8, "MIN_FIRST");
  Graph folded;
  ExpectNumbers(file.def(), {Tensor::Of<float>({1, 2, 3, 2}, x)}, y, 1e-5, folded);
  EXPECT_EQ(CountOf(folded, OpKind::kConv), 2);
}

// Sums that are negative everywhere: their range ends below 0. And sums that are all the same, whose range is a point.
TEST(QuantizedByRun, RangesThatEndBelowZero) {
  for (const bool one_number : {false, true}) {
    FileOfRun file;
    file.Input("x", {2, 3});
    const std::string q = file.Prologue("m", "x");
    const std::vector<int> w = one_number ? std::vector<int>(6, 0) : SomeBytes(6, 0, 90);
    file.Bytes("w", {3, 2}, tf::DT_QUINT8, w);
    file.Ends("w", -0.4f, 0.62f);
    tf::NodeDef& product = file.Node("QuantizedMatMul", "sums", {q, "w", q + ":1", q + ":2", "w_min", "w_max"});
    for (const char* type : {"T1", "T2"}) QuantizedFile::Type(product, type, tf::DT_QUINT8);
    file.Dequantize(file.Epilogue("m", "sums"), tf::DT_QUINT8, "MIN_FIRST");
    std::vector<float> x = {1.5f, 1.4f, 1.3f, 1.2f, 1.1f, 1.0f};
    if (one_number) x = std::vector<float>(6, 1.5f);
    const Reals y = Requantized(Product(Quantized(Reals(x.begin(), x.end())), WeightsOf(w), 3, 2));
    Graph folded;
    ExpectNumbers(file.def(), {Tensor::Of<float>({2, 3}, x)}, y, 1e-5, folded);
  }
}

// Ends that are neither constants nor those of the numbers: inputs here.
TEST(QuantizedByRun, EndsFromElsewhere) {
  struct Mode {
    const char* name;
    tf::DataType type;
    float low, high;
    double scale, lowest, highest;  // of the steps
  };
  for (const Mode& mode : {Mode{"MIN_FIRST", tf::DT_QUINT8, -1.0f, 1.55f, 0.01, -100, 155},
                           Mode{"MIN_FIRST", tf::DT_QINT8, 0.5f, 2.55f, 0.01, 0, 255},
                           Mode{"MIN_FIRST", tf::DT_QUINT8, 0.0f, 0.0f, 0.01 / 255, 0, 255},
                           Mode{"SCALED", tf::DT_QUINT8, -1.0f, 2.55f, 0.01, 0, 255},
                           Mode{"SCALED", tf::DT_QINT8, -1.28f, 0.5f, 0.01, -128, 127}}) {
    SCOPED_TRACE(Concat(mode.name, " ", mode.low));
    QuantizedFile file;
    file.Input("x", {12});
    file.Input("low", {});
    file.Input("high", {});
    tf::NodeDef& quantize = file.Node("QuantizeV2", "q", {"x", "low", "high"});
    QuantizedFile::Type(quantize, "T", mode.type);
    QuantizedFile::Text(quantize, "mode", mode.name);
    file.Dequantize("q", mode.type, mode.name);
    const std::vector<float> x = Numbers(12, 3.01f);
    Reals expected;
    for (const float number : x) {
      expected.push_back(std::clamp(std::round(number / mode.scale), mode.lowest, mode.highest) * mode.scale);
    }
    Graph folded;
    ExpectNumbers(file.def(), {Tensor::Of<float>({12}, x), Tensor::Scalar(mode.low), Tensor::Scalar(mode.high)},
                  expected, 1e-5, folded);
  }
}

// What stands between a quantization and its end keeps the range.
TEST(QuantizedByRun, WithOneInput) {
  const std::vector<float> x = Numbers(8, 7.3f);  // means that are no halves
  const Reals rounded = Quantized(Reals(x.begin(), x.end()));
  const double low = Least(Reals(x.begin(), x.end())), high = Largest(Reals(x.begin(), x.end()));
  const auto of_channel = [&](int c) { return Reals{rounded[c], rounded[c + 2], rounded[c + 4], rounded[c + 6]}; };
  const auto mean = [&](int c) {
    double sum = 0;
    for (const double number : of_channel(c)) sum += number / 4;
    return sum;
  };
  Reals relu, relu6;
  for (const double number : rounded) relu.push_back(std::max(number, 0.0));
  for (const double number : relu) relu6.push_back(std::min(number, 6.0));
  const std::pair<const char*, Reals> ops[] = {{"QuantizedRelu", relu},
                                               {"QuantizedRelu6", Rounded(relu6, low, high)},
                                               {"QuantizedMaxPool", {Largest(of_channel(0)), Largest(of_channel(1))}},
                                               {"QuantizedAvgPool", Rounded({mean(0), mean(1)}, low, high)},
                                               {"QuantizedReshape", rounded}};
  for (const auto& [op, expected] : ops) {
    SCOPED_TRACE(op);
    FileOfRun file;
    file.Input("x", {1, 2, 2, 2});
    const std::string q = file.Prologue("f", "x");
    const std::string name = op;
    std::vector<std::string> inputs = {q};
    if (name == "QuantizedReshape") file.Dims("shape", {2, 4});
    if (name == "QuantizedReshape") inputs.push_back("shape");
    inputs.insert(inputs.end(), {q + ":1", q + ":2"});
    tf::NodeDef& node = file.Node(op, "f", inputs);
    const bool is_relu = name.find("Relu") != std::string::npos;
    QuantizedFile::Type(node, is_relu ? "Tinput" : "T", tf::DT_QUINT8);
    if (is_relu) QuantizedFile::Type(node, "out_type", tf::DT_QUINT8);
    if (name.ends_with("Pool")) {
      QuantizedFile::Ints(node, "ksize", {1, 2, 2, 1});
      QuantizedFile::Ints(node, "strides", {1, 1, 1, 1});
      QuantizedFile::Text(node, "padding", "VALID");
    }
    file.Dequantize("f", tf::DT_QUINT8, "MIN_FIRST");
    Graph folded;
    ExpectNumbers(file.def(), {Tensor::Of<float>({1, 2, 2, 2}, x)}, expected, 2e-5, folded);
  }
}

// Two ranges become one that holds both.
TEST(QuantizedByRun, Concat) {
  FileOfRun file;
  file.Input("x", {2, 2});
  file.Input("z", {2, 1});
  const std::string a = file.Prologue("a", "x"), b = file.Prologue("b", "z");
  tf::NodeDef& axis = file.Node("Const", "axis", {});
  QuantizedFile::Type(axis, "dtype", tf::DT_INT32);
  QuantizedFile::Attr(axis, "value").mutable_tensor()->set_dtype(tf::DT_INT32);
  QuantizedFile::Attr(axis, "value").mutable_tensor()->mutable_tensor_shape();
  QuantizedFile::Attr(axis, "value").mutable_tensor()->add_int_val(1);
  tf::NodeDef& node = file.Node("QuantizedConcatV2", "c", {a, b, "axis", a + ":1", b + ":1", a + ":2", b + ":2"});
  QuantizedFile::Type(node, "T", tf::DT_QUINT8);
  QuantizedFile::Attr(node, "N").set_i(2);
  file.Dequantize("c", tf::DT_QUINT8, "MIN_FIRST");
  const std::vector<float> x = {-0.7f, 0.31f, 0.9f, -0.2f}, z = {1.7f, 0.5f};
  const Reals p = Quantized(Reals(x.begin(), x.end())), r = Quantized(Reals(z.begin(), z.end()));
  Graph folded;
  ExpectNumbers(file.def(), {Tensor::Of<float>({2, 2}, x), Tensor::Of<float>({2, 1}, z)},
                Rounded({p[0], p[1], r[0], p[2], p[3], r[1]}, -0.7f, 1.7f), 1e-5, folded);
}

// One range of the weights a column; the result has one range, which clip_value_max holds.
TEST(QuantizedByRun, RangesPerChannel) {
  for (const float clip : {100.0f, 0.5f}) {
    FileOfRun file;
    file.Input("x", {2, 5});
    const std::string q = file.Prologue("m", "x");
    const std::vector<int> w = SomeBytes(15, -127, 127);
    file.Bytes("w", {5, 3}, tf::DT_QINT8, w);
    file.Floats("w_min", {3}, {-0.5f, -0.25f, -1.0f});
    file.Floats("w_max", {3}, {0.5f, 0.25f, 1.0f});
    file.Floats("b", {3}, {0.3f, -1.0f, 0.7f});
    tf::NodeDef& product =
        file.Node("QuantizedMatMulWithBias", "sums", {q, "w", "b", q + ":1", q + ":2", "w_min", "w_max"});
    QuantizedFile::Type(product, "T1", tf::DT_QUINT8);
    QuantizedFile::Type(product, "T2", tf::DT_QINT8);
    QuantizedFile::Type(product, "Tbias", tf::DT_FLOAT);
    tf::NodeDef& range = file.Node("RequantizationRangePerChannel", "range", {"sums", "sums:1", "sums:2"});
    QuantizedFile::Attr(range, "clip_value_max").set_f(clip);
    tf::NodeDef& down = file.Node("RequantizePerChannel", "down", {"sums", "sums:1", "sums:2", "range", "range:1"});
    QuantizedFile::Type(down, "out_type", tf::DT_QINT8);
    file.Dequantize("down", tf::DT_QINT8, "SCALED");
    const std::vector<float> x = Numbers(10, 1.2f);
    const double largest[] = {0.5, 0.25, 1};
    Reals weights;
    for (size_t i = 0; i < w.size(); ++i) weights.push_back(w[i] * largest[i % 3] / 127);
    Reals y = Product(Quantized(Reals(x.begin(), x.end())), weights, 5, 3);
    const double bias[] = {0.3f, -1.0, 0.7f};
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % 3];
    const double scale = std::min<double>(clip, std::max(-Least(y), Largest(y))) / 127;
    for (double& number : y) number = std::clamp(std::nearbyint(number / scale), -128.0, 127.0) * scale;
    Graph folded;
    ExpectNumbers(file.def(), {Tensor::Of<float>({2, 5}, x)}, y, 1e-5, folded);
    EXPECT_EQ(CountOf(folded, OpKind::kMatMulIntegerToFloat), 1);
  }
}

TEST(QuantizedByRun, WhatIsRefused) {
  const auto message = [](FileOfRun& file) {
    return std::string(ImportGraphDef(file.def().SerializeAsString(), false, {.outputs = {"y"}}).status().message());
  };
  FileOfRun combined;
  combined.Input("x", {4});
  const std::string q = combined.Prologue("m", "x");
  for (tf::NodeDef& node : *combined.def().mutable_node()) {
    if (node.name() == q) QuantizedFile::Text(node, "mode", "MIN_COMBINED");
  }
  combined.Dequantize(q, tf::DT_QUINT8, "MIN_COMBINED");
  EXPECT_THAT(message(combined), HasSubstr("mode MIN_COMBINED with a range that is computed"));

  FileOfRun words;
  words.Input("x", {2, 2});
  const std::string a = words.Prologue("m", "x");
  words.Bytes("w", {2, 1}, tf::DT_QINT8, {1, 2});
  words.Ends("w", -1, 1);
  words.Words("b", {1}, {7});
  tf::NodeDef& product =
      words.Node("QuantizedMatMulWithBias", "sums", {a, "w", "b", a + ":1", a + ":2", "w_min", "w_max"});
  QuantizedFile::Type(product, "T1", tf::DT_QUINT8);
  QuantizedFile::Type(product, "T2", tf::DT_QINT8);
  QuantizedFile::Type(product, "Tbias", tf::DT_QINT32);
  words.Dequantize("sums", tf::DT_QINT32, "SCALED");
  EXPECT_THAT(message(words), HasSubstr("a bias of 32 bits"));
}

}  // namespace
}  // namespace halftone
