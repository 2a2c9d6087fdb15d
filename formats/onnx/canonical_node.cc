// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/canonical_node.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/tensors.h"

namespace halftone::onnx_format {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

bool HasKind(const onnx::AttributeProto& attribute, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
    case AttributeKind::kBool:
      return KindOf(attribute) == onnx::AttributeProto::INT;
    case AttributeKind::kFloat:
      return KindOf(attribute) == onnx::AttributeProto::FLOAT;
    case AttributeKind::kString:
      return KindOf(attribute) == onnx::AttributeProto::STRING;
    case AttributeKind::kInts:
      return KindOf(attribute) == onnx::AttributeProto::INTS;
    case AttributeKind::kFloats:
      return KindOf(attribute) == onnx::AttributeProto::FLOATS;
    case AttributeKind::kStrings:
      return KindOf(attribute) == onnx::AttributeProto::STRINGS;
  }
  return false;
}

absl::Status CheckKind(const onnx::AttributeProto& attribute, AttributeKind kind) {
  if (HasKind(attribute, kind) && attribute.ref_attr_name().empty()) return absl::OkStatus();
  return Invalid("attribute '", attribute.name(), "' is of type ",
                 onnx::AttributeProto::AttributeType_Name(KindOf(attribute)));
}

AttributeKind KindOfMoved(MovedRow::Form form) {
  if (form == MovedRow::Form::kInt) return AttributeKind::kInt;
  return form == MovedRow::Form::kFloat ? AttributeKind::kFloat : AttributeKind::kInts;
}

std::vector<int64_t> IntsOf(const onnx::AttributeProto& attribute) {
  return {attribute.ints().begin(), attribute.ints().end()};
}

// Takes over the attributes that the row names; false if there is one that the row does not know.
absl::StatusOr<bool> TakeAttributes(const NodeInFile& file, const OpRow& row, Node& node) {
  for (const onnx::AttributeProto& attribute : file.proto.attribute()) {
    const AttributeRow* found = nullptr;
    for (const AttributeRow& candidate : row.attributes) {
      const bool exists = file.opset >= candidate.since && file.opset < candidate.until;
      if (exists && candidate.onnx == attribute.name()) found = &candidate;
    }
    if (found == nullptr) {
      const bool moved = std::any_of(row.moved.begin(), row.moved.end(), [&](const MovedRow& candidate) {
        return candidate.onnx == attribute.name() && file.opset < candidate.until;
      });
      if (!moved && !IsReadByRule(row.onnx, attribute.name())) return false;
      continue;
    }
    HALFTONE_RETURN_IF_ERROR(CheckKind(attribute, found->kind));
    onnx::AttributeProto copy = attribute;
    AttributeValue value = found->kind == AttributeKind::kBool   ? AttributeValue(attribute.i() != 0)
                           : found->kind == AttributeKind::kInts ? AttributeValue(IntsOf(attribute))
                                                                 : TakeAttribute(copy);
    if (found->canonical.empty()) {
      node.extra.Set(attribute.name(), std::move(value));
    } else {
      node.attributes.Set(std::string(found->canonical), std::move(value));
    }
  }
  return true;
}

// An attribute of this opset that is an input of the canonical op becomes an unnamed constant.
absl::Status MoveAttribute(const NodeInFile& file, const MovedRow& moved, GraphEditor& edit, Node& node) {
  if (moved.input != kLastInput && file.HasInput(moved.input)) {
    return Invalid("it has ", file.inputs.size(), " inputs, at most ", moved.input, " are possible in opset ",
                   file.opset);
  }
  const onnx::AttributeProto* attribute = moved.onnx.empty() ? nullptr : file.Find(moved.onnx);
  if (attribute == nullptr) {
    return moved.required ? Invalid("attribute '", moved.onnx, "' is missing") : absl::OkStatus();
  }
  HALFTONE_RETURN_IF_ERROR(CheckKind(*attribute, KindOfMoved(moved.form)));
  Tensor tensor;
  if (moved.form == MovedRow::Form::kInt) {
    tensor = Tensor::IntScalar(attribute->i());
  } else if (moved.form == MovedRow::Form::kInts) {
    tensor = Tensor::Ints(IntsOf(*attribute));
  } else {
    const DataType type = file.HasInput(0) ? file.graph.type(file.inputs[0]) : DataType::kUnknown;
    tensor = Tensor::Scalar(attribute->f());
    if (IsFloatingPoint(type)) {
      HALFTONE_ASSIGN_OR_RETURN(tensor, tensor.ConvertTo(type));
    }
  }
  const size_t index = moved.input == kLastInput ? node.inputs.size() : static_cast<size_t>(moved.input);
  if (node.inputs.size() <= index) node.inputs.resize(index + 1, kNoValue);
  node.inputs[index] = edit.AddConstant("", std::move(tensor));
  return absl::OkStatus();
}

absl::Status CheckPorts(const onnx::NodeProto& proto, const Node& node) {
  const std::span<const Port> ports = Info(node.op).inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].variadic) {  // every port takes one value at least, and none may be absent, unless it is optional
      if (ports[i].optional) break;
      if (node.inputs.size() < ports.size()) return Invalid("input '", ports[i].name, "' is missing");
      const bool whole = std::find(node.inputs.begin(), node.inputs.end(), kNoValue) == node.inputs.end();
      if (!whole) return Invalid("one of its inputs has no name");
      break;
    }
    const bool present = i < node.inputs.size() && node.inputs[i].valid();
    if (!present && !ports[i].optional) return Invalid("input '", ports[i].name, "' is missing");
  }
  const int outputs = proto.output_size();
  if (outputs > 0 && OutputPort(node.op, outputs - 1) == nullptr) {
    return Invalid("it has ", outputs, " outputs, at most ", Info(node.op).outputs.size(), " are possible");
  }
  const bool first_absent = outputs == 0 || proto.output(0).empty();
  return first_absent && !Info(node.op).outputs[0].optional ? Invalid("its first output has no name")
                                                            : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<Node>> CanonicalNode(NodeInFile file, const OpRow& row, GraphEditor& edit) {
  while (!file.inputs.empty() && !file.inputs.back().valid()) file.inputs.pop_back();
  if (file.inputs.size() > static_cast<size_t>(row.max_inputs)) {
    return Invalid("it has ", file.inputs.size(), " inputs, at most ", row.max_inputs, " are possible");
  }
  if (row.keep_opaque != nullptr && !row.keep_opaque(file).empty()) return std::nullopt;
  Node node;
  node.op = row.op;
  if (FindRow(row.op) != &row) {
    node.spelling = row.onnx;
    node.domain = row.domain;
  }
  node.name = file.proto.name();
  node.inputs = file.inputs;
  HALFTONE_ASSIGN_OR_RETURN(const bool knows_all, TakeAttributes(file, row, node));
  if (!knows_all) return std::nullopt;
  for (const MovedRow& moved : row.moved) {
    if (file.opset < moved.until) HALFTONE_RETURN_IF_ERROR(MoveAttribute(file, moved, edit, node));
  }
  if (row.finish != nullptr) HALFTONE_RETURN_IF_ERROR(row.finish(file, edit, node));
  HALFTONE_RETURN_IF_ERROR(CheckPorts(file.proto, node));
  return node;
}

}  // namespace halftone::onnx_format
