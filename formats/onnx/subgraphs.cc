// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/subgraphs.h"

namespace halftone::onnx_format {
namespace {

std::vector<const onnx::GraphProto*> Subgraphs(const onnx::NodeProto& node) {
  std::vector<const onnx::GraphProto*> result;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) result.push_back(&attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) result.push_back(&graph);
  }
  return result;
}

void AddCaptures(const onnx::GraphProto& graph, std::set<std::string>& seen, std::vector<std::string>& captured) {
  const std::set<std::string> local = NamesMadeIn(graph);
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !local.contains(name) && seen.insert(name).second) captured.push_back(name);
  };
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) add(input);
    for (const std::string& name : CapturedNames(node)) add(name);
  }
  for (const onnx::ValueInfoProto& output : graph.output()) add(output.name());
}

}  // namespace

std::set<std::string> NamesMadeIn(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const onnx::NodeProto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

void AddAllNames(const onnx::GraphProto& graph, std::set<std::string>& names) {
  names.merge(NamesMadeIn(graph));
  for (const onnx::NodeProto& node : graph.node()) AddNamesInside(node, names);
}

bool HasSubgraph(const onnx::NodeProto& node) { return !Subgraphs(node).empty(); }

std::vector<std::string> CapturedNames(const onnx::NodeProto& node) {
  std::vector<std::string> captured;
  std::set<std::string> seen;
  for (const onnx::GraphProto* graph : Subgraphs(node)) AddCaptures(*graph, seen, captured);
  return captured;
}

void AddNamesInside(const onnx::NodeProto& node, std::set<std::string>& names) {
  for (const onnx::GraphProto* graph : Subgraphs(node)) AddAllNames(*graph, names);
}

void VisitNodes(const onnx::NodeProto& node, const std::function<void(const onnx::NodeProto&)>& visit) {
  visit(node);
  for (const onnx::GraphProto* graph : Subgraphs(node)) {
    for (const onnx::NodeProto& inner : graph->node()) VisitNodes(inner, visit);
  }
}

}  // namespace halftone::onnx_format
