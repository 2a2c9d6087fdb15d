// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops, one node per case (op_cases.h). For each case and type:
//
//   import     must give a canonical node, not an opaque one
//   run        the reference function must give the outputs of the case, and the engine those of the reference function
//   export     and import must give the same NodeDef and the same graph
#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/tf_ops/op_cases.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using testing::Convert;
using testing::FileOf;
using testing::OpCase;
using testing::ReadCases;

std::vector<std::string> OutputNames(const OpCase& c) {
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

void CheckNumbers(const OpCase& c, const Graph& graph, const std::vector<Tensor>& results) {
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

void Check(const OpCase& c, const std::string& type_word) {
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
  for (const OpCase& c : ReadCases()) {
    for (const std::string& type : c.types) {
      Check(c, type);
      ++count;
    }
  }
  EXPECT_GT(count, 1000);
}

// Ops without cases: placeholders, control flow (loops_test.cc), calls (functions_test.cc), random numbers, quantized types.
constexpr std::string_view kElsewhere[] = {"Placeholder",   "PlaceholderV2",        "Const",
                                           "RandomUniform", "RandomStandardNormal", "Dequantize",
                                           "DeepCopy",      "TensorScatterMax",     "TensorScatterMin"};

TEST(TensorFlowOps, EveryRowHasACase) {
  std::set<std::string, std::less<>> tested(std::begin(kElsewhere), std::end(kElsewhere));
  for (const OpCase& c : ReadCases()) tested.insert(c.op);
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
