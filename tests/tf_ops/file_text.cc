// SPDX-License-Identifier: Apache-2.0
#include "tests/tf_ops/file_text.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/tensor_proto.h"
#include "gtest/gtest.h"
#include "ir/tensor.h"

namespace halftone::testing {
namespace {

namespace tf = ::halftone::tensorflow;

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  const size_t end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::vector<std::string> Split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!Trimmed(text).empty()) {
    const size_t end = std::min(text.find(by), text.size());
    parts.push_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<int64_t> Ints(std::string_view text) {
  std::vector<int64_t> ints;
  for (const std::string& word : Split(text, ',')) ints.push_back(std::strtoll(word.c_str(), nullptr, 10));
  return ints;
}

// "s32[2]:4,5"; "f32:1" is a scalar.
Tensor TensorFromText(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  const size_t open = head.find('[');
  const DataType type = DataTypeFromName(head.substr(0, open)).value_or(DataType::kUnknown);
  std::vector<int64_t> dims;
  if (open != std::string_view::npos) dims = Ints(head.substr(open + 1, head.size() - open - 2));
  Tensor wide(DataType::kFloat64, dims);
  const std::vector<std::string> words = Split(text.substr(colon + 1), ',');
  EXPECT_EQ(static_cast<int64_t>(words.size()), wide.num_elements()) << text;
  for (size_t i = 0; i < words.size(); ++i) wide.mutable_data<double>()[i] = std::strtod(words[i].c_str(), nullptr);
  return *wide.ConvertTo(type);
}

tf::AttrValue AttrFromText(const std::string& name, const std::string& text) {
  tf::AttrValue value;
  const std::string inside = text.size() > 2 ? text.substr(1, text.size() - 2) : "";
  if (name == "value") {
    *value.mutable_tensor() = graphdef::EncodeTensor(TensorFromText(text));
  } else if (name == "shape" || name == "element_shape") {
    *value.mutable_shape() = graphdef::EncodeShape(text == "?" ? Shape() : Shape::Of(Ints(inside)));
  } else if (text[0] == '@') {
    value.mutable_func()->set_name(text.substr(1));
  } else if (text[0] == '"') {
    value.set_s(inside);
  } else if (text[0] == '[') {
    value.mutable_list();
    for (const int64_t n : Ints(inside)) value.mutable_list()->add_i(n);
  } else if (text[0] == '{') {
    value.mutable_list();
    for (const std::string& word : Split(inside, ','))
      value.mutable_list()->add_type(graphdef::ToTfType(*DataTypeFromName(word)));
  } else if (text == "true" || text == "false") {
    value.set_b(text == "true");
  } else if (const auto type = DataTypeFromName(text)) {
    value.set_type(graphdef::ToTfType(*type));
  } else if (text.find('.') != std::string::npos) {
    value.set_f(std::strtof(text.c_str(), nullptr));
  } else {
    value.set_i(std::strtoll(text.c_str(), nullptr, 10));
  }
  return value;
}

void Set(tf::NodeDef& node, const std::string& name, tf::AttrValue value) {
  tf::AttrEntry& entry = *node.add_attr();
  entry.set_key(name);
  *entry.mutable_value() = std::move(value);
}

tf::NodeDef NodeFromText(const std::string& line) {
  tf::NodeDef node;
  const size_t equals = line.find(" = "), open = line.find('(', equals), close = line.find(')', open);
  if (close == std::string::npos) {
    ADD_FAILURE() << "no node: " << line;
    return node;
  }
  node.set_name(Trimmed(line.substr(0, equals)));
  node.set_op(Trimmed(line.substr(equals + 3, open - equals - 3)));
  for (const std::string& input : Split(line.substr(open + 1, close - open - 1), ',')) node.add_input(input);
  std::istringstream words(line.substr(close + 1));
  for (std::string word; words >> word;) {
    const size_t at = word.find('=');
    Set(node, word.substr(0, at), AttrFromText(word.substr(0, at), word.substr(at + 1)));
    if (word.starts_with("value=")) {
      tf::AttrValue type;
      type.set_type(node.attr(node.attr_size() - 1).value().tensor().dtype());
      Set(node, "dtype", std::move(type));
    }
  }
  return node;
}

// "function g(a: s32, b: f32) -> (s32 r = sum:z:0) {"
tf::FunctionDef FunctionFromText(const std::string& line) {
  tf::FunctionDef function;
  const size_t open = line.find('('), close = line.find(')');
  const size_t open2 = line.find('(', close), close2 = line.rfind(')');
  function.mutable_signature()->set_name(Trimmed(line.substr(9, open - 9)));
  for (const std::string& word : Split(line.substr(open + 1, close - open - 1), ',')) {
    tf::OpDef::ArgDef& arg = *function.mutable_signature()->add_input_arg();
    arg.set_name(Trimmed(word.substr(0, word.find(':'))));
    arg.set_type(graphdef::ToTfType(*DataTypeFromName(Trimmed(word.substr(word.find(':') + 1)))));
  }
  for (const std::string& word : Split(line.substr(open2 + 1, close2 - open2 - 1), ',')) {
    const size_t space = word.find(' '), equals = word.find('=');
    tf::OpDef::ArgDef& result = *function.mutable_signature()->add_output_arg();
    result.set_type(graphdef::ToTfType(*DataTypeFromName(word.substr(0, space))));
    result.set_name(Trimmed(word.substr(space, equals - space)));
    tf::FunctionDef::StringEntry& ret = *function.add_ret();
    ret.set_key(result.name());
    ret.set_value(Trimmed(word.substr(equals + 1)));
  }
  return function;
}

}  // namespace

tf::GraphDef FileFromText(std::string_view text) {
  tf::GraphDef def;
  def.mutable_versions()->set_producer(1000);
  tf::FunctionDef* function = nullptr;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    line = Trimmed(line);
    if (line.empty()) continue;
    if (line.starts_with("function ")) {
      function = def.mutable_library()->add_function();
      *function = FunctionFromText(line);
    } else if (line == "}") {
      function = nullptr;
    } else {
      *(function == nullptr ? def.add_node() : function->add_node_def()) = NodeFromText(line);
    }
  }
  return def;
}

}  // namespace halftone::testing
