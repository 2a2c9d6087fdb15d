// SPDX-License-Identifier: Apache-2.0
#include "passes/export/share_constants.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/file_types.h"

namespace halftone {
namespace {

constexpr size_t kNodeBytes = 128;  // of a cast with its names, about, in either format

bool IsSmall(const Tensor& tensor) { return tensor.byte_size() <= kNodeBytes; }

bool InOnePlace(const Node& a, const Node& b) { return a.device == b.device && a.control_inputs == b.control_inputs; }

// Such weights are rearranged when the file is written, which can be done with a constant alone.
bool IsRearranged(const FileDialect& file, const Graph& g, ValueId weights) {
  if (file.has(FileFeature::kConvWeightsChannelsFirst)) return false;
  for (const Use& use : g.uses(weights)) {
    const Node& reader = g.node(use.node);
    if (reader.op != OpKind::kConv && reader.op != OpKind::kConvTranspose) continue;
    const std::string layout = reader.attributes.String("weights_layout", "");
    const bool as_it_is =
        layout == "HWCM" || layout == "HWOI" || (layout == "HWIO" && reader.attributes.Int("group", 1) == 1);
    if (!as_it_is) return true;
  }
  return false;
}

}  // namespace

absl::Status ShareConstants::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& g = edit.graph();
  std::map<std::vector<int64_t>, std::vector<NodeId>> wide;  // by dimensions
  std::vector<NodeId> narrow;
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kConstant) continue;
    const Tensor& tensor = *g.ConstantTensor(g.output(id));
    if (tensor.type() == DataType::kFloat32) wide[tensor.dims()].push_back(id);
    if (IsBelowFloat32(tensor.type()) && !IsSmall(tensor)) narrow.push_back(id);
  }
  std::map<std::pair<NodeId, DataType>, Tensor> rounded;
  for (const NodeId id : narrow) {
    const ValueId value = g.output(id);
    const Tensor tensor = *g.ConstantTensor(value);
    const auto candidates = wide.find(tensor.dims());
    if (candidates == wide.end() || g.IsOutput(value) || g.IsCaptured(value) || IsRearranged(file_, g, value)) continue;
    for (const NodeId other : candidates->second) {
      if (!InOnePlace(g.node(id), g.node(other))) continue;
      const auto [it, added] = rounded.try_emplace({other, tensor.type()});
      if (added) {
        absl::StatusOr<Tensor> converted = g.ConstantTensor(g.output(other))->ConvertTo(tensor.type());
        if (!converted.ok()) return converted.status();
        it->second = *std::move(converted);
      }
      if (!it->second.SameBytes(tensor)) continue;
      Node cast;
      cast.op = OpKind::kCast;
      cast.inputs = {g.output(other)};
      cast.device = g.node(id).device;
      const NodeId made = edit.AddNode(std::move(cast), {{tensor.type(), tensor.shape(), ""}});
      edit.ReplaceNode(id, made);
      if (context.log != nullptr) context.log->Applied(name(), g, made, "stored once, in f32, with a cast");
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone
