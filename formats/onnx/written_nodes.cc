// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/written_nodes.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/tensors.h"
#include "onnx/defs/data_type_utils.h"

namespace halftone::onnx_format {
namespace {

using Formals = std::vector<onnx::OpSchema::FormalParameter>;
using TypeVariables = std::vector<std::pair<std::string_view, onnx::DataType>>;

// Operators of ONNX's own domain that ONNX Runtime adds; its tools write them.
constexpr std::string_view kOnnxRuntimeOperators[] = {"LayerNormalization", "SimplifiedLayerNormalization"};

// ONNX's name of the type; nullptr where it has none.
onnx::DataType NameOf(DataType type) {
  static const auto& names = *[] {
    auto* all = new std::array<onnx::DataType, kNumDataTypes>{};
    for (int i = 0; i < kNumDataTypes; ++i) {
      const int onnx_type = ToOnnxType(static_cast<DataType>(i));
      if (onnx_type == onnx::TensorProto::UNDEFINED) continue;
      onnx::TypeProto proto;
      proto.mutable_tensor_type()->set_elem_type(onnx_type);
      (*all)[i] = onnx::Utils::DataTypeUtils::ToType(proto);
    }
    return all;
  }();
  return names[static_cast<size_t>(type)];
}

// The parameter of input or output `i`: a variadic one stands for all that follow. The count was checked.
const onnx::OpSchema::FormalParameter& FormalOf(const Formals& formals, int i) {
  return formals[std::min<size_t>(i, formals.size() - 1)];
}

template <typename... Args>
absl::Status Wrong(const Args&... args) {
  return absl::InternalError(Concat(args...));
}

absl::Status CheckCounts(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  if (node.input_size() < schema.min_input() || node.input_size() > schema.max_input()) {
    return Wrong("has ", node.input_size(), " inputs, need ", schema.min_input(), " to ", schema.max_input());
  }
  if (node.output_size() < schema.min_output() || node.output_size() > schema.max_output()) {
    return Wrong("has ", node.output_size(), " outputs, need ", schema.min_output(), " to ", schema.max_output());
  }
  for (int i = 0; i < node.input_size(); ++i) {
    const auto& formal = FormalOf(schema.inputs(), i);
    if (node.input(i).empty() && formal.GetOption() == onnx::OpSchema::Single) {
      return Wrong("lacks input ", i, " (", formal.GetName(), ")");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAttributes(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const auto known = schema.attributes().find(attribute.name());
    if (known == schema.attributes().end()) return Wrong("has no attribute '", attribute.name(), "'");
    if (known->second.type != KindOf(attribute)) {
      return Wrong("wants attribute '", attribute.name(), "' of type ",
                   onnx::AttributeProto::AttributeType_Name(known->second.type), ", not ",
                   onnx::AttributeProto::AttributeType_Name(KindOf(attribute)));
    }
  }
  for (const auto& [name, known] : schema.attributes()) {
    if (!known.required) continue;
    const auto has_name = [&name = name](const onnx::AttributeProto& attribute) { return attribute.name() == name; };
    if (std::none_of(node.attribute().begin(), node.attribute().end(), has_name)) {
      return Wrong("lacks attribute '", name, "'");
    }
  }
  return absl::OkStatus();
}

// The type must be one that the parameter takes, and the same for all parameters of one type variable ("T").
absl::Status CheckType(const onnx::OpSchema::FormalParameter& formal, onnx::DataType type, TypeVariables& variables) {
  if (!formal.GetTypes().contains(type)) return Wrong("takes no ", *type, " as ", formal.GetName());
  if (!formal.GetIsHomogeneous()) return absl::OkStatus();
  for (const auto& [variable, bound] : variables) {
    if (variable != formal.GetTypeStr()) continue;
    return bound == type ? absl::OkStatus()
                         : Wrong("takes ", formal.GetName(), " as ", *bound, " where it has ", *type);
  }
  variables.emplace_back(formal.GetTypeStr(), type);
  return absl::OkStatus();
}

// The only type that the parameter can have, or that of its variable; nullptr where neither is known.
onnx::DataType TypeOf(const onnx::OpSchema::FormalParameter& formal, const TypeVariables& variables) {
  if (formal.GetTypes().size() == 1) return *formal.GetTypes().begin();
  if (!formal.GetIsHomogeneous()) return nullptr;
  for (const auto& [variable, bound] : variables) {
    if (variable == formal.GetTypeStr()) return bound;
  }
  return nullptr;
}

absl::Status CheckTypes(const onnx::NodeProto& node, const onnx::OpSchema& schema, WrittenTypes& types) {
  TypeVariables variables;
  for (int i = 0; i < node.input_size(); ++i) {
    const onnx::DataType type = types.Find(node.input(i));
    if (type == nullptr) continue;
    HALFTONE_RETURN_IF_ERROR(CheckType(FormalOf(schema.inputs(), i), type, variables));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const auto& formal = FormalOf(schema.outputs(), i);
    if (const onnx::DataType type = types.Find(node.output(i)); type != nullptr) {
      HALFTONE_RETURN_IF_ERROR(CheckType(formal, type, variables));
    } else if (const onnx::DataType found = TypeOf(formal, variables); found != nullptr) {
      types.Set(node.output(i), found);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckByRow(const onnx::NodeProto& node) {
  const OpRow* row = FindRow(node.domain(), node.op_type());
  if (row == nullptr) return Wrong("is no operator that is written here");
  if (node.input_size() > row->max_inputs)
    return Wrong("has ", node.input_size(), " inputs, at most ", row->max_inputs);
  return absl::OkStatus();
}

absl::Status Check(const onnx::NodeProto& node, int opset, WrittenTypes& types) {
  if (node.domain() == "com.microsoft") return CheckByRow(node);
  if (!node.domain().empty()) return absl::OkStatus();
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "");
  const bool added = std::find(std::begin(kOnnxRuntimeOperators), std::end(kOnnxRuntimeOperators), node.op_type()) !=
                     std::end(kOnnxRuntimeOperators);
  if (schema == nullptr && added) return CheckByRow(node);
  if (schema == nullptr || schema->Deprecated()) return Wrong("is no operator of it");
  HALFTONE_RETURN_IF_ERROR(CheckCounts(node, *schema));
  HALFTONE_RETURN_IF_ERROR(CheckAttributes(node, *schema));
  return CheckTypes(node, *schema, types);
}

}  // namespace

void WrittenTypes::Set(const std::string& name, DataType type) {
  if (const onnx::DataType known = NameOf(type); known != nullptr && !name.empty()) types_[name] = known;
}

onnx::DataType WrittenTypes::Find(const std::string& name) const {
  if (name.empty()) return nullptr;
  for (const WrittenTypes* types = this; types != nullptr; types = types->outer_) {
    if (const auto it = types->types_.find(name); it != types->types_.end()) return it->second;
  }
  return nullptr;
}

absl::Status CheckWrittenNode(const onnx::NodeProto& node, int opset, WrittenTypes& types) {
  const absl::Status status = Check(node, opset, types);
  if (status.ok()) return status;  // most are: no text is made for them
  return Wrong("the file would be invalid in opset ", opset, ": ", node.op_type(), " ", StdView(status.message()));
}

}  // namespace halftone::onnx_format
