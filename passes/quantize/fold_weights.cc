// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/fold_weights.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/editor.h"
#include "ir/quantization.h"
#include "passes/quantize/quantized_values.h"

namespace halftone {
namespace {

// A node whose result is known, and which no caller and no control edge needs as a node.
bool MayFold(const Graph& graph, NodeId id) {
  const ValueId y = graph.output(id);
  return !graph.HasControlEdges(id) && y.valid() && !graph.IsOutput(y) && !graph.IsCaptured(y);
}

void FoldCasts(ValueId weights, GraphEditor& edit) {
  const Graph& graph = edit.graph();
  for (const Use& use : std::vector<Use>(graph.uses(weights))) {
    if (graph.op(use.node) != OpKind::kCast || !MayFold(graph, use.node)) continue;
    const DataType type = graph.type(graph.output(use.node));
    if (!IsFloatingPoint(type)) continue;
    absl::StatusOr<Tensor> cast = graph.ConstantTensor(weights)->ConvertTo(type);
    if (cast.ok()) edit.ReplaceUses(graph.output(use.node), edit.AddConstant("", *std::move(cast)));
  }
}

}  // namespace

absl::Status FoldWeights::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.TopologicalOrder()) {
    if (graph.op(id) != OpKind::kDequantizeLinear || !MayFold(graph, id)) continue;
    const ValueId integers = graph.input(id, 0);
    const Tensor* tensor = graph.ConstantTensor(integers);
    if (tensor == nullptr || (tensor->type() != DataType::kInt8 && tensor->type() != DataType::kUInt8)) continue;
    const std::shared_ptr<const Quantization> quantization = QuantizationOf(graph, id);
    if (quantization == nullptr) continue;  // scales of blocks, narrow floats: each plan computes them
    if (context.log != nullptr) context.log->Applied(name(), graph, id, "dequantize(constant) => constant");
    const ValueId weights = edit.AddConstant("", Dequantized(*tensor, *quantization));
    edit.ReplaceUses(graph.output(id), weights);
    FoldCasts(weights, edit);
  }
  return absl::OkStatus();
}

}  // namespace halftone
