// SPDX-License-Identifier: Apache-2.0
#include "tests/tf_ops/op_cases.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/tensor_proto.h"
#include "gtest/gtest.h"

namespace halftone::testing {
namespace {

namespace tf = ::halftone::tensorflow;

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) numbers.push_back(static_cast<T>(std::strtod(word.c_str(), nullptr)));
  return numbers;
}

void ReadCases(const std::string& path, std::vector<OpCase>& cases) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word == "#" || line[0] == '#') continue;
    std::string value;
    std::getline(words >> std::ws, value);
    const size_t separator = std::min(value.find('|'), value.size());
    const std::string values = separator < value.size() ? value.substr(separator + 1) : "";
    if (word == "case") {
      cases.push_back({.file = path, .line = number, .name = value});
    } else if (word == "op") {
      cases.back().op = value;
    } else if (word == "types") {
      std::istringstream types(value);
      for (std::string type; std::getline(types, type, ',');) cases.back().types.push_back(type);
    } else if (word == "in" || word == "const") {
      OpCase::Input input{.is_constant = word == "const"};
      std::istringstream fields(value.substr(0, separator));
      fields >> input.type;
      if (!input.is_constant) fields >> input.fill;
      for (int64_t dim; fields >> dim;) input.dims.push_back(dim);
      input.values = Numbers<double>(values);
      cases.back().inputs.push_back(std::move(input));
    } else if (word == "attr") {
      OpCase::Attr attr;
      std::istringstream fields(value);
      fields >> attr.name >> attr.kind;
      std::getline(fields >> std::ws, attr.value);
      cases.back().attrs.push_back(std::move(attr));
    } else if (word == "expect") {
      cases.back().expected.push_back({Numbers<int64_t>(value.substr(0, separator)), Numbers<double>(values)});
    } else {
      ADD_FAILURE() << path << ":" << number << ": unknown keyword " << word;
    }
  }
}

DataType TypeOf(const std::string& word, DataType type) {
  return word == "$T" ? type : DataTypeFromName(word).value_or(DataType::kUnknown);
}

// Small numbers that every type represents exactly; the same as in make_cases.py.
Tensor Fill(const OpCase::Input& input, int k, DataType type) {
  const int64_t count = *CheckedProduct(input.dims);
  const bool is_unsigned = IsInteger(type) && (type == DataType::kUInt8 || type == DataType::kUInt16 ||
                                               type == DataType::kUInt32 || type == DataType::kUInt64);
  std::vector<double> values;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = (n * 37 + k * 11) % 17;
    const bool positive = input.fill == "positive";
    if (type == DataType::kBool) {
      values.push_back((n * 37 + k * 11) % 3 == 0);
    } else if (is_unsigned) {
      values.push_back(static_cast<double>(i % 7 + (positive ? 1 : 0)));
    } else if (IsInteger(type)) {
      values.push_back(static_cast<double>(positive ? i % 7 + 1 : i % 7 - 3));
    } else if (positive) {
      values.push_back(static_cast<double>(i + 1) / 4);
    } else {
      values.push_back(static_cast<double>(i - 8) / (input.fill == "unit" ? 16 : 4));
    }
  }
  return Convert(values, input.dims, type);
}

tf::AttrValue AttrOf(const OpCase::Attr& attr, DataType type) {
  tf::AttrValue value;
  const std::vector<int64_t> ints = Numbers<int64_t>(attr.value);
  if (attr.kind == "type") value.set_type(graphdef::ToTfType(TypeOf(attr.value, type)));
  if (attr.kind == "i") value.set_i(ints[0]);
  if (attr.kind == "b") value.set_b(ints[0] != 0);
  if (attr.kind == "f") value.set_f(std::strtof(attr.value.c_str(), nullptr));
  if (attr.kind == "s") value.set_s(attr.value);
  if (attr.kind == "ints") {
    for (const int64_t n : ints) value.mutable_list()->add_i(n);
  }
  if (attr.kind == "types") {
    std::istringstream words(attr.value);
    for (std::string word; words >> word;) value.mutable_list()->add_type(graphdef::ToTfType(TypeOf(word, type)));
  }
  if (attr.kind == "shape") {
    value.mutable_shape();
    for (const int64_t n : ints) value.mutable_shape()->add_dim()->set_size(n);
  }
  return value;
}

void Set(tf::NodeDef& node, const std::string& name, tf::AttrValue value) {
  tf::AttrEntry& entry = *node.add_attr();
  entry.set_key(name);
  *entry.mutable_value() = std::move(value);
}

tf::AttrValue TypeAttr(DataType type) {
  tf::AttrValue value;
  value.set_type(graphdef::ToTfType(type));
  return value;
}

}  // namespace

std::vector<OpCase> ReadCases() {
  std::vector<OpCase> cases;
  for (const char* path : {"tests/tf_ops/cases.txt", "tests/tf_ops/integer_cases.txt"}) ReadCases(path, cases);
  return cases;
}

Tensor Convert(const std::vector<double>& values, const std::vector<int64_t>& dims, DataType type) {
  Tensor wide(DataType::kFloat64, dims);
  std::copy(values.begin(), values.end(), wide.mutable_data<double>().begin());
  const absl::StatusOr<Tensor> tensor = wide.ConvertTo(type);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

tf::GraphDef FileOf(const OpCase& c, DataType type, std::vector<Tensor>& fed) {
  tf::GraphDef def;
  def.mutable_versions()->set_producer(1000);
  tf::NodeDef node;
  node.set_name("y");
  node.set_op(c.op);
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    const OpCase::Input& input = c.inputs[k];
    tf::NodeDef& source = *def.add_node();
    source.set_name(Concat("x", k));
    source.set_op(input.is_constant ? "Const" : "Placeholder");
    const DataType input_type = TypeOf(input.type, type);
    Set(source, "dtype", TypeAttr(input_type));
    tf::AttrValue value;
    if (input.is_constant) {
      *value.mutable_tensor() = graphdef::EncodeTensor(Convert(input.values, input.dims, input_type));
      Set(source, "value", std::move(value));
    } else {
      *value.mutable_shape() = graphdef::EncodeShape(Shape::Of(input.dims));
      Set(source, "shape", std::move(value));
      fed.push_back(Fill(input, static_cast<int>(k), input_type));
    }
    node.add_input(source.name());
  }
  for (const OpCase::Attr& attr : c.attrs) Set(node, attr.name, AttrOf(attr, type));
  *def.add_node() = std::move(node);
  return def;
}

}  // namespace halftone::testing
