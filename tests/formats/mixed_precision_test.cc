// SPDX-License-Identifier: Apache-2.0
// Files of mixed precision: every model that there is, lowered by each planner to bf16 and f16, is written, read back
// and written again with the same bytes; its constants stand in it once, in the type in which they are read; ONNX's
// checker and TensorFlow's registry accept it; it says where it comes from.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "formats/onnx/onnx_checker.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/file_types.h"
#include "ir/nested.h"
#include "ir/provenance.h"
#include "ir/text.h"
#include "tests/formats/lowered_models.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

using testing::Lowering;

// How often each constant with a consumer occurs, by type, shape and hash: "bf16[3,5] 0123456789abcdef".
std::map<std::string, int> Constants(const Graph& graph) {
  std::map<std::string, int> constants;
  for (const NodeId id : graph.nodes()) {
    const ValueId value = graph.output(id);
    if (graph.op(id) != OpKind::kConstant || (graph.uses(value).empty() && !graph.IsOutput(value))) continue;
    const Tensor& tensor = *graph.ConstantTensor(value);
    ++constants[Concat(DataTypeName(tensor.type()), tensor.shape().ToString(), " ", tensor.Hash())];
  }
  return constants;
}

int CountNarrowNodes(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) {
    count += graph.op(id) != OpKind::kConstant && !TypesBelowFloat32(graph, id).empty();
  }
  return count;
}

// The label of a f32 constant whose rounded copy (of more than 128 bytes) is in the graph, too.
std::string StoredTwice(const Graph& graph) {
  std::set<std::string> narrow;
  for (const NodeId id : graph.nodes()) {
    const Tensor* tensor = graph.op(id) == OpKind::kConstant ? graph.ConstantTensor(graph.output(id)) : nullptr;
    if (tensor != nullptr && IsBelowFloat32(tensor->type()) && tensor->byte_size() > 128) narrow.insert(tensor->Hash());
  }
  for (const NodeId id : graph.nodes()) {
    const Tensor* tensor = graph.op(id) == OpKind::kConstant ? graph.ConstantTensor(graph.output(id)) : nullptr;
    if (tensor == nullptr || tensor->type() != DataType::kFloat32) continue;
    for (const DataType type : {DataType::kBFloat16, DataType::kFloat16}) {
      if (narrow.contains(tensor->ConvertTo(type)->Hash())) return graph.Label(id);
    }
  }
  return "";
}

const tensorflow::OpList* Registry() {
  static const tensorflow::OpList* const registry = []() -> tensorflow::OpList* {
    const auto path = testing::SharedData("tensorflow_ops.pbtxt");
    if (!path.has_value()) return nullptr;
    auto* list = new tensorflow::OpList(*testing::ReadRegistry(*path));
    list->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kTensorFlow));
    list->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kItex));
    return list;
  }();
  return registry;
}

std::string Illegal(const Graph& graph, const std::string& bytes) {
  if (FormatOf(graph) != ModelFormat::kGraphDef) return CheckOnnxFile(bytes);
  if (Registry() == nullptr) return "";
  tensorflow::GraphDef def;
  if (!def.ParseFromString(bytes)) return "not a GraphDef";
  std::string all;
  for (const std::string& violation : testing::RegistryViolations(def, *Registry())) all += violation + "\n";
  return all;
}

// The first line of the graphs' texts that differs.
std::string Difference(const Graph& a, const Graph& b) {
  const std::vector<std::string> x = absl::StrSplit(PrintGraph(a), '\n'), y = absl::StrSplit(PrintGraph(b), '\n');
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i] != y[i]) return Concat(x[i], "\n", y[i]);
  }
  return "the texts of the graphs are equal";
}

// Converts, writes and reads back the graph, and checks each invariant.
void CheckLowered(const Graph& imported, const Lowering& lowering, int* narrow_nodes) {
  SCOPED_TRACE(NameOf(lowering));
  const absl::StatusOr<Graph> graph = testing::Lower(imported, lowering);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<testing::Written> first = testing::WriteAndRead(*graph, imported.outputs());
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::StatusOr<testing::Written> second = testing::WriteAndRead(first->again, imported.outputs());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(first->bytes == second->bytes)
      << "other bytes after reading and writing again, " << Difference(first->again, second->again);
  EXPECT_EQ(Constants(first->again), Constants(second->again));
  for (const auto& [constant, count] : Constants(*graph)) {
    if (constant.starts_with("bf16") || constant.starts_with("f16")) {
      EXPECT_EQ(Constants(first->again)[constant], count) << constant;
    }
  }
  EXPECT_EQ(StoredTwice(first->again), "");
  EXPECT_EQ(Illegal(*graph, first->bytes), "");
  EXPECT_EQ(ProvenanceOf(first->again).planner, lowering.planner == PlannerKind::kLists ? "lists" : "placement");
  EXPECT_EQ(ProvenanceOf(first->again).policy_sha256, std::string(64, 'a'));
  EXPECT_EQ(LoadsIn(first->again, lowering.target_runtime), absl::OkStatus());
  *narrow_nodes += CountNarrowNodes(first->again);
}

class MixedPrecision : public ::testing::TestWithParam<std::string> {};

TEST_P(MixedPrecision, OfARealModel) {
  if (GetParam().empty()) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with models";
  const absl::StatusOr<Graph> imported = ImportModel(GetParam());
  ASSERT_TRUE(imported.ok()) << imported.status();
  for (const Lowering& lowering : testing::AllLowerings(WrittenFormat(*imported))) {
    int narrow_nodes = 0;
    CheckLowered(*imported, lowering, &narrow_nodes);
    if (lowering.kind == VariantKind::kBf16) {
      EXPECT_GT(narrow_nodes, 0) << NameOf(lowering);
    }
  }
}

std::vector<std::string> ModelsOrNone() {
  std::vector<std::string> models = testing::SharedModels();
  if (models.empty()) models.push_back("");
  return models;
}

INSTANTIATE_TEST_SUITE_P(Models, MixedPrecision, ::testing::ValuesIn(ModelsOrNone()), [](const auto& info) {
  std::string name = info.param.empty() ? "None" : std::filesystem::path(info.param).filename().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

// The graphs of the golden files, in each format that has words for them.
class SmallMixedPrecision : public ::testing::TestWithParam<ModelFormat> {};

TEST_P(SmallMixedPrecision, OfEveryGoldenGraph) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  int written = 0, narrow_nodes = 0;
  for (const GoldenGraph& golden : *graphs) {
    SCOPED_TRACE(golden.name);
    Graph graph = golden.graph;
    if (FormatOf(graph).value_or(GetParam()) != GetParam()) continue;
    bool nested = false;  // these would have to be of the format, too
    bool by_run = false;  // a GraphDef's ranges that the run finds are read as arithmetic, which stays arithmetic
    for (const NodeId id : graph.nodes()) {
      nested |= HasNestedGraphs(graph.op(id));
      by_run |= GetParam() == ModelFormat::kGraphDef && graph.op(id) == OpKind::kDynamicQuantizeLinear;
    }
    if (nested || by_run) continue;
    SetFormat(graph, GetParam());
    const absl::StatusOr<testing::Written> imported = testing::WriteAndRead(graph, {});
    if (!imported.ok()) continue;                              // the format has no words for it
    if (golden.name.starts_with("share-constants")) continue;  // those that are kept as they are
    if (!Illegal(graph, imported->bytes).empty()) continue;    // a case of training, or of symbols alone
    ++written;
    for (const Lowering& lowering : testing::AllLowerings(GetParam())) {
      if (lowering.dialect != Dialect::kPortable) continue;
      CheckLowered(imported->again, lowering, &narrow_nodes);
    }
  }
  EXPECT_GT(written, 100);
  EXPECT_GT(narrow_nodes, written);
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallMixedPrecision, ::testing::Values(ModelFormat::kOnnx, ModelFormat::kGraphDef),
                         [](const auto& info) {
                           return info.param == ModelFormat::kOnnx ? std::string("Onnx") : std::string("GraphDef");
                         });

}  // namespace
}  // namespace halftone
