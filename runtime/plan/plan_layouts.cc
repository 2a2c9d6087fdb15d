// SPDX-License-Identifier: Apache-2.0
// How images lie: channels last or in blocks, the cheapest over the whole graph.
//
// As long as all images of a convolution fit into the caches the two are equal but for a percent or two, and what the
// kernels prefer by themselves is taken. Where they do not fit the times are measured, and:
// Nodes that compute faster in one of the two (convolutions) have a price for each; between two that disagree a
// conversion is paid. Nodes in between that work on any layout pass on what they read. What wants its operands plain
// (matmuls, reshapes) reads channels last without a conversion, or with the same one: it counts against blocks.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/window.h"
#include "runtime/plan/min_cut.h"
#include "runtime/plan/plan_builder_internal.h"

namespace halftone {
namespace {

constexpr int kConvResidual = 3;

// Ops whose kernels take any layout of images and write the same one.
constexpr OpKind kAnyLayout[] = {
    OpKind::kAbs,
    OpKind::kNeg,
    OpKind::kExp,
    OpKind::kSqrt,
    OpKind::kSquare,
    OpKind::kRelu,
    OpKind::kRelu6,
    OpKind::kTanh,
    OpKind::kSigmoid,
    OpKind::kElu,
    OpKind::kLeakyRelu,
    OpKind::kGelu,
    OpKind::kHardSwish,
    OpKind::kHardSigmoid,
    OpKind::kSwish,
    OpKind::kMish,
    OpKind::kClip,
    OpKind::kBatchNorm,
    OpKind::kMaxPool,
    OpKind::kAveragePool,
    OpKind::kGlobalAveragePool,
    OpKind::kGlobalMaxPool,
    OpKind::kAdd,
    OpKind::kSub,
    OpKind::kMul,
    OpKind::kDiv,
    OpKind::kMaximum,
    OpKind::kMinimum,
    OpKind::kSquaredDifference,
    OpKind::kConcat,
    OpKind::kIdentity,
    OpKind::kDropout,
    OpKind::kCast,
    OpKind::kLrn,
};

bool IsBinary(OpKind op) {
  return op == OpKind::kAdd || op == OpKind::kSub || op == OpKind::kMul || op == OpKind::kDiv ||
         op == OpKind::kMaximum || op == OpKind::kMinimum || op == OpKind::kSquaredDifference;
}

bool TakesAnyLayout(OpKind op) {
  return std::find(std::begin(kAnyLayout), std::end(kAnyLayout), op) != std::end(kAnyLayout);
}

}  // namespace

// Whether the node's kernel takes any layout of images and writes the same one.
bool PlanBuilder::PassesLayoutOn(NodeId id) const {
  const Node& node = graph_.node(id);
  if (!TakesAnyLayout(node.op) || !node.outputs[0].valid() || At(node.outputs[0]).dims.size() < 3) return false;
  if (node.op == OpKind::kConcat) return !JoinsUnevenBlocks(id);
  if (!IsBinary(node.op)) return true;
  // Broadcasts of blocks are no fast kernel's business.
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return At(input).dims == At(node.outputs[0]).dims || CheckedProduct(At(input).dims) == 1;
  });
}

// Whether a concatenation is along parts of blocks, which would have to be moved by single elements.
bool PlanBuilder::JoinsUnevenBlocks(NodeId id) const {
  constexpr int64_t kBlock = 16;
  const std::vector<ValueId>& inputs = graph_.node(id).inputs;
  const std::optional<Tensor>& given = At(inputs.back()).constant;
  const int64_t rank = static_cast<int64_t>(At(graph_.output(id)).dims.size());
  if (!given.has_value() || given->num_elements() != 1) return true;
  const int64_t axis = given->ToInts()[0] < 0 ? given->ToInts()[0] + rank : given->ToInts()[0];
  return std::any_of(inputs.begin(), inputs.end() - 1,
                     [&](ValueId input) { return At(input).dims[axis] % kBlock != 0; });
}

std::vector<NodeId> PlanBuilder::Convolutions() const {
  std::vector<NodeId> result;
  for (const NodeId id : needed_) {
    if (graph_.op(id) == OpKind::kConv && !IsFolded(id) && !OutputsAreEmpty(id) && !HasEmptyInput(id))
      result.push_back(id);
  }
  return result;
}

// Whether one of them reads and writes more than the caches hold.
bool PlanBuilder::HasLargeImages(std::span<const NodeId> convs) const {
  const size_t cache = backend_.CacheBytes();
  return std::any_of(convs.begin(), convs.end(), [&](NodeId id) {
    size_t bytes = 0;
    for (const ValueId value : {graph_.input(id, 0), graph_.output(id)})
      bytes += backend_.Bytes(At(value).dims, Placement{graph_.type(value)});
    return bytes > cache;
  });
}

void PlanBuilder::ChooseLayouts() {
  constexpr double kNoise = 1.01;  // a gain below that is none
  if (request_.options.reference_only) return;
  const std::vector<NodeId> convs = Convolutions();
  if (!HasLargeImages(convs)) return;
  std::map<NodeId, int> choosers;
  std::vector<LabelPrices> prices;  // channels last, blocks
  const std::vector<std::optional<LayoutSeconds>> times = SecondsByLayout(convs);
  for (size_t i = 0; i < convs.size(); ++i) {
    if (!times[i].has_value()) continue;
    choosers[convs[i]] = static_cast<int>(prices.size());
    prices.push_back({times[i]->channels_last, times[i]->channel_blocks * kNoise});
  }

  std::vector<LabelEdge> edges;
  std::vector<int> chooser_of(graph_.num_values(), -1);  // who decides how the value lies
  const auto seconds = [&](ValueId value) {
    return backend_.ReorderSeconds(backend_.Bytes(At(value).dims, Placement{graph_.type(value)}));
  };
  const auto chooser = [&](ValueId value) { return value.valid() ? chooser_of[value.index] : -1; };
  const auto connect = [&](int a, ValueId value) {
    const int b = chooser(value);
    if (a >= 0 && b >= 0 && a != b) edges.push_back({a, b, seconds(value)});
  };
  for (const NodeId id : needed_) {
    const Node& node = graph_.node(id);
    if (node.op == OpKind::kInput || node.op == OpKind::kConstant || IsFolded(id) || OutputsAreEmpty(id)) continue;
    if (const auto it = choosers.find(id); it != choosers.end()) {
      const ValueId image = graph_.input(id, 0);
      connect(it->second, image);
      connect(it->second, graph_.input(id, kConvResidual));
      // A plain tensor is channels last already where the model says so.
      if (chooser(image) < 0 && IsChannelsLast(node.attributes)) prices[it->second].second += seconds(image);
      chooser_of[node.outputs[0].index] = it->second;
      continue;
    }
    int first = -1;
    for (const ValueId input : node.inputs) first = first < 0 ? chooser(input) : first;
    if (first < 0) continue;
    if (PassesLayoutOn(id)) {
      for (const ValueId input : node.inputs) connect(first, input);
      chooser_of[node.outputs[0].index] = first;
      continue;
    }
    for (const ValueId input : node.inputs) {
      if (chooser(input) >= 0) prices[chooser(input)].second += seconds(input);
    }
  }
  const std::vector<bool> blocks = CheapestLabels(prices, edges);
  for (const auto& [conv, i] : choosers)
    layouts_[conv] = blocks[i] ? ImageLayout::kChannelBlocks : ImageLayout::kChannelsLast;
}

}  // namespace halftone
