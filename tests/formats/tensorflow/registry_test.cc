// SPDX-License-Identifier: Apache-2.0
// The tables of ops against TensorFlow's own registry: signatures, defaults, required attributes; and the checker
// itself.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/type_limits.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "ir/ops.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"
#include "tests/formats/tensorflow/shared_data.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Attributes that ops learnt after this registry was written, or in Intel's builds.
bool IsNewer(const std::string& op, std::string_view attr) {
  return (op != "Conv2D" && attr == "explicit_paddings") || (op == "Dequantize" && attr == "dtype") ||
         (op == "GRUBlockCell" && attr == "lbr");
}

class RegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = testing::SharedData("tensorflow_ops.pbtxt");
    if (!path.has_value()) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with tensorflow_ops.pbtxt";
    const auto registry = testing::ReadRegistry(*path);
    ASSERT_TRUE(registry.ok()) << registry.status();
    registry_ = *registry;
    internal_.MergeFrom(testing::InternalOps(testing::InternalOpsOf::kTensorFlow));
    internal_.MergeFrom(testing::InternalOps(testing::InternalOpsOf::kItex));
    of_onednn_ = testing::InternalOps(testing::InternalOpsOf::kOneDnn);
    for (const tf::OpList* list : {&internal_, &of_onednn_}) {
      for (const tf::OpDef& op : list->op()) EXPECT_TRUE(ops_.emplace(op.name(), &op).second) << op.name();
    }
    for (const tf::OpDef& op : registry_.op()) ops_[op.name()] = &op;
  }

  // A signature as op_map.h writes it.
  template <typename Args>
  static std::string Signature(const tf::OpDef& op, const Args& args, bool with_defaults) {
    std::vector<std::string> items;
    for (const tf::OpDef::ArgDef& arg : args) {
      if (!arg.type_list_attr().empty()) {
        items.push_back(arg.type_list_attr() + "[]");
        continue;
      }
      std::string item = arg.number_attr().empty() ? "" : arg.number_attr() + "*";
      const DataType fixed = graphdef::FromTfType(arg.type());
      item += arg.type_attr().empty() ? (fixed == DataType::kUnknown ? "?" : std::string(DataTypeName(fixed)))
                                      : arg.type_attr();
      for (const tf::OpDef::AttrDef& attr : op.attr()) {
        if (with_defaults && attr.name() == arg.type_attr() && attr.has_default_value()) {
          item += "=" + std::string(DataTypeName(graphdef::FromTfType(attr.default_value().type())));
        }
      }
      items.push_back(item);
    }
    return absl::StrJoin(items, ",");
  }

  tf::OpList registry_, internal_, of_onednn_;
  std::map<std::string, const tf::OpDef*> ops_;
};

TEST_F(RegistryTest, EveryRowAgrees) {
  for (int kind = 0; kind < kNumOps; ++kind) {
    for (const graphdef::OpRow* row : graphdef::RowsOf(static_cast<OpKind>(kind))) {
      const std::string name(row->tf_op);
      SCOPED_TRACE(name);
      if (name == "TensorScatterMax" || name == "TensorScatterMin") continue;  // newer than the registry
      if (!row->without.empty()) continue;                                     // an older form of the op
      ASSERT_TRUE(ops_.contains(name));
      const tf::OpDef& op = *ops_[name];
      EXPECT_EQ(row->inputs, Signature(op, op.input_arg(), /*with_defaults=*/false));
      EXPECT_EQ(row->outputs, Signature(op, op.output_arg(), /*with_defaults=*/false));
      std::map<std::string, const tf::OpDef::AttrDef*> attrs;
      for (const tf::OpDef::AttrDef& attr : op.attr()) attrs[attr.name()] = &attr;
      std::set<std::string> known;
      for (const graphdef::TypeRow& type : row->types) {
        known.insert(std::string(type.name));
        ASSERT_TRUE(attrs.contains(std::string(type.name))) << type.name;
        const tf::OpDef::AttrDef& def = *attrs[std::string(type.name)];
        const int otherwise = graphdef::PlainTfType(def.default_value().type());
        EXPECT_EQ(type.otherwise, graphdef::FromTfType(otherwise)) << type.name;
      }
      for (const graphdef::AttrRow& attr : row->attrs) {
        if (attr.name.empty()) continue;  // implied by the op's name
        known.insert(std::string(attr.name));
        if (!attrs.contains(std::string(attr.name))) {
          EXPECT_TRUE(IsNewer(name, attr.name)) << attr.name;
          continue;
        }
        const tf::OpDef::AttrDef& def = *attrs[std::string(attr.name)];
        // PlaceholderV2 is the one op whose shape has no default.
        EXPECT_EQ(attr.required, !def.has_default_value() && name != "PlaceholderV2") << attr.name;
        if (attr.form == graphdef::AttrForm::kBool) {
          EXPECT_EQ(attr.tf_default != 0, def.default_value().b()) << attr.name;
        }
        if (attr.form == graphdef::AttrForm::kFloat) {
          EXPECT_EQ(static_cast<float>(attr.tf_default), def.default_value().f()) << attr.name;
        }
      }
      for (const auto& [attr, def] : attrs) {
        if (!def->has_default_value()) {
          EXPECT_TRUE(known.contains(attr)) << "required, and no row knows it: " << attr;
        }
      }
    }
  }
}

// Ops that do not take bfloat16 or half where they take float are those of the table, and no others.
TEST_F(RegistryTest, LimitsOfTypesAgree) {
  std::map<std::string, bool> limits;
  for (const graphdef::TypeLimit& limit : graphdef::TypeLimits()) limits[std::string(limit.tf_op)] = limit.takes_f16;
  std::set<std::string> found;
  for (int kind = 0; kind < kNumOps; ++kind) {
    for (const graphdef::OpRow* row : graphdef::RowsOf(static_cast<OpKind>(kind))) {
      const std::string name(row->tf_op);
      SCOPED_TRACE(name);
      if (!ops_.contains(name) || name.starts_with("_"))
        continue;  // newer than the registry; internal: their dialect knows
      for (const tf::OpDef::AttrDef& attr : ops_[name]->attr()) {
        const auto& allowed = attr.allowed_values().list().type();
        const auto takes = [&](tf::DataType type) {
          return std::find(allowed.begin(), allowed.end(), type) != allowed.end();
        };
        if (attr.name() != "T" || !attr.has_allowed_values() || !takes(tf::DT_FLOAT)) continue;
        const bool limited = !takes(tf::DT_BFLOAT16) || !takes(tf::DT_HALF);
        EXPECT_EQ(limits.contains(name), limited);
        if (!limited || !limits.contains(name)) continue;
        found.insert(name);
        EXPECT_FALSE(takes(tf::DT_BFLOAT16));
        EXPECT_EQ(limits[name], takes(tf::DT_HALF));
      }
    }
  }
  EXPECT_EQ(found.size(), limits.size());
}

// Every internal op that a dialect may write is one that we know and read.
TEST_F(RegistryTest, EveryOpOfADialectHasARow) {
  for (const FileDialect* dialect : {&TensorFlowDialect(), &ItexDialect()}) {
    for (const std::string_view op : dialect->fused_ops) {
      EXPECT_NE(graphdef::FindRow(op), nullptr) << op;
      EXPECT_TRUE(ops_.contains(std::string(op))) << op;
    }
  }
  for (const tf::OpDef& op : internal_.op()) {
    EXPECT_TRUE(IsFusedTensorFlowOp(op.name())) << op.name() << " is written by no dialect";
  }
}

TEST_F(RegistryTest, OutputsOfOpaqueOpsAgree) {
  int found = 0;
  for (const auto& [name, op] : ops_) {
    const std::optional<std::string_view> ours = graphdef::OpaqueOutputs(name);
    if (!ours.has_value()) continue;
    ++found;
    if (name == "Dequantize") continue;  // learnt its dtype later
    EXPECT_EQ(*ours, Signature(*op, op->output_arg(), /*with_defaults=*/true)) << name;
  }
  EXPECT_GT(found, 100);
}

TEST_F(RegistryTest, NamesViolations) {
  tf::GraphDef graph;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"pb(
                                                              node {
                                                                name: "x"
                                                                op: "Placeholder"
                                                                attr {
                                                                  key: "dtype"
                                                                  value { type: DT_FLOAT }
                                                                }
                                                              }
                                                              node {
                                                                name: "a"
                                                                op: "Relu"
                                                                input: "x"
                                                                attr {
                                                                  key: "T"
                                                                  value { type: DT_STRING }
                                                                }
                                                              }
                                                              node {
                                                                name: "b"
                                                                op: "Conv2D"
                                                                input: "x"
                                                                attr {
                                                                  key: "T"
                                                                  value { type: DT_FLOAT }
                                                                }
                                                                attr {
                                                                  key: "alpha"
                                                                  value { f: 1 }
                                                                }
                                                                attr {
                                                                  key: "strides"
                                                                  value { list { i: 1 i: 1 i: 1 i: 1 } }
                                                                }
                                                                attr {
                                                                  key: "_class"
                                                                  value { list { s: "loc:@none" } }
                                                                }
                                                              }
                                                              node { name: "c" op: "Nonesuch" }
                                                            )pb",
                                                            &graph));
  EXPECT_THAT(
      testing::RegistryViolations(graph, registry_),
      ElementsAre(HasSubstr("'a' (Relu): attribute 'T' must not be DT_STRING"),
                  HasSubstr("attribute 'alpha' is unknown"), HasSubstr("attribute 'padding' is missing"),
                  HasSubstr("the op is not registered"), HasSubstr("'a' (Relu): input 0 is DT_FLOAT, need DT_STRING"),
                  HasSubstr("1 data inputs; need 2")));
}

}  // namespace
}  // namespace halftone
