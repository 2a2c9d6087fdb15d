// SPDX-License-Identifier: Apache-2.0
#include "tests/tf_ops/run_text.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/prepare/build_loops.h"
#include "runtime/engine.h"
#include "tests/tf_ops/file_text.h"

namespace halftone::testing {
namespace {

// The exported file must have the same nodes and functions.
void ExpectRoundTrip(std::string_view text, const Graph& graph) {
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  tensorflow::GraphDef after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  differencer.TreatAsMap(tensorflow::GraphDef::descriptor()->FindFieldByName("node"),
                         tensorflow::NodeDef::descriptor()->FindFieldByName("name"));
  differencer.TreatAsMap(tensorflow::NodeDef::descriptor()->FindFieldByName("attr"),
                         tensorflow::AttrEntry::descriptor()->FindFieldByName("key"));
  EXPECT_TRUE(differencer.Compare(FileFromText(text), after)) << report;
}

}  // namespace

Graph Import(std::string_view text, std::vector<std::string> outputs) {
  absl::StatusOr<Graph> graph =
      ImportGraphDef(FileFromText(text).SerializeAsString(), /*is_text=*/false, {.outputs = std::move(outputs)});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

std::vector<float> RunGraph(Graph graph, const std::vector<Tensor>& inputs) {
  GraphEditor edit(graph);
  absl::Status status = Specialize(edit, {}, 1);
  EXPECT_TRUE(status.ok()) << status;
  status = BuildLoops(edit);
  EXPECT_TRUE(status.ok()) << status;
  status = VerifyGraph(graph);
  EXPECT_TRUE(status.ok()) << status << "\n" << PrintGraph(graph);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status() << "\n" << PrintGraph(graph);
  if (!expected.ok()) return {};
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
  EXPECT_TRUE(actual.ok()) << actual.status();
  if (!actual.ok()) return {};
  EXPECT_EQ(reference::Compare((*actual)[0], (*expected)[0], 1e-6f, 1e-6f), "");
  return (*expected)[0].ToFloats();
}

std::vector<float> RunText(std::string_view text, const std::string& output, const std::vector<Tensor>& inputs) {
  const Graph graph = Import(text, {output});
  ExpectRoundTrip(text, graph);
  return RunGraph(graph, inputs);
}

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  Tensor tensor(DataType::kFloat32, std::move(dims));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>().begin());
  return tensor;
}

Tensor Bool(bool value) {
  Tensor tensor(DataType::kBool, {});
  tensor.mutable_data<uint8_t>()[0] = value;
  return tensor;
}

}  // namespace halftone::testing
