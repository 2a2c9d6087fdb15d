// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/op_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "formats/onnx/op_rows.h"
#include "ir/file_types.h"

namespace halftone::onnx_format {
namespace {

// Whether the value is the default of the attribute.
bool IsDefault(const AttributeValue& value) {
  if (const bool* flag = std::get_if<bool>(&value))
    return !*flag;  // of the rows with `since` all bools default to false
  if (const int64_t* number = std::get_if<int64_t>(&value)) return *number == 0;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return std::all_of(list->begin(), list->end(), [](int64_t v) { return v == 1; });  // dilations
  }
  const std::string* text = std::get_if<std::string>(&value);
  return text != nullptr && (*text == "DCR" || *text == "stretch" ||
                             *text == "output_half_pixel");  // DepthToSpace, Resize, RoiAlign before opset 16
}

// Whether a float attribute can hold the number.
bool IsFloat32(std::optional<double> value) {
  return value.has_value() && (std::isnan(*value) || static_cast<double>(static_cast<float>(*value)) == *value);
}

// Operators that take f16 late or never. (Operators without floats are not listed: none of their nodes has f16.)
constexpr std::pair<std::string_view, int> kLateFloat16[] = {
    {"Celu", kNever},  {"CumSum", 14}, {"DequantizeLinear", 19},      {"DynamicQuantizeLinear", kNever},
    {"Equal", 11},     {"IsInf", 20},  {"NonMaxSuppression", kNever}, {"QuantizeLinear", 19},
    {"Range", kNever},
};

}  // namespace

const onnx::AttributeProto* NodeInFile::Find(std::string_view name) const {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t NodeInFile::Int(std::string_view name, int64_t otherwise) const {
  const onnx::AttributeProto* attribute = Find(name);
  return attribute == nullptr ? otherwise : attribute->i();
}

std::string NodeInFile::String(std::string_view name, std::string_view otherwise) const {
  const onnx::AttributeProto* attribute = Find(name);
  return attribute == nullptr ? std::string(otherwise) : attribute->s();
}

namespace {

// All rows, in the order of the tables.
const std::vector<const OpRow*>& AllRows() {
  static const auto& rows = *[] {
    auto* all = new std::vector<const OpRow*>;
    for (const auto table :
         {BasicRows, ElementwiseRows, TensorRows, NnRows, RecurrentRows, FusedRows, QuantizeRows, ControlRows}) {
      for (const OpRow& row : table()) all->push_back(&row);
    }
    return all;
  }();
  return rows;
}

}  // namespace

const OpRow* FindRow(std::string_view domain, std::string_view onnx_op) {
  static const auto& by_name = *[] {
    auto* map = new std::map<std::pair<std::string_view, std::string_view>, const OpRow*>;
    for (const OpRow* row : AllRows()) {
      if (!row->onnx.empty()) map->emplace(std::pair(row->domain, row->onnx), row);
    }
    return map;
  }();
  const auto it = by_name.find({domain, onnx_op});
  return it == by_name.end() ? nullptr : it->second;
}

const OpRow* FindRow(OpKind op, std::string_view spelling, std::string_view domain) {
  const OpRow* first = nullptr;
  for (const OpRow* row : AllRows()) {
    if (row->op != op) continue;
    if (row->onnx == spelling && row->domain == domain) return row;
    if (first == nullptr) first = row;
  }
  return first;
}

int Float16Since(const OpRow& row) {
  for (const auto& [onnx, since] : kLateFloat16) {
    if (row.onnx == onnx && row.domain.empty()) return since;
  }
  return row.since;
}

int TypesSince(const Graph& graph, NodeId id, const OpRow& row) {
  int opset = 0;
  if (HasType(graph, id, DataType::kBFloat16)) opset = std::max(row.since, row.bf16_since);
  if (HasType(graph, id, DataType::kFloat16)) opset = std::max(opset, Float16Since(row));
  return opset;
}

int MinOpset(const Graph& graph, NodeId id, const OpRow& row) {
  return std::max(MinOpsetWithoutTypes(graph, id, row), TypesSince(graph, id, row));
}

int MinOpsetWithoutTypes(const Graph& graph, NodeId id, const OpRow& row) {
  const Node& node = graph.node(id);
  int opset = row.since;
  for (const AttributeRow& attribute : row.attributes) {
    const AttributeValue* value = node.attributes.find(attribute.canonical.empty() ? "" : attribute.canonical);
    if (value != nullptr && !IsDefault(*value)) opset = std::max(opset, attribute.since);
  }
  for (const MovedRow& moved : row.moved) {
    if (moved.until == kNever) continue;
    const ValueId input = graph.input(id, moved.input);
    if (!input.valid()) continue;
    const std::optional<std::vector<int64_t>> ints = graph.ConstantInts(input);
    const bool as_attribute =
        moved.form == MovedRow::Form::kFloat ? IsFloat32(graph.ConstantScalar(input))
        : moved.form == MovedRow::Form::kOnes
            ? ints.has_value() && std::all_of(ints->begin(), ints->end(), [](int64_t v) { return v == 1; })
            : ints.has_value();
    if (!as_attribute) opset = std::max(opset, moved.until);
  }
  return row.min_opset == nullptr ? opset : std::max(opset, row.min_opset(graph, node));
}

}  // namespace halftone::onnx_format
