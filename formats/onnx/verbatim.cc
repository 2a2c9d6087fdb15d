// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/verbatim.h"

#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/opset_changes.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/tensors.h"
#include "ir/nested.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {
namespace {

// The opaque node with its attributes, subgraphs included; nothing else.
absl::StatusOr<onnx::NodeProto> AttributesOf(const Node& node) {
  onnx::NodeProto proto;
  proto.set_op_type(node.spelling);
  proto.set_domain(node.domain);
  for (size_t i = node.captures.size(); i < node.inputs.size(); ++i) proto.add_input("x");
  for (size_t i = 0; i < node.outputs.size(); ++i) proto.add_output("y");
  for (const auto& [name, value] : node.extra) {
    if (name.starts_with("_")) continue;
    HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto(name, value));
  }
  return proto;
}

}  // namespace

absl::Status CheckVerbatimNodes(const Graph& graph, int from, int to) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kOpaque || graph.node(id).extra.has(kOpsetMark)) continue;  // the writer looks at those
    HALFTONE_ASSIGN_OR_RETURN(const onnx::NodeProto proto, AttributesOf(graph.node(id)));
    absl::Status status;
    VisitNodes(proto, [&](const onnx::NodeProto& node) {
      const int change = FirstChange(node, from, to);
      if (change == 0 || !status.ok()) return;
      status = absl::UnimplementedError(Concat("node '", graph.Label(id),
                                               "' is passed through unchanged, and ONNX has another ", node.op_type(),
                                               " or none since opset ", change));
    });
    HALFTONE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status AddNamesInside(const Graph& graph, std::set<std::string>& names) {
  std::vector<const Graph*> work{&graph};
  while (!work.empty()) {
    const Graph& next = *work.back();
    work.pop_back();
    for (const NodeId id : next.nodes()) {
      const Node& node = next.node(id);
      if (node.op == OpKind::kOpaque) {
        HALFTONE_ASSIGN_OR_RETURN(const onnx::NodeProto proto, AttributesOf(node));
        AddNamesInside(proto, names);
      }
      for (const std::string_view name : NestedGraphNames(node.op)) {
        const std::shared_ptr<const Graph> nested = NestedGraph(node, name);
        HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
        std::set<NodeId> outside;  // inputs that have the names of values around
        for (size_t i = nested->inputs().size() - form.captured; i < nested->inputs().size(); ++i) {
          outside.insert(nested->inputs()[i]);
        }
        for (const NodeId inner : nested->nodes()) {
          if (outside.contains(inner)) continue;
          for (const ValueId value : nested->node(inner).outputs) {
            if (value.valid() && !nested->value(value).name.empty()) names.insert(nested->value(value).name);
          }
        }
        work.push_back(nested.get());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
