// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/quantize_weights.h"

#include <map>
#include <optional>

#include "base/status.h"
#include "ir/editor.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/weights_quantizer.h"

namespace halftone {
namespace {

constexpr int kLimit = 127;

bool IsTable(const Graph& graph, NodeId gather) {
  const ValueId axis = graph.input(gather, 2);
  return (!axis.valid() || graph.ConstantScalar(axis) == 0.0) &&
         graph.node(gather).attributes.Int("batch_dims", 0) == 0;
}

std::vector<WeightInput> Candidates(const Graph& graph, NodeId id) {
  switch (graph.op(id)) {
    case OpKind::kConv:
    case OpKind::kMatMul:
    case OpKind::kGemm:
    case OpKind::kConvTranspose:
      return {{1, OutputChannelAxis(graph, id)}};
    case OpKind::kGather:
      return IsTable(graph, id) ? std::vector<WeightInput>{{0, 0}} : std::vector<WeightInput>{};
    case OpKind::kLstm:
    case OpKind::kGru:
    case OpKind::kRnn:
      return {{1, 1}, {2, 1}};  // [directions, rows of gates, ..]
    default:
      return {};
  }
}

}  // namespace

std::vector<WeightInput> WeightInputsOf(const Graph& graph, NodeId id) {
  std::vector<WeightInput> inputs;
  for (const WeightInput& candidate : Candidates(graph, id)) {
    const ValueId value = graph.input(id, candidate.input);
    const Tensor* tensor = value.valid() ? graph.ConstantTensor(value) : nullptr;
    const bool fits = tensor != nullptr && tensor->type() == DataType::kFloat32 && tensor->rank() >= 2;
    if (!fits || tensor->num_elements() == 0) continue;
    if (QuantizationOfWeights(*tensor, /*axis=*/-1, kLimit).ok()) inputs.push_back(candidate);
  }
  return inputs;
}

absl::Status QuantizeWeights::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  std::map<std::pair<ValueId, int>, ValueId> made;  // by constant and axis: it may have several readers
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!nodes_.contains(id)) continue;
    for (const WeightInput& weights : WeightInputsOf(graph, id)) {
      const ValueId value = graph.input(id, weights.input);
      const int axis = per_channel_ ? weights.axis : -1;
      auto known = made.find({value, axis});
      if (known == made.end()) {
        const Tensor& tensor = *graph.ConstantTensor(value);
        HALFTONE_ASSIGN_OR_RETURN(const Quantization quantization, QuantizationOfWeights(tensor, axis, kLimit));
        Tensor integers = QuantizedWeights(tensor, quantization, kLimit);
        known = made.emplace(std::pair(value, axis), AddDequantized(edit, std::move(integers), quantization)).first;
      }
      edit.SetInput(id, weights.input, known->second);
      if (context.log != nullptr) context.log->Applied(name(), graph, id, "op(x, w) => op(x, dq(w))");
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone
