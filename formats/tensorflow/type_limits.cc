// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/type_limits.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/written_as.h"

namespace halftone {
namespace graphdef {
namespace {

constexpr TypeLimit kLimits[] = {
    {"CropAndResize", true},  //
    {"DivNoNan", true},
    {"FusedBatchNorm", false},
    {"FusedPadConv2D", true},
    {"GRUBlockCell", false},
    {"LSTMBlockCell", true},
    {"NonMaxSuppressionV2", true},
    {"NonMaxSuppressionV3", true},
    {"QuantizedResizeBilinear", false},
    {"ResizeBicubic", true},
    {"ResizeNearestNeighbor", true},
    {"Reverse", true},
};

// The words of a signature without counted ports; empty for others.
std::vector<std::string_view> Words(std::string_view signature) {
  std::vector<std::string_view> words;
  if (signature.find_first_of("*[") != std::string_view::npos) return words;
  while (!signature.empty()) {
    const size_t comma = std::min(signature.find(','), signature.size());
    words.push_back(signature.substr(0, comma));
    signature.remove_prefix(std::min(comma + 1, signature.size()));
  }
  return words;
}

// A value below f32 at a port that is always f32.
bool StandsAtF32(const Graph& graph, const std::vector<ValueId>& values, std::string_view signature,
                 std::string_view order) {
  const std::vector<std::string_view> words = Words(signature);
  const std::vector<int> ports = ReadOrder(order, static_cast<int>(words.size()));
  for (size_t i = 0; i < values.size() && i < ports.size(); ++i) {
    if (!values[i].valid() || ports[i] < 0 || static_cast<size_t>(ports[i]) >= words.size()) continue;
    if (words[ports[i]] == "f32" && IsBelowFloat32(graph.type(values[i]))) return true;
  }
  return false;
}

}  // namespace

std::span<const TypeLimit> TypeLimits() { return kLimits; }

std::string RefuseTypes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string types = TypesBelowFloat32(graph, id);
  if (types.empty() || node.op == OpKind::kOpaque) return "";
  const OpRow* row = OwnWriter(graph, id);
  if (row == nullptr) row = SpelledRow(graph, id);
  if (row == nullptr) return "";
  const auto limit =
      std::find_if(std::begin(kLimits), std::end(kLimits), [&](const TypeLimit& l) { return l.tf_op == row->tf_op; });
  const bool limited = limit != std::end(kLimits) && !(limit->takes_f16 && types == "f16");
  if (limited || StandsAtF32(graph, node.inputs, row->inputs, row->order) ||
      StandsAtF32(graph, node.outputs, row->outputs, row->output_order)) {
    return Concat("TensorFlow's ", row->tf_op, " takes no ", types);
  }
  return "";
}

}  // namespace graphdef

FileTypes GraphDefFileTypes() {
  return [](const Graph& graph) -> TypeRefusal {
    return [&graph](NodeId id) { return graphdef::RefuseTypes(graph, id); };
  };
}

}  // namespace halftone
