// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/tensorflow/quantized_file.h"

#include <algorithm>
#include <cmath>

#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gtest/gtest.h"
#include "ir/ops.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone::testing {
namespace {

void ExpectLegal(const tensorflow::GraphDef& def) {
  const auto path = SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value()) return;
  auto registry = ReadRegistry(*path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  registry->MergeFrom(InternalOps(InternalOpsOf::kOneDnn));
  EXPECT_EQ(RegistryViolations(def, *registry), std::vector<std::string>());
}

}  // namespace

void ExpectNumbers(const tensorflow::GraphDef& def, const std::vector<Tensor>& inputs,
                   const std::vector<double>& expected, double step, Graph& folded) {
  ExpectLegal(def);
  const absl::StatusOr<Graph> read = ImportGraphDef(def.SerializeAsString(), /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(read.ok()) << read.status();
  for (const NodeId id : read->nodes()) EXPECT_NE(read->op(id), OpKind::kOpaque) << PrintGraph(*read);
  folded = *read;
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(MakeOptimizePipeline().Run(folded, context), absl::OkStatus());
  Graph written = folded;
  ASSERT_EQ(MakeRunPipeline().Run(folded, context), absl::OkStatus());
  ASSERT_EQ(MakeExportPipeline(GraphDefDialect()).Run(written, context), absl::OkStatus());
  const absl::StatusOr<std::string> bytes = ExportGraphDef(written, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status() << PrintGraph(written);
  const absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"y"}});
  ASSERT_TRUE(again.ok()) << again.status();
  for (const Graph* graph : {&*read, const_cast<const Graph*>(&folded), &*again}) {
    const absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateGraph(*graph, inputs);
    ASSERT_TRUE(results.ok()) << results.status() << PrintGraph(*graph);
    const std::vector<float> y = (*results)[0].ToFloats();
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], step) << i << "\n" << PrintGraph(*graph);
  }
}

void ExpectOutputs(const tensorflow::GraphDef& def, const std::vector<Tensor>& inputs,
                   const std::vector<double>& expected, double step, bool requantizes) {
  Graph folded;
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(def, inputs, expected, step, folded));
  // Contractions read integers, and those behind which there is a quantization write them.
  for (const NodeId id : folded.nodes()) {
    if (Info(folded.op(id)).group != OpGroup::kContraction) continue;
    EXPECT_NE(folded.type(folded.input(id, 0)), DataType::kFloat32) << PrintGraph(folded);
    EXPECT_NE(folded.type(folded.input(id, 1)), DataType::kFloat32) << PrintGraph(folded);
  }
  for (const NodeId id : folded.nodes()) {
    if (folded.op(id) != OpKind::kQuantizeLinear || requantizes) continue;
    EXPECT_EQ(folded.op(folded.input(id, 0)), OpKind::kInput) << PrintGraph(folded);
  }
}

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

}  // namespace halftone::testing
