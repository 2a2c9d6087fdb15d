// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/strings.h"

namespace halftone::onnx_format {
namespace {

std::string Label(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : node.op_type();
}

}  // namespace

absl::StatusOr<std::vector<int>> OrderNodes(const onnx::GraphProto& graph,
                                            const std::vector<std::vector<std::string>>& captures,
                                            const std::set<std::string>& known) {
  std::unordered_map<std::string, int> makers;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (!output.empty()) makers[output] = i;
    }
  }
  // Kahn's algorithm; a heap keeps the file's order among the nodes that are ready.
  std::vector<int> waiting(graph.node_size(), 0);
  std::vector<std::vector<int>> readers(graph.node_size());
  for (int i = 0; i < graph.node_size(); ++i) {
    std::vector<std::string> names(graph.node(i).input().begin(), graph.node(i).input().end());
    names.insert(names.end(), captures[i].begin(), captures[i].end());
    for (const std::string& name : names) {
      if (name.empty() || known.contains(name)) continue;
      const auto maker = makers.find(name);
      if (maker == makers.end()) {
        return absl::InvalidArgumentError(Concat("node '", Label(graph.node(i)), "' (", graph.node(i).op_type(),
                                                 ") reads '", name,
                                                 "', which is no input, initializer or output of a node"));
      }
      readers[maker->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int reader : readers[node]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    if (waiting[i] > 0)
      return absl::InvalidArgumentError(Concat("node '", Label(graph.node(i)), "' is part of a cycle"));
  }
  return order;
}

}  // namespace halftone::onnx_format
