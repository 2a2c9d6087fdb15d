// SPDX-License-Identifier: Apache-2.0
// The dialects of GraphDef files, op by op: a graph of fused nodes is lowered for the dialect, written, checked against
// the registry, read back, and gives the same outputs; written once more it is the same file.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "formats/dialects.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/formats/tensorflow/dialect_cases.h"
#include "tests/formats/tensorflow/graph_difference.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using testing::DialectCase;
using testing::kItex;
using testing::kTf;

tf::GraphDef Parse(const std::string& bytes) {
  tf::GraphDef def;
  EXPECT_TRUE(def.ParseFromString(bytes));
  return def;
}

std::string OpsOf(const tf::GraphDef& def) {
  std::map<std::string, std::string> ops;  // by name
  for (const tf::NodeDef& node : def.node()) {
    if (node.op() == "Placeholder" || node.op() == "Const") continue;
    std::string& op = ops[node.name()];
    op = node.op();
    for (const tf::AttrEntry& entry : node.attr()) {
      if (entry.key() == "fused_ops") op += "[" + absl::StrJoin(entry.value().list().s(), ",") + "]";
    }
  }
  return absl::StrJoin(ops, " ", [](std::string* out, const auto& op) { out->append(op.second); });
}

void ExpectRegistered(const tf::GraphDef& def, Dialect dialect) {
  const auto path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value()) return;  // the other checks need no registry
  auto registry = testing::ReadRegistry(*path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  if (dialect == kTf) registry->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kTensorFlow));
  if (dialect == kItex) registry->MergeFrom(testing::InternalOps(testing::InternalOpsOf::kItex));
  EXPECT_EQ(testing::RegistryViolations(def, *registry), std::vector<std::string>());
}

void ExpectSameOutputs(const Graph& expected, const Graph& actual, float tolerance) {
  const std::vector<Tensor> inputs = reference::RandomInputs(expected, /*seed=*/5);
  const auto before = reference::EvaluateGraph(expected, inputs), after = reference::EvaluateGraph(actual, inputs);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(after.ok()) << after.status();
  ASSERT_EQ(before->size(), after->size());
  for (size_t i = 0; i < before->size(); ++i) {
    EXPECT_EQ((*after)[i].type(), (*before)[i].type());
    EXPECT_EQ(reference::Compare((*after)[i], (*before)[i], tolerance, tolerance), "");
  }
}

class DialectTest : public ::testing::TestWithParam<DialectCase> {
 protected:
  void SetUp() override {
    absl::StatusOr<Graph> graph = ParseGraph(GetParam().graph);
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
  }

  // Lowered and written.
  std::string Written(Dialect dialect) {
    Graph graph = graph_;
    const PermissiveTarget target;
    PassContext context{.target = target};
    const absl::Status lowered = MakeExportPipeline(FileDialectOf(ModelFormat::kGraphDef, dialect)).Run(graph, context);
    EXPECT_TRUE(lowered.ok()) << lowered;
    const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
    EXPECT_TRUE(bytes.ok()) << bytes.status() << "\n" << PrintGraph(graph);
    return bytes.ok() ? *bytes : "";
  }

  absl::StatusOr<Graph> Read(const std::string& bytes) const {
    GraphDefOptions options;
    for (const GraphOutput& output : graph_.outputs()) options.outputs.push_back(output.name);
    return ImportGraphDef(bytes, /*is_text=*/false, options);
  }

  Graph graph_;
};

TEST_P(DialectTest, IsWrittenAndReadBack) {
  const std::string bytes = Written(GetParam().dialect);
  const tf::GraphDef def = Parse(bytes);
  EXPECT_EQ(OpsOf(def), GetParam().ops) << def.DebugString().substr(0, 4000);
  ExpectRegistered(def, GetParam().dialect);

  const absl::StatusOr<Graph> again = Read(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  for (const NodeId id : again->nodes()) EXPECT_NE(again->op(id), OpKind::kOpaque) << again->Label(id);
  const bool half = def.ShortDebugString().find("DT_BFLOAT16") != std::string::npos;
  ExpectSameOutputs(graph_, *again, half ? 0.02f : 1e-5f);

  const absl::StatusOr<std::string> twice = ExportGraphDef(*again, /*as_text=*/false);
  ASSERT_TRUE(twice.ok()) << twice.status() << "\n" << PrintGraph(*again);
  EXPECT_EQ(Difference(def, Parse(*twice)), "");
}

// The file of a dialect is converted to the portable dialect: fused ops are split again.
TEST_P(DialectTest, BecomesPortable) {
  const absl::StatusOr<Graph> imported = Read(Written(GetParam().dialect));
  ASSERT_TRUE(imported.ok()) << imported.status();
  graph_ = *imported;
  const std::string bytes = Written(Dialect::kPortable);
  const tf::GraphDef def = Parse(bytes);
  for (const tf::NodeDef& node : def.node()) {
    EXPECT_FALSE(IsFusedTensorFlowOp(node.op())) << node.name() << " is a " << node.op();
  }
  ExpectRegistered(def, Dialect::kPortable);
  const absl::StatusOr<Graph> again = Read(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  const bool half = def.ShortDebugString().find("DT_BFLOAT16") != std::string::npos;
  ExpectSameOutputs(graph_, *again, half ? 0.05f : 1e-5f);
}

// An op of the dialect without an attribute or an input, or with one of another kind, is refused or carried: no crash.
TEST_P(DialectTest, SurvivesDamage) {
  const tf::GraphDef def = Parse(Written(GetParam().dialect));
  const auto check = [&](const tf::GraphDef& damaged) {
    absl::StatusOr<Graph> graph = Read(damaged.SerializeAsString());
    if (!graph.ok()) return;
    static_cast<void>(ExportGraphDef(*graph, /*as_text=*/false));
    const PermissiveTarget target;
    PassContext context{.target = target};
    if (!MakeExportPipeline(FileDialectOf(ModelFormat::kGraphDef, GetParam().dialect)).Run(*graph, context).ok())
      return;
    static_cast<void>(ExportGraphDef(*graph, /*as_text=*/false));
  };
  std::vector<tf::AttrValue> values(7);
  values[0].set_s("Relu");
  values[1].set_i(-3);
  values[2].set_f(-2.0f);
  values[3].set_type(tf::DT_STRING);
  values[4].mutable_list();
  for (const int i : {7, -1, 0}) values[5].mutable_list()->add_i(i);
  for (const char* const word : {"Relu", "BiasAdd", "Add"}) values[6].mutable_list()->add_s(word);
  for (int n = 0; n < def.node_size(); ++n) {
    if (!IsFusedTensorFlowOp(def.node(n).op())) continue;
    for (int i = 0; i < def.node(n).attr_size(); ++i) {
      tf::GraphDef damaged = def;
      damaged.mutable_node(n)->mutable_attr()->DeleteSubrange(i, 1);
      check(damaged);
      for (const tf::AttrValue& value : values) {
        damaged = def;
        *damaged.mutable_node(n)->mutable_attr(i)->mutable_value() = value;
        check(damaged);
      }
    }
    for (int i = 0; i < def.node(n).input_size(); ++i) {
      tf::GraphDef damaged = def;
      damaged.mutable_node(n)->mutable_input()->DeleteSubrange(i, 1);
      check(damaged);
      for (int j = 0; j < def.node(n).input_size(); ++j) {
        damaged = def;
        damaged.mutable_node(n)->set_input(i, def.node(n).input(j));
        check(damaged);
      }
      damaged = def;
      damaged.mutable_node(n)->add_input(def.node(n).input(i));
      check(damaged);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DialectTest, ::testing::ValuesIn(testing::kDialectCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Read, never written: where the pads belong to a convolution in two dimensions, Conv2D and _ITEXFusedConv2D have an
// attribute for them. They stand in the table so that a node that was read as one is spelled anew (IsFusedTensorFlowOp).
const std::set<std::string_view> kReadAlone = {"_ITEXPadWithConv2D", "_ITEXPadWithFusedConv2D"};

// Every op of a dialect needs a case that checks its file.
TEST(DialectCases, WriteEveryOp) {
  std::map<Dialect, std::set<std::string>> written;
  for (const DialectCase& one : testing::kDialectCases) {
    for (const absl::string_view op : absl::StrSplit(std::string(one.ops), ' ')) {
      written[one.dialect].insert(std::string(op.substr(0, op.find('['))));
    }
  }
  std::set<std::string_view> known;
  for (const auto& [dialect, table] : {std::pair(kTf, &TensorFlowDialect()), std::pair(kItex, &ItexDialect())}) {
    known.insert(table->fused_ops.begin(), table->fused_ops.end());
    for (const std::string_view op : table->fused_ops) {
      EXPECT_EQ(written[dialect].contains(std::string(op)), !kReadAlone.contains(op))
          << DialectName(dialect) << ": " << op;
    }
  }
  for (const std::string_view op : kReadAlone) EXPECT_TRUE(known.contains(op)) << op << " is in no table any more";
}

}  // namespace
}  // namespace halftone
