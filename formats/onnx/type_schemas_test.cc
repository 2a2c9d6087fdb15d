// SPDX-License-Identifier: Apache-2.0
// The opsets from which our rows say that an operator takes bf16 and f16, against ONNX's own schemas.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/op_map.h"
#include "formats/onnx/op_rows.h"
#include "formats/onnx/validator.h"
#include "gtest/gtest.h"
#include "onnx/defs/schema.h"

namespace halftone::onnx_format {
namespace {

// Where a row is stricter than "some port takes bf16", and why.
const std::map<std::string, std::string>& StricterForBf16() {
  static const auto& reasons = *new std::map<std::string, std::string>{
      {"BatchNormalization", "before 15 scale and offset must be bf16 too, and ours stay f32"},
      {"Pow", "before 15 the exponent must not be bf16"},
  };
  return reasons;
}

// All of ONNX's own operators but QLinearConv and QLinearMatMul, which are several nodes of ours and never written.
std::vector<const OpRow*> Rows() {
  std::vector<const OpRow*> rows;
  for (const auto table :
       {BasicRows, ElementwiseRows, TensorRows, NnRows, RecurrentRows, FusedRows, QuantizeRows, ControlRows}) {
    for (const OpRow& row : table()) {
      if (!row.onnx.empty() && row.domain.empty() && !row.onnx.starts_with("QLinear")) rows.push_back(&row);
    }
  }
  return rows;
}

// By version.
using History = std::map<int, onnx::OpSchema>;

std::map<std::string, History> Schemas() {
  std::map<std::string, History> schemas;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain().empty()) schemas[schema.Name()].emplace(schema.SinceVersion(), schema);
  }
  return schemas;
}

bool Allows(const onnx::OpSchema& schema, const std::string& type) {
  for (const auto* formals : {&schema.inputs(), &schema.outputs()}) {
    for (const auto& formal : *formals) {
      for (const std::string* allowed : formal.GetTypes()) {
        if (*allowed == type) return true;
      }
    }
  }
  return false;
}

// The first version from which on all up to the newest take the type; kNever: the newest does not.
int Since(const History& history, const std::string& type) {
  int since = kNever;
  for (auto it = history.rbegin(); it != history.rend(); ++it) {
    if (it->first > kMaxOpset) continue;
    if (it->second.Deprecated()) return kNever;
    if (!Allows(it->second, type)) break;
    since = it->first;
  }
  return since;
}

TEST(TypeSchemas, RowsSayWhatOnnxSays) {
  const std::map<std::string, History> schemas = Schemas();
  int checked = 0;
  for (const OpRow* row : Rows()) {
    const std::string name(row->onnx);
    SCOPED_TRACE(name);
    const auto found = schemas.find(name);
    if (found == schemas.end()) {
      EXPECT_EQ(name, "SimplifiedLayerNormalization") << "no such operator";  // ONNX Runtime's
      continue;
    }
    const History& history = found->second;
    if (history.rbegin()->second.Deprecated()) {  // written as the operator that took its place
      EXPECT_TRUE(name == "Scatter" || name == "Upsample");
      continue;
    }
    ++checked;
    const int bf16 = Since(history, "tensor(bfloat16)");
    if (StricterForBf16().contains(name)) {
      EXPECT_GT(row->bf16_since, bf16);
    } else {
      EXPECT_EQ(row->bf16_since, bf16 == kNever ? kNever : std::max(bf16, row->since));
    }
    if (!Allows(history.rbegin()->second, "tensor(float)")) continue;  // never has one
    const int f16 = Since(history, "tensor(float16)");
    const bool from_the_start = f16 == history.begin()->first;  // or older, under another name
    EXPECT_EQ(Float16Since(*row), f16 == kNever ? kNever : from_the_start ? row->since : std::max(f16, row->since));
  }
  EXPECT_GT(checked, 150);
}

}  // namespace
}  // namespace halftone::onnx_format
