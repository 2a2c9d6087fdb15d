// SPDX-License-Identifier: Apache-2.0
// A GraphDef of TensorFlow's ops on quantized tensors, built node by node, and what it must compute.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_QUANTIZED_FILE_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_QUANTIZED_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone::testing {

class QuantizedFile {
 public:
  tensorflow::NodeDef& Node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs) {
    tensorflow::NodeDef& node = *def_.add_node();
    node.set_op(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }
  // Found or added.
  static tensorflow::AttrValue& Attr(tensorflow::NodeDef& node, const std::string& name) {
    for (tensorflow::AttrEntry& entry : *node.mutable_attr()) {
      if (entry.key() == name) return *entry.mutable_value();
    }
    tensorflow::AttrEntry& entry = *node.add_attr();
    entry.set_key(name);
    return *entry.mutable_value();
  }
  static void Type(tensorflow::NodeDef& node, const std::string& name, tensorflow::DataType type) {
    Attr(node, name).set_type(type);
  }
  static void Text(tensorflow::NodeDef& node, const std::string& name, const std::string& text) {
    Attr(node, name).set_s(text);
  }
  static void Ints(tensorflow::NodeDef& node, const std::string& name, const std::vector<int64_t>& ints) {
    for (const int64_t i : ints) Attr(node, name).mutable_list()->add_i(i);
  }

  void Input(const std::string& name, const std::vector<int64_t>& dims) {
    tensorflow::NodeDef& node = Node("Placeholder", name, {});
    Type(node, "dtype", tensorflow::DT_FLOAT);
    for (const int64_t dim : dims) Attr(node, "shape").mutable_shape()->add_dim()->set_size(dim);
  }
  void Floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& numbers) {
    tensorflow::TensorProto& tensor = Tensor(name, dims, tensorflow::DT_FLOAT);
    for (const float number : numbers) tensor.add_float_val(number);
  }
  void Bytes(const std::string& name, const std::vector<int64_t>& dims, tensorflow::DataType type,
             const std::vector<int>& numbers) {
    tensorflow::TensorProto& tensor = Tensor(name, dims, type);
    for (const int number : numbers) tensor.mutable_tensor_content()->push_back(static_cast<char>(number));
  }
  void Words(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int>& numbers) {
    tensorflow::TensorProto& tensor = Tensor(name, dims, tensorflow::DT_QINT32);
    for (const int number : numbers) tensor.add_int_val(number);
  }
  void Ends(const std::string& name, float low, float high) {
    Floats(name + "_min", {}, {low});
    Floats(name + "_max", {}, {high});
  }
  // A quantization of `x` to bytes called `name`, by these ends.
  void Quantize(const std::string& name, const std::string& x, float low, float high, tensorflow::DataType type,
                const std::string& mode) {
    Ends(name, low, high);
    tensorflow::NodeDef& node = Node("QuantizeV2", name, {x, name + "_min", name + "_max"});
    Type(node, "T", type);
    Text(node, "mode", mode);
    Text(node, "round_mode", "HALF_TO_EVEN");
  }
  void Dequantize(const std::string& x, tensorflow::DataType type, const std::string& mode) {
    tensorflow::NodeDef& node = Node("Dequantize", "y", {x, x + ":1", x + ":2"});
    Type(node, "T", type);
    Text(node, "mode", mode);
  }
  tensorflow::GraphDef& def() { return def_; }

 private:
  tensorflow::TensorProto& Tensor(const std::string& name, const std::vector<int64_t>& dims,
                                  tensorflow::DataType type) {
    tensorflow::NodeDef& node = Node("Const", name, {});
    Type(node, "dtype", type);
    tensorflow::TensorProto& tensor = *Attr(node, "value").mutable_tensor();
    tensor.set_dtype(type);
    for (const int64_t dim : dims) tensor.mutable_tensor_shape()->add_dim()->set_size(dim);
    return tensor;
  }
  tensorflow::GraphDef def_;
};

// What the file computes as it is read, folded for running, and read from a file that we wrote of it.
void ExpectNumbers(const tensorflow::GraphDef& def, const std::vector<Tensor>& inputs,
                   const std::vector<double>& expected, double step, Graph& folded);
// ... with contractions and what is between them in integers. `requantizes`: integers go from one quantization to another
// in between.
void ExpectOutputs(const tensorflow::GraphDef& def, const std::vector<Tensor>& inputs,
                   const std::vector<double>& expected, double step, bool requantizes = false);

// The same ones of both signs up to about `spread`, each time.
std::vector<float> Numbers(int count, float spread);
std::vector<int> SomeBytes(int count, int low, int high);

// The byte that a number is rounded to.
int Saturated(double x, bool is_signed);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_QUANTIZED_FILE_H_
