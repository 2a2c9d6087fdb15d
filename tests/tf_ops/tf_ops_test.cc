// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops, one node per case (cases.txt, integer_cases.txt). For each case and type:
//
//   import     must give a canonical node, not an opaque one
//   run        the reference function must give the outputs of the case, and the engine those of the reference function
//   export     and import must give the same NodeDef and the same graph
//
// The format of a case (written by make_cases.py and make_integer_cases.py):
//   case NAME                      op OP                       types f32,bf16
//   in TYPE FILL DIMS              a placeholder with the values of Fill() below; TYPE may be $T
//   const TYPE DIMS | VALUES       a constant
//   attr NAME KIND VALUE
//   expect DIMS | VALUES           one line per output
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "formats/tensorflow/tensor_proto.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

struct Input {
  bool is_constant = false;
  std::string type, fill;
  std::vector<int64_t> dims;
  std::vector<double> values;
};

struct Attr {
  std::string name, kind, value;
};

struct Expected {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

struct Case {
  std::string file;
  int line = 0;
  std::string name, op;
  std::vector<std::string> types;
  std::vector<Input> inputs;
  std::vector<Attr> attrs;
  std::vector<Expected> expected;
};

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) numbers.push_back(static_cast<T>(std::strtod(word.c_str(), nullptr)));
  return numbers;
}

void ReadCases(const std::string& path, std::vector<Case>& cases) {
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
      Input input{.is_constant = word == "const"};
      std::istringstream fields(value.substr(0, separator));
      fields >> input.type;
      if (!input.is_constant) fields >> input.fill;
      for (int64_t dim; fields >> dim;) input.dims.push_back(dim);
      input.values = Numbers<double>(values);
      cases.back().inputs.push_back(std::move(input));
    } else if (word == "attr") {
      Attr attr;
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

std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  for (const char* path : {"tests/tf_ops/cases.txt", "tests/tf_ops/integer_cases.txt"}) ReadCases(path, cases);
  return cases;
}

DataType TypeOf(const std::string& word, DataType type) {
  return word == "$T" ? type : DataTypeFromName(word).value_or(DataType::kUnknown);
}

Tensor Convert(const std::vector<double>& values, const std::vector<int64_t>& dims, DataType type) {
  Tensor wide(DataType::kFloat64, dims);
  std::copy(values.begin(), values.end(), wide.mutable_data<double>().begin());
  const absl::StatusOr<Tensor> tensor = wide.ConvertTo(type);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

// Small numbers that every type represents exactly; the same as in make_cases.py.
Tensor Fill(const Input& input, int k, DataType type) {
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

tf::AttrValue AttrOf(const Attr& attr, DataType type) {
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

// The file of one case; `fed` gets the tensors of its placeholders.
tf::GraphDef FileOf(const Case& c, DataType type, std::vector<Tensor>& fed) {
  tf::GraphDef def;
  def.mutable_versions()->set_producer(1000);
  tf::NodeDef node;
  node.set_name("y");
  node.set_op(c.op);
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    const Input& input = c.inputs[k];
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
  for (const Attr& attr : c.attrs) Set(node, attr.name, AttrOf(attr, type));
  *def.add_node() = std::move(node);
  return def;
}

std::vector<std::string> OutputNames(const Case& c) {
  std::vector<std::string> names;
  for (size_t i = 0; i < c.expected.size(); ++i) names.push_back(i == 0 ? "y" : Concat("y:", i));
  return names;
}

// Types below f32 round their outputs once. Functions in f64 may have the error of f32.
Tolerance ToleranceOf(const Graph& graph, const Tensor& result) {
  Tolerance tolerance{1e-6f, 1e-6f};
  for (const NodeId node : graph.nodes()) {
    tolerance.relative = std::max(tolerance.relative, Info(graph.op(node)).tolerance.relative);
    tolerance.absolute = std::max(tolerance.absolute, Info(graph.op(node)).tolerance.absolute);
  }
  if (result.type() == DataType::kBFloat16) return {1.0f / 64, 1e-5f};
  if (result.type() == DataType::kFloat16) return {1.0f / 512, 1e-4f};
  return tolerance;
}

void CheckRoundTrip(const tf::GraphDef& before, const Graph& graph, const GraphDefOptions& options) {
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  tf::GraphDef after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  const auto find = [](const tf::GraphDef& def) {
    for (const tf::NodeDef& node : def.node()) {
      if (node.name() == "y") return node;
    }
    return tf::NodeDef();
  };
  tf::NodeDef expected = find(before), actual = find(after);
  EXPECT_EQ(expected.input_size(), actual.input_size());
  expected.clear_input();  // a constant may have another name
  actual.clear_input();
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  differencer.TreatAsMap(tf::NodeDef::descriptor()->FindFieldByName("attr"),
                         tf::AttrEntry::descriptor()->FindFieldByName("key"));
  EXPECT_TRUE(differencer.Compare(expected, actual)) << report;
  absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, options);
  ASSERT_TRUE(again.ok()) << again.status();
  GraphEditor(*again).RemoveDeadNodes();
  Graph live = graph;
  GraphEditor(live).RemoveDeadNodes();
  EXPECT_EQ(again->num_nodes(), live.num_nodes()) << PrintGraph(*again) << "\n" << PrintGraph(live);
}

void CheckNumbers(const Case& c, const Graph& graph, const std::vector<Tensor>& results) {
  ASSERT_EQ(results.size(), c.expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].dims(), c.expected[i].dims) << "output " << i;
    if (results[i].dims() != c.expected[i].dims) continue;
    const Tolerance tolerance = ToleranceOf(graph, results[i]);
    EXPECT_EQ(reference::Compare(results[i], Convert(c.expected[i].values, c.expected[i].dims, results[i].type()),
                                 tolerance.relative, tolerance.absolute),
              "")
        << "output " << i;
  }
}

void Check(const Case& c, const std::string& type_word) {
  SCOPED_TRACE(Concat(c.file, ":", c.line, " \"", c.name, "\" with ", type_word));
  const DataType type = *DataTypeFromName(type_word);
  std::vector<Tensor> fed;
  const tf::GraphDef def = FileOf(c, type, fed);
  const GraphDefOptions options{.outputs = OutputNames(c)};
  absl::StatusOr<Graph> graph = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false, options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_NE(graph->op(graph->FindNode("y")), OpKind::kOpaque);
  CheckRoundTrip(def, *graph, options);
  GraphEditor edit(*graph);
  const absl::Status inferred = InferShapes(edit);
  ASSERT_TRUE(inferred.ok()) << inferred;
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, fed);
  ASSERT_TRUE(expected.ok()) << expected.status();
  CheckNumbers(c, *graph, *expected);
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(fed);
  ASSERT_TRUE(actual.ok()) << actual.status();
  CheckNumbers(c, *graph, *actual);
}

TEST(TensorFlowOps, EveryCaseWithEveryType) {
  int count = 0;
  for (const Case& c : ReadCases()) {
    for (const std::string& type : c.types) {
      Check(c, type);
      ++count;
    }
  }
  EXPECT_GT(count, 1000);
}

// Ops without cases: placeholders, control flow and calls (loops_test.cc), random numbers, quantized types.
constexpr std::string_view kElsewhere[] = {"Placeholder",   "PlaceholderV2",        "Const",
                                           "RandomUniform", "RandomStandardNormal", "Dequantize",
                                           "DeepCopy",      "TensorScatterMax",     "TensorScatterMin"};

TEST(TensorFlowOps, EveryRowHasACase) {
  std::set<std::string, std::less<>> tested(std::begin(kElsewhere), std::end(kElsewhere));
  for (const Case& c : ReadCases()) tested.insert(c.op);
  for (int kind = 0; kind < kNumOps; ++kind) {
    if (Info(static_cast<OpKind>(kind)).group == OpGroup::kStructural) continue;
    for (const graphdef::OpRow* row : graphdef::RowsOf(static_cast<OpKind>(kind))) {
      if (IsFusedTensorFlowOp(row->tf_op)) continue;       // tests/formats/tensorflow/dialect_test.cc
      if (row->kind == OpKind::kQuantizeLinear) continue;  // tests/formats/tensorflow/quantized_ops_test.cc
      EXPECT_TRUE(tested.contains(row->tf_op)) << row->tf_op;
    }
  }
}

// Weights as the Graph Transform Tool quantizes them: uint8 with a range.
TEST(TensorFlowOps, DequantizeOfQuantizedWeights) {
  tf::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        node {
          name: "w"
          op: "Const"
          attr {
            key: "dtype"
            value { type: DT_QUINT8 }
          }
          attr {
            key: "value"
            value {
              tensor {
                dtype: DT_QUINT8
                tensor_shape { dim { size: 3 } }
                tensor_content: "\000\063\377"
              }
            }
          }
        }
        node {
          name: "low"
          op: "Const"
          attr {
            key: "dtype"
            value { type: DT_FLOAT }
          }
          attr {
            key: "value"
            value {
              tensor {
                dtype: DT_FLOAT
                tensor_shape {}
                float_val: -1
              }
            }
          }
        }
        node {
          name: "high"
          op: "Const"
          attr {
            key: "dtype"
            value { type: DT_FLOAT }
          }
          attr {
            key: "value"
            value {
              tensor {
                dtype: DT_FLOAT
                tensor_shape {}
                float_val: 4
              }
            }
          }
        }
        node {
          name: "y"
          op: "Dequantize"
          input: "w"
          input: "low"
          input: "high"
          attr {
            key: "T"
            value { type: DT_QUINT8 }
          }
          attr {
            key: "mode"
            value { s: "MIN_FIRST" }
          }
        })pb",
      &def));
  const absl::StatusOr<Graph> graph = ImportGraphDef(def.SerializeAsString(), false, {.outputs = {"y"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  CheckRoundTrip(def, *graph, {.outputs = {"y"}});
  const absl::StatusOr<std::string> bytes = ExportGraphDef(*graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_NE(bytes->find("w"), std::string::npos);
  const absl::StatusOr<std::vector<Tensor>> result = reference::EvaluateGraph(*graph, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(reference::Compare((*result)[0], Convert({-1, 0, 4}, {3}, DataType::kFloat32), 1e-6f, 1e-6f), "");
}

}  // namespace
}  // namespace halftone
