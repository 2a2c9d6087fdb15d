// SPDX-License-Identifier: Apache-2.0
// w  =>  dequantize(w in 8 bits)          the file is a quarter as large, the computation stays in f32
//
// Applies to every f32 constant with at least minimum_size elements that are all finite. The dequantization is
// dequantize_range where the file has that op, otherwise dequantize_linear (scale and zero point). Not quantized: outputs of the graph, values that subgraphs read by name, and inputs that determine shapes. Outputs change
// by the rounding of the weights. The weights are dequantized once, when the model is loaded.

#include <limits>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "passes/fusion/contraction.h"
#include "passes/transforms/passes.h"
#include "passes/transforms/weight_grid.h"

namespace halftone {
namespace {

constexpr int64_t kSteps = 256;

bool DecidesShape(const Graph& g, ValueId value) {
  for (const Use& use : g.uses(value)) {
    const Port* port = InputPort(g.op(use.node), use.index, static_cast<int>(g.node(use.node).inputs.size()));
    if (port != nullptr && port->decides_shape) return true;
  }
  return false;
}

Tensor StepsOf(const Tensor& tensor, const WeightGrid& grid) {
  Tensor steps(DataType::kUInt8, tensor.dims());
  const std::span<const float> from = tensor.data<float>();
  const std::span<uint8_t> to = steps.mutable_data<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<uint8_t>(grid.StepOf(from[i]));
  return steps;
}

// The dequantization of the constant named `label`, without its first input.
Node Dequantization(GraphEditor& edit, const WeightGrid& grid, const std::string& label, bool by_range) {
  const auto constant = [&](std::string_view suffix, Tensor tensor) {
    return edit.AddConstant(FreshName(edit.graph(), Concat(label, "/", suffix)), std::move(tensor));
  };
  Node node;
  if (by_range) {
    node.op = OpKind::kDequantizeRange;
    node.inputs = {kNoValue, constant("low", Tensor::Scalar(grid.ValueOf(0))),
                   constant("high", Tensor::Scalar(grid.ValueOf(kSteps - 1)))};
    return node;
  }
  Tensor zero(DataType::kUInt8, {});
  zero.mutable_data<uint8_t>()[0] = static_cast<uint8_t>(grid.zero);
  node.op = OpKind::kDequantizeLinear;
  node.inputs = {kNoValue, constant("scale", Tensor::Scalar(grid.size)), constant("zero_point", std::move(zero))};
  return node;
}

class QuantizeWeights final : public Pass {
 public:
  explicit QuantizeWeights(int64_t minimum_size) : minimum_(minimum_size) {}
  std::string_view name() const override { return "quantize_weights"; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const Graph& g = edit.graph();
    for (const NodeId id : g.nodes()) {
      const Tensor* tensor = g.op(id) == OpKind::kConstant ? g.ConstantTensor(g.output(id)) : nullptr;
      if (tensor == nullptr || tensor->type() != DataType::kFloat32 || tensor->num_elements() < minimum_) continue;
      const ValueId weight = g.output(id);
      if (g.IsOutput(weight) || g.IsCaptured(weight) || g.HasControlEdges(id) || DecidesShape(g, weight)) continue;
      const std::optional<WeightGrid> grid = GridOver(tensor->data<float>(), kSteps);
      if (!grid.has_value()) continue;
      const std::string label = g.Label(id);
      if (context.log != nullptr) context.log->Applied(name(), g, id, "w => dequantize(w in 8 bits)");
      const bool by_range = context.file != nullptr && context.file->has(FileFeature::kDequantizeRange);
      Node node = Dequantization(edit, *grid, label, by_range);
      node.inputs[0] = edit.AddConstant(FreshName(g, label + "/quantized"), StepsOf(*tensor, *grid));
      edit.SetDevice(g.producer(node.inputs[0]), g.node(id).device);
      node.origin = g.node(id).origin;
      edit.ReplaceNode(id, edit.AddNode(std::move(node), {{DataType::kFloat32, g.shape(weight), ""}}));
    }
    return absl::OkStatus();
  }

 private:
  int64_t minimum_;
};

}  // namespace

std::unique_ptr<Pass> MakeQuantizeWeights(int64_t minimum_size) {
  return std::make_unique<QuantizeWeights>(minimum_size);
}

}  // namespace halftone
