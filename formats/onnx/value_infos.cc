// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/value_infos.h"

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/tensors.h"

namespace halftone::onnx_format {

const std::string* HeaderBytes(const Graph& graph, std::string_view name) {
  const AttributeValue* value = graph.header().find(name);
  const RawBytes* bytes = value == nullptr ? nullptr : std::get_if<RawBytes>(value);
  return bytes == nullptr ? nullptr : &bytes->bytes;
}

absl::Status SetInfo(const Graph& graph, ValueId value, const std::string& name, const std::string& old_name,
                     onnx::ValueInfoProto& info) {
  const DataType type = graph.type(value);
  if (type != DataType::kUnknown && ToOnnxType(type) == onnx::TensorProto::UNDEFINED) {
    return absl::UnimplementedError(Concat("value '", name, "': ONNX has no type ", DataTypeName(type)));
  }
  SetValueInfo(name, type, graph.shape(value), info);
  const std::string* kept = HeaderBytes(graph, Concat("type:", old_name));
  if (type == DataType::kUnknown && kept != nullptr && !ParseMessage(*kept, *info.mutable_type())) {
    return absl::InvalidArgumentError(Concat("header 'type:", old_name, "' is no TypeProto"));
  }
  return absl::OkStatus();
}

absl::Status AddOpaqueInfos(const Graph& graph, const ValueNames& names, onnx::GraphProto& proto) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kOpaque) continue;
    for (const ValueId value : graph.node(id).outputs) {
      if (!value.valid() || graph.type(value) == DataType::kUnknown || graph.IsOutput(value)) continue;
      HALFTONE_RETURN_IF_ERROR(SetInfo(graph, value, names.of(value), names.of(value), *proto.add_value_info()));
    }
  }
  return absl::OkStatus();
}

absl::Status SetGraphHeader(const Graph& graph, onnx::GraphProto& proto) {
  if (const std::string* rest = HeaderBytes(graph, "graph_rest"); rest != nullptr && !ParseMessage(*rest, proto)) {
    return absl::InvalidArgumentError("header 'graph_rest' is no GraphProto");
  }
  if (graph.header().has("graph_doc_string")) proto.set_doc_string(graph.header().String("graph_doc_string", ""));
  proto.set_name(graph.name().empty() ? "graph" : graph.name());
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
