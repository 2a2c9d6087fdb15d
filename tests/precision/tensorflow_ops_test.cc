// SPDX-License-Identifier: Apache-2.0
// Compares each row of the op table with TensorFlow's registry, and with internal_ops.h for ops that the registry does
// not contain.

#include "passes/precision/tensorflow_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "passes/precision/op_lists.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;

std::string TypeWord(int type) {
  const int plain = graphdef::PlainTfType(type);
  const std::string name(DataTypeName(graphdef::FromTfType(plain)));
  if (plain == type) return name;
  return Concat("q", name[0] == 'u' ? name : name.substr(1));
}

template <typename Args>
std::string Ports(const Args& args) {
  std::string text;
  for (const tf::OpDef::ArgDef& arg : args) {
    if (!text.empty()) text += ",";
    if (!arg.number_attr().empty()) text += Concat(arg.number_attr(), "*");
    text += !arg.type_list_attr().empty() ? Concat(arg.type_list_attr(), "[]")
            : !arg.type_attr().empty()    ? arg.type_attr()
                                          : TypeWord(arg.type());
  }
  return text;
}

std::string Types(const tf::OpDef& op) {
  std::string text;
  for (const tf::OpDef::AttrDef& attr : op.attr()) {
    if (attr.type() != "type" && attr.type() != "list(type)") continue;
    const auto& allowed = attr.allowed_values().list().type();
    const auto allows = [&](tf::DataType type) {
      return allowed.empty() || std::find(allowed.begin(), allowed.end(), type) != allowed.end();
    };
    text += Concat(text.empty() ? "" : " ", attr.name(), attr.type() == "type" ? "" : "[]");
    if (attr.type() == "type" && attr.has_default_value()) text += Concat("=", TypeWord(attr.default_value().type()));
    text += Concat(":", allows(tf::DT_BFLOAT16) ? "b" : "", allows(tf::DT_HALF) ? "h" : "");
  }
  return text;
}

// A row as written in the table.
std::string Text(std::string_view op, std::string_view inputs, std::string_view outputs, std::string_view types) {
  return Concat("{\"", op, "\", \"", inputs, "\", \"", outputs, "\", \"", types, "\"},");
}

TEST(TensorFlowOps, EveryRowAgreesWithTheRegistry) {
  const auto path = testing::SharedData("tensorflow_ops.pbtxt");
  if (!path.has_value()) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with tensorflow_ops.pbtxt";
  const auto registry = testing::ReadRegistry(*path);
  ASSERT_TRUE(registry.ok()) << registry.status();
  std::vector<std::string> wanted, found;
  for (const tf::OpDef& op : registry->op()) {
    wanted.push_back(Text(op.name(), Ports(op.input_arg()), Ports(op.output_arg()), Types(op)));
  }
  for (const TensorFlowOpRow& row : RegistryOpRows()) found.push_back(Text(row.op, row.inputs, row.outputs, row.types));
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  EXPECT_GT(wanted.size(), 1000u);
  EXPECT_EQ(found, wanted);
}

TEST(TensorFlowOps, InternalRowsAgreeWithInternalOps) {
  int compared = 0;
  for (const auto of : {testing::InternalOpsOf::kTensorFlow, testing::InternalOpsOf::kItex}) {
    const tf::OpList ops = testing::InternalOps(of);
    for (const tf::OpDef& op : ops.op()) {
      const TensorFlowOpRow* row = FindTensorFlowOp(op.name());
      ASSERT_NE(row, nullptr) << op.name();
      EXPECT_EQ(row->inputs, Ports(op.input_arg())) << op.name();
      EXPECT_EQ(row->outputs, Ports(op.output_arg())) << op.name();
      const std::string types = Types(op);
      const OpSignature mine(*row), other("", "", types);
      for (const SignatureType& type : other.types) {
        const SignatureType* found = mine.Find(type.name);
        ASSERT_NE(found, nullptr) << op.name() << " " << type.name;
        EXPECT_EQ(found->allows_bf16, type.allows_bf16) << op.name() << " " << type.name;
        EXPECT_EQ(found->allows_f16, type.allows_f16) << op.name() << " " << type.name;
        EXPECT_EQ(found->otherwise, type.otherwise) << op.name() << " " << type.name;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

// The planner cannot mark an op without a row.
TEST(TensorFlowOps, EveryOpOfTensorFlowsListsHasARow) {
  for (const OpListRow& row : OpListRows()) {
    if (row.tensorflow == ListKind::kNone && row.tensorflow_2_4 == ListKind::kNone) continue;
    EXPECT_NE(FindTensorFlowOp(row.op), nullptr) << row.op;
  }
}

}  // namespace
}  // namespace halftone
