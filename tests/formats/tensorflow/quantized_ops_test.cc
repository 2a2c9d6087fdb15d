// TensorFlow's ops on quantized tensors, read and computed, against loops over the integers that its kernels have.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/ops.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::HasSubstr;

// ---- Files.

class File {
 public:
  tf::NodeDef& Node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs) {
    tf::NodeDef& node = *def_.add_node();
    node.set_op(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }
  static tf::AttrValue& Attr(tf::NodeDef& node, const std::string& name) {
    tf::AttrEntry& entry = *node.add_attr();
    entry.set_key(name);
    return *entry.mutable_value();
  }
  static void Type(tf::NodeDef& node, const std::string& name, tf::DataType type) { Attr(node, name).set_type(type); }
  static void Text(tf::NodeDef& node, const std::string& name, const std::string& text) {
    Attr(node, name).set_s(text);
  }
  static void Ints(tf::NodeDef& node, const std::string& name, const std::vector<int64_t>& ints) {
    for (const int64_t i : ints) Attr2(node, name).mutable_list()->add_i(i);
  }

  void Input(const std::string& name, const std::vector<int64_t>& dims) {
    tf::NodeDef& node = Node("Placeholder", name, {});
    Type(node, "dtype", tf::DT_FLOAT);
    for (const int64_t dim : dims) Attr2(node, "shape").mutable_shape()->add_dim()->set_size(dim);
  }
  void Floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& numbers) {
    tf::TensorProto& tensor = Tensor(name, dims, tf::DT_FLOAT);
    for (const float number : numbers) tensor.add_float_val(number);
  }
  void Bytes(const std::string& name, const std::vector<int64_t>& dims, tf::DataType type,
             const std::vector<int>& numbers) {
    tf::TensorProto& tensor = Tensor(name, dims, type);
    for (const int number : numbers) tensor.mutable_tensor_content()->push_back(static_cast<char>(number));
  }
  void Words(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int>& numbers) {
    tf::TensorProto& tensor = Tensor(name, dims, tf::DT_QINT32);
    for (const int number : numbers) tensor.add_int_val(number);
  }
  void Ends(const std::string& name, float low, float high) {
    Floats(name + "_min", {}, {low});
    Floats(name + "_max", {}, {high});
  }
  // A quantization of `x` to bytes called `name`, by these ends.
  void Quantize(const std::string& name, const std::string& x, float low, float high, tf::DataType type,
                const std::string& mode) {
    Ends(name, low, high);
    tf::NodeDef& node = Node("QuantizeV2", name, {x, name + "_min", name + "_max"});
    Type(node, "T", type);
    Text(node, "mode", mode);
    Text(node, "round_mode", "HALF_TO_EVEN");
  }
  void Dequantize(const std::string& x, tf::DataType type, const std::string& mode) {
    tf::NodeDef& node = Node("Dequantize", "y", {x, x + ":1", x + ":2"});
    Type(node, "T", type);
    Text(node, "mode", mode);
  }
  tf::GraphDef& def() { return def_; }

 private:
  static tf::AttrValue& Attr2(tf::NodeDef& node, const std::string& name) {
    for (tf::AttrEntry& entry : *node.mutable_attr()) {
      if (entry.key() == name) return *entry.mutable_value();
    }
    return Attr(node, name);
  }
  tf::TensorProto& Tensor(const std::string& name, const std::vector<int64_t>& dims, tf::DataType type) {
    tf::NodeDef& node = Node("Const", name, {});
    Type(node, "dtype", type);
    tf::TensorProto& tensor = *Attr2(node, "value").mutable_tensor();
    tensor.set_dtype(type);
    for (const int64_t dim : dims) tensor.mutable_tensor_shape()->add_dim()->set_size(dim);
    return tensor;
  }
  tf::GraphDef def_;
};

void ExpectLegal(const tf::GraphDef& def) {
  const auto path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value()) return;
  auto registry = testing::ReadRegistry(*path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  registry->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kOneDnn));
  EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
}

// What the file computes as it is read, squashed for running, and read from a file that we wrote of it. `requantizes`:
// integers go from one quantization to another in between.
void ExpectAnswers(const tf::GraphDef& def, const std::vector<Tensor>& inputs, const std::vector<double>& expected,
                   double step, bool requantizes = false) {
  ExpectLegal(def);
  const absl::StatusOr<Graph> read = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(read.ok()) << read.status();
  for (const NodeId id : read->nodes()) EXPECT_NE(read->op(id), OpKind::kOpaque) << PrintGraph(*read);
  Graph squashed = *read;
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(MakeOptimizePipeline().Run(squashed, context), absl::OkStatus());
  Graph written = squashed;
  ASSERT_EQ(MakeRunPipeline().Run(squashed, context), absl::OkStatus());
  ASSERT_EQ(MakeExportPipeline(GraphFormat::kGraphDef).Run(written, context), absl::OkStatus());
  const absl::StatusOr<std::string> bytes = ExportGraphDef(written, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status() << PrintGraph(written);
  const absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(again.ok()) << again.status();
  for (const Graph* graph : {&*read, const_cast<const Graph*>(&squashed), &*again}) {
    const absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateGraph(*graph, inputs);
    ASSERT_TRUE(results.ok()) << results.status() << PrintGraph(*graph);
    const std::vector<float> y = (*results)[0].ToFloats();
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], step) << i << "\n" << PrintGraph(*graph);
  }
  // Contractions read integers, and those behind which there is a quantization write them.
  for (const NodeId id : squashed.nodes()) {
    if (Info(squashed.op(id)).group != OpGroup::kContraction) continue;
    EXPECT_NE(squashed.type(squashed.input(id, 0)), DataType::kFloat32) << PrintGraph(squashed);
    EXPECT_NE(squashed.type(squashed.input(id, 1)), DataType::kFloat32) << PrintGraph(squashed);
  }
  for (const NodeId id : squashed.nodes()) {
    if (squashed.op(id) != OpKind::kQuantizeLinear || requantizes) continue;
    EXPECT_EQ(squashed.op(squashed.input(id, 0)), OpKind::kInput) << PrintGraph(squashed);
  }
}

// ---- Integers.

std::vector<float> Numbers(int count, float spread) {
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(spread * static_cast<float>((i * 37 + 11) % 101 - 47) / 50);
  return numbers;
}

std::vector<int> SomeBytes(int count, int low, int high) {
  std::vector<int> bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(low + (i * 53 + 29) % (high - low + 1));
  return bytes;
}

int Saturated(double x, bool is_signed) {
  return static_cast<int>(std::clamp(std::nearbyint(x), is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0));
}

struct EndsOf {
  float low, high;
};

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
  File file;
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
  File::Type(node, "Tinput", x_type);
  File::Type(node, "Tfilter", tf::DT_QINT8);
  File::Type(node, "out_type", out_type);
  if (c.bias && requantizes) File::Type(node, "Tbias", c.bias_is_words ? tf::DT_QINT32 : tf::DT_FLOAT);
  if (sum && requantizes) File::Type(node, "Tsummand", c.signed_summand ? tf::DT_QINT8 : tf::DT_QUINT8);
  File::Ints(node, "strides", {1, 1, 1, 1});
  File::Text(node, "padding", "SAME");
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
  ExpectAnswers(file.def(), fed, expected, 1e-4);
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

// [2,5] times [5,3]; with MIN_FIRST x has a zero point.
void CheckMatMul(const std::string& op, const std::string& mode, bool bias_is_words) {
  SCOPED_TRACE(Concat(op, " ", mode));
  const auto has = [&](const char* word) { return op.find(word) != std::string::npos; };
  const bool bias = has("WithBias"), requantizes = has("AndRequantize"), affine = mode == "MIN_FIRST";
  const bool dequantizes = has("AndDequantize");
  File file;
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
  File::Type(node, "T1", tf::DT_QUINT8);
  File::Type(node, "T2", bias ? tf::DT_QINT8 : tf::DT_QUINT8);
  const tf::DataType out_type = requantizes ? tf::DT_QUINT8 : dequantizes ? tf::DT_FLOAT : tf::DT_QINT32;
  File::Type(node, "Toutput", out_type);
  if (bias && op != "QuantizedMatMulWithBiasAndRelu")
    File::Type(node, "Tbias", bias_is_words ? tf::DT_QINT32 : tf::DT_FLOAT);
  if (bias) File::Text(node, "input_quant_mode", mode);
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
  ExpectAnswers(file.def(), {Tensor::Of<float>({2, 5}, x)}, expected, 1e-4);
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
    File file;
    file.Input("x", {2, 3});
    file.Input("z", {3});
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    file.Quantize("zq", "z", -0.4f, 2.15f, tf::DT_QUINT8, "MIN_FIRST");
    tf::NodeDef& node = file.Node(op, "m", {"q", "zq", "q:1", "q:2", "zq:1", "zq:2"});
    for (const char* type : {"T1", "T2"}) File::Type(node, type, tf::DT_QUINT8);
    file.Ends("out", -3.0f, 4.65f);
    tf::NodeDef& down = file.Node("Requantize", "r", {"m", "m:1", "m:2", "out_min", "out_max"});
    File::Type(down, "Tinput", tf::DT_QINT32);
    File::Type(down, "out_type", tf::DT_QUINT8);
    file.Dequantize("r", tf::DT_QUINT8, "MIN_FIRST");
    const std::vector<float> x = Numbers(6, 1.2f), z = Numbers(3, 1.9f);
    std::vector<double> expected;
    for (int i = 0; i < 6; ++i) {
      const double a = (Saturated(x[i] / 0.01 + 100, false) - 100) * 0.01;
      const double b = (Saturated(z[i % 3] / 0.01 + 40, false) - 40) * 0.01;
      const double number = std::string(op) == "QuantizedAdd" ? a + b : a * b;
      expected.push_back((Saturated(number / 0.03 + 100, false) - 100) * 0.03);
    }
    ExpectAnswers(file.def(), {Tensor::Of<float>({2, 3}, x), Tensor::Of<float>({3}, z)}, expected, 1e-4);
  }
}

// [1,2,3,2] and [1,2,3,1] along the channels, in both orders of inputs; integers of one range are joined as they are.
void CheckConcat(const std::string& op, tf::DataType type, const std::string& mode, EndsOf first, EndsOf second) {
  SCOPED_TRACE(Concat(op, " ", mode, " ", second.high));
  const bool is_signed = type == tf::DT_QINT8;
  File file;
  file.Input("x", {1, 2, 3, 2});
  file.Input("z", {1, 2, 3, 1});
  file.Quantize("q", "x", first.low, first.high, type, mode);
  file.Quantize("zq", "z", second.low, second.high, type, mode);
  tf::NodeDef& axis = file.Node("Const", "axis", {});
  File::Type(axis, "dtype", tf::DT_INT32);
  tf::TensorProto& tensor = *File::Attr(axis, "value").mutable_tensor();
  tensor.set_dtype(tf::DT_INT32);
  tensor.mutable_tensor_shape();
  tensor.add_int_val(3);
  const std::vector<std::string> ranges = {"q:1", "zq:1", "q:2", "zq:2"};
  std::vector<std::string> inputs = {"axis", "q", "zq"};
  if (op == "QuantizedConcatV2") std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
  inputs.insert(inputs.end(), ranges.begin(), ranges.end());
  tf::NodeDef& node = file.Node(op, "c", inputs);
  File::Type(node, "T", type);
  File::Attr(node, "N").set_i(2);
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
  ExpectAnswers(file.def(), {Tensor::Of<float>({1, 2, 3, 2}, x), Tensor::Of<float>({1, 2, 3, 1}, z)}, expected, 1e-4,
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
    File file;
    file.Input("x", {1, 2, 3, 1});
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    tf::NodeDef& size = file.Node("Const", "size", {});
    File::Type(size, "dtype", tf::DT_INT32);
    tf::TensorProto& tensor = *File::Attr(size, "value").mutable_tensor();
    tensor.set_dtype(tf::DT_INT32);
    tensor.mutable_tensor_shape()->add_dim()->set_size(2);
    for (const int dim : {4, 5}) tensor.add_int_val(dim);
    tf::NodeDef& node = file.Node("QuantizedResizeBilinear", "r", {"q", "size", "q:1", "q:2"});
    File::Type(node, "T", tf::DT_QUINT8);
    if (centers) File::Attr(node, "half_pixel_centers").set_b(true);
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
    ExpectAnswers(file.def(), {Tensor::Of<float>({1, 2, 3, 1}, x)}, expected, 0.0101);
  }
}

// quantize -> op -> dequantize, all MIN_FIRST over [-1, 1.55]: steps of 0.01, zero 100.
void CheckUnary(const std::string& op, const std::vector<int64_t>& dims, const std::vector<std::string>& more,
                const std::vector<double>& expected_steps, File& file) {
  SCOPED_TRACE(op);
  std::vector<std::string> inputs = {"q"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  inputs.insert(inputs.end(), {"q:1", "q:2"});
  tf::NodeDef& node = file.Node(op, "f", inputs);
  const bool relu = op.find("Relu") != std::string::npos;
  File::Type(node, relu ? "Tinput" : "T", tf::DT_QUINT8);
  if (relu) File::Type(node, "out_type", tf::DT_QUINT8);
  if (op.ends_with("Pool")) {
    File::Ints(node, "ksize", {1, 2, 2, 1});
    File::Ints(node, "strides", {1, 1, 1, 1});
    File::Text(node, "padding", "VALID");
  }
  file.Dequantize("f", tf::DT_QUINT8, "MIN_FIRST");
  std::vector<float> x;
  for (int i = 0; i < 8; ++i) x.push_back(static_cast<float>(i * 29 % 120 - 60) / 100);
  std::vector<double> expected;
  for (const double step : expected_steps) expected.push_back(step / 100);
  ExpectAnswers(file.def(), {Tensor::Of<float>(dims, x)}, expected, 1e-5);
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
    File file;
    file.Input("x", shape);
    file.Quantize("q", "x", -1.0f, 1.55f, tf::DT_QUINT8, "MIN_FIRST");
    return file;
  };
  File a = quantized(dims), b = quantized(dims), c = quantized(dims), d = quantized(dims);
  CheckUnary("QuantizedRelu", dims, {}, relu, a);
  CheckUnary("QuantizedMaxPool", dims, {}, {channel(0, larger), channel(1, larger)}, b);
  CheckUnary("QuantizedAvgPool", dims, {}, {std::nearbyint(channel(0, add) / 4), std::nearbyint(channel(1, add) / 4)},
             c);
  tf::NodeDef& shape = d.Node("Const", "shape", {});
  File::Type(shape, "dtype", tf::DT_INT32);
  tf::TensorProto& tensor = *File::Attr(shape, "value").mutable_tensor();
  tensor.set_dtype(tf::DT_INT32);
  tensor.mutable_tensor_shape()->add_dim()->set_size(2);
  for (const int dim : {2, 4}) tensor.add_int_val(dim);
  CheckUnary("QuantizedReshape", dims, {"shape"}, x, d);
}

// The sums of a convolution to bytes by an op of their own, with other ends than they came from.
TEST(QuantizedOps, RequantizeWithConstantEnds) {
  for (const char* op : {"Requantize", "RequantizePerChannel"}) {
    SCOPED_TRACE(op);
    File file;
    file.Input("x", {1, 2, 1, 5});
    file.Quantize("q", "x", 0.0f, 1.55f, tf::DT_QUINT8, "SCALED");
    const std::vector<int> w = SomeBytes(15, -127, 127);
    file.Bytes("w", {1, 1, 5, 3}, tf::DT_QINT8, w);
    file.Ends("w", -0.5f, 0.5f);
    tf::NodeDef& conv = file.Node("QuantizedConv2D", "conv", {"q", "w", "q:1", "q:2", "w_min", "w_max"});
    File::Type(conv, "Tinput", tf::DT_QUINT8);
    File::Type(conv, "Tfilter", tf::DT_QINT8);
    File::Ints(conv, "strides", {1, 1, 1, 1});
    File::Text(conv, "padding", "VALID");
    file.Ends("out", -0.5f, 0.775f);
    const bool per_channel = std::string(op) == "RequantizePerChannel";
    tf::NodeDef& node = file.Node(op, "r", {"conv", "conv:1", "conv:2", "out_min", "out_max"});
    File::Type(node, per_channel ? "T" : "Tinput", tf::DT_QINT32);
    const tf::DataType type = per_channel ? tf::DT_QINT8 : tf::DT_QUINT8;
    File::Type(node, "out_type", type);
    tf::NodeDef& y = file.Node("Dequantize", "y", {"r", "r:1", "r:2"});
    File::Type(y, "T", type);
    File::Text(y, "mode", per_channel ? "SCALED" : "MIN_FIRST");
    if (per_channel) File::Attr(y, "narrow_range").set_b(true);

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
    ExpectAnswers(file.def(), {Tensor::Of<float>({1, 2, 1, 5}, x)}, expected, 1e-4);
  }
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
    File file;
    file.Input("x", {12});
    file.Quantize("q", "x", mode.low, mode.high, mode.type, mode.name);
    file.Dequantize("q", mode.type, mode.name);
    const std::vector<float> x = Numbers(12, 3.01f);
    std::vector<double> expected;
    for (const float number : x) {
      const int q = Saturated(number / mode.scale + mode.zero, mode.type == tf::DT_QINT8);
      expected.push_back((q - mode.zero) * mode.scale);
    }
    ExpectAnswers(file.def(), {Tensor::Of<float>({12}, x)}, expected, 1e-5);
  }
}

TEST(QuantizedOps, RangesThatAreComputedAreRefused) {
  File file;
  file.Input("x", {3});
  file.Ends("q", 0, 1);
  tf::NodeDef& node = file.Node("QuantizeV2", "quantized_x", {"x", "x", "q_max"});
  File::Type(node, "T", tf::DT_QUINT8);
  const absl::Status status =
      ImportGraphDef(file.def().SerializeAsString(), /*is_text=*/false, {.outputs = {"quantized_x"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'quantized_x'"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("input 1 ('x')"));
}

}  // namespace
}  // namespace halftone
