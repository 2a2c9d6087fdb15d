// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/opsets.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/strings.h"
#include "formats/onnx/validator.h"
#include "formats/onnx/value_infos.h"
#include "ir/nested.h"

namespace halftone::onnx_format {
namespace {

constexpr int kDefaultOpset = 17;  // of a graph that was not imported

// The newest opset that can express the node.
int LastOpset(const Graph& graph, NodeId id) {
  const bool gone_in_13 =
      graph.op(id) == OpKind::kResize &&
      graph.node(id).attributes.String("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn";
  return gone_in_13 ? 12 : kMaxOpset;
}

}  // namespace

int OwnOpset(const Graph& graph) {
  const auto versions = HeaderList<std::vector<int64_t>>(graph, "opset");
  const auto domains = HeaderList<std::vector<std::string>>(graph, "opset_domains");
  for (size_t i = 0; i < versions.size(); ++i) {
    if (i >= domains.size() || domains[i].empty()) return static_cast<int>(versions[i]);
  }
  return kDefaultOpset;
}

HighestOpset HighestOpsetOf(const Graph& graph) {
  // Ops that passes have made may need a newer opset than the model's, whatever their types.
  int needed = OwnOpset(graph);
  HighestOpset last{kMaxOpset, ""};
  std::string pinned = HeaderBytes(graph, "rest") == nullptr ? "" : "its functions are passed through unchanged";
  for (const Graph* part : WithNested(graph)) {
    for (const NodeId id : part->nodes()) {
      const Node& node = part->node(id);
      if (node.op == OpKind::kOpaque && pinned.empty()) {
        pinned = Concat("node '", part->Label(id), "' (", OperatorName(*part, id), ") is passed through unchanged");
      }
      const OpRow* row = FindRow(node.op, node.spelling, node.domain);
      if (row == nullptr) continue;
      if (const int opset = MinOpsetWithoutTypes(*part, id, *row); opset <= kMaxOpset) needed = std::max(needed, opset);
      if (const int opset = LastOpset(*part, id); opset < last.opset) {
        last = {opset,
                Concat("node '", part->Label(id), "' (", OperatorName(*part, id), ") does not exist in newer opsets")};
      }
    }
  }
  if (!pinned.empty()) return {needed, std::move(pinned)};
  last.opset = std::max(last.opset, needed);
  return last;
}

std::string RefuseTypes(const Graph& graph, NodeId id, const HighestOpset& highest) {
  const Node& node = graph.node(id);
  const OpRow* row = FindRow(node.op, node.spelling, node.domain);
  if (row == nullptr) return "";
  const int since = TypesSince(graph, id, *row);
  if (since <= highest.opset) return "";
  const std::string what = Concat("ONNX's ", OperatorName(graph, id), " takes ");
  if (since > kMaxOpset) return Concat(what, "no ", TypesBelowFloat32(graph, id), " up to opset ", kMaxOpset);
  return Concat(what, TypesBelowFloat32(graph, id), " since opset ", since, ", the file has ", highest.opset, ": ",
                highest.why);
}

std::string OperatorName(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kOpaque) return Concat(node.domain, node.domain.empty() ? "" : ".", node.spelling);
  const OpRow* row = FindRow(node.op, node.spelling, node.domain);
  if (row == nullptr || row->onnx.empty()) return std::string(OpName(node.op));
  return Concat(row->domain, row->domain.empty() ? "" : ".", row->onnx);
}

}  // namespace halftone::onnx_format
