// SPDX-License-Identifier: Apache-2.0
// Rows of control flow. Their subgraphs are read by control_importer.cc and written by nested_writer.cc.
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/op_rows.h"
#include "formats/onnx/tensors.h"
#include "ir/nested.h"

namespace halftone::onnx_format {
namespace {

std::string_view OnnxGraphName(std::string_view name) {
  if (name == "then") return "then_branch";
  return name == "else" ? "else_branch" : name;
}

// An output without consumers keeps its place: the subgraph makes it all the same.
std::vector<std::string> AllOutputs(const NodeWriter& writer, NodeId id) {
  std::vector<std::string> names = writer.Made(id);
  names.resize(writer.graph().node(id).outputs.size());
  return names;
}

absl::Status WriteControlFlow(NodeWriter& writer, NodeId id) {
  const Node& node = writer.graph().node(id);
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  onnx::NodeProto proto;
  HALFTONE_RETURN_IF_ERROR(writer.WriteExtra(node, proto));
  for (const std::string_view name : NestedGraphNames(node.op)) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(std::string(OnnxGraphName(name)));
    attribute.set_type(onnx::AttributeProto::GRAPH);
    HALFTONE_ASSIGN_OR_RETURN(*attribute.mutable_g(), writer.WriteNested(id, name));
  }
  for (const auto& [name, value] : node.attributes) {
    if (std::holds_alternative<std::shared_ptr<const Graph>>(value)) continue;
    HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto(name, value));
  }
  std::vector<std::string> inputs;
  for (size_t i = 0; i + form.captured < node.inputs.size(); ++i) inputs.push_back(writer.Read(node.inputs[i]));
  const std::string_view op_type = node.op == OpKind::kIf ? "If" : node.op == OpKind::kLoop ? "Loop" : "Scan";
  onnx::NodeProto& written = writer.Add(op_type, std::move(inputs), AllOutputs(writer, id));
  while (node.op == OpKind::kLoop && written.input_size() < 2) written.add_input("");  // absent, but they have places
  if (!node.name.empty()) written.set_name(node.name);
  written.mutable_attribute()->Swap(proto.mutable_attribute());
  if (!proto.doc_string().empty()) written.set_doc_string(proto.doc_string());
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {"If", OpKind::kIf, 1, 16, kNever, {}, {}, nullptr, nullptr, nullptr, WriteControlFlow},
    {"Loop", OpKind::kLoop, 1, 16, kNever, {}, {}, nullptr, nullptr, nullptr, WriteControlFlow},
    {"Scan", OpKind::kScan, 9, 16, kNever, {}, {}, nullptr, nullptr, nullptr, WriteControlFlow},
};

}  // namespace

std::span<const OpRow> ControlRows() { return kRows; }

}  // namespace halftone::onnx_format
