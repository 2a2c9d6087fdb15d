// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/recurrent_state.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/recurrent.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/quantized_values.h"
#include "passes/quantize/weights_quantizer.h"

namespace halftone {
namespace {

absl::StatusOr<RecurrentOptions> OptionsOf(const Graph& graph, NodeId id) {
  return ResolveRecurrent(graph.op(id), graph.node(id).attributes);
}

// A vector of one number, or of some.
ValueId Vector(GraphEditor& edit, const std::vector<int64_t>& numbers) {
  return edit.AddConstant("", Tensor::Of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers));
}

// Zeros as the initial state, for as many sequences as x has.
ValueId ZeroState(GraphEditor& edit, NodeId id) {
  const Graph& graph = edit.graph();
  const RecurrentOptions options = *OptionsOf(graph, id);
  const ValueId x = graph.input(id, kRecurrentX);
  const int batch_axis = options.batch_first ? 0 : 1;
  const Dim batch = graph.shape(x).dim(batch_axis);
  const int64_t directions = options.directions();
  const int64_t hidden = graph.shape(graph.input(id, kRecurrentR)).dim(2).value;
  const auto ordered = [&](auto of_batch, auto of_directions, auto of_hidden) {
    return options.batch_first ? std::vector{of_batch, of_directions, of_hidden}
                               : std::vector{of_directions, of_batch, of_hidden};
  };
  if (batch.known()) {
    return edit.AddConstant("", Tensor(DataType::kFloat32, ordered(batch.value, directions, hidden)));
  }
  const ValueSpec vector{DataType::kInt64, Shape::Of({3}), ""}, one{DataType::kInt64, Shape::Of({1}), ""};
  const ValueId dims = graph.output(edit.Add(OpKind::kShape, "", {x}, vector));
  const ValueId size = graph.output(edit.Add(
      OpKind::kSlice, "", {dims, Vector(edit, {batch_axis}), Vector(edit, {batch_axis + 1}), Vector(edit, {0})}, one));
  std::vector<ValueId> parts = ordered(size, Vector(edit, {directions}), Vector(edit, {hidden}));
  parts.push_back(edit.AddConstant("", Tensor::Of<int64_t>({}, std::vector<int64_t>{0})));
  const ValueId shape = graph.output(edit.Add(OpKind::kConcat, "", std::move(parts), vector));
  const ValueId zero = edit.AddConstant("", Tensor(DataType::kFloat32, {}));
  return graph.output(edit.Add(OpKind::kFill, "", {shape, zero},
                               {DataType::kFloat32, Shape(ordered(batch, Dim::Of(directions), Dim::Of(hidden))), ""}));
}

// One recurrent node with bytes.
class StateFolder {
 public:
  StateFolder(GraphEditor& edit, PassContext& context, std::string_view pass)
      : edit_(edit), graph_(edit.graph()), context_(context), pass_(pass) {}

  void Run(NodeId id) {
    const std::string refusal = Fold(id);
    if (context_.log == nullptr) return;
    if (!refusal.empty()) return context_.log->Refused(pass_, graph_, id, refusal);
    ++context_.matches;
  }

 private:
  std::string Fold(NodeId id) {
    if (graph_.HasControlEdges(id)) return "it has control edges";
    Node folded = graph_.node(id);
    for (const int i : {kRecurrentX, kRecurrentW, kRecurrentR}) {
      const ValueId integers = IntegersOf(graph_, graph_.input(id, i));
      if (!integers.valid()) return Concat("input ", i, " is no dequantized integer");
      const Quantization& quantization = *graph_.quantization(integers);
      const bool weights = i != kRecurrentX;
      const bool fits = quantization.per_tensor() || (weights && quantization.axis == OutputChannelAxis(graph_, id));
      if (!fits) return Concat("input ", i, " has scales along another axis than its rows");
      folded.inputs[i] = integers;
    }
    const ValueId state = graph_.input(id, kRecurrentH);
    const ValueId integers = IntegersOf(graph_, state);
    if (!integers.valid() || !graph_.quantization(integers)->per_tensor())
      return "the initial state has no scale, which is that of all later states";
    const Quantization& quantization = *graph_.quantization(integers);
    const int32_t shift = graph_.type(integers) == DataType::kInt8 ? 128 : 0;  // u8 that stand for the same
    folded.attributes.Set("state_scale", quantization.scales[0]);
    folded.attributes.Set("state_zero_point", static_cast<int64_t>(quantization.zero_points[0] + shift));

    std::vector<ValueSpec> specs;
    for (const ValueId output : folded.outputs) {
      specs.push_back(output.valid() ? ValueSpec{graph_.type(output), graph_.shape(output), ""} : ValueSpec{});
    }
    const std::vector<ValueId> outputs = folded.outputs;
    const NodeId clone = edit_.AddNode(std::move(folded), std::move(specs));
    const auto written = std::ranges::find_if(graph_.node(clone).outputs, [](ValueId v) { return v.valid(); });
    const absl::Status status = context_.target.SupportsQuantized(graph_, clone, graph_.node(clone).inputs, *written);
    if (!status.ok()) {
      edit_.RemoveNode(clone);
      return std::string(StdView(status.message()));
    }
    if (context_.log != nullptr)
      context_.log->Applied(pass_, graph_, id, Concat(OpName(graph_.op(id)), "(dq(x), dq(w), dq(r)) => in integers"));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].valid()) edit_.ReplaceUses(outputs[i], graph_.output(clone, static_cast<int>(i)));
    }
    edit_.RemoveNode(id);
    return "";
  }

  GraphEditor& edit_;
  const Graph& graph_;
  PassContext& context_;
  const std::string_view pass_;
};

}  // namespace

std::string WhyNoStateRange(const Graph& graph, NodeId id, const ValueRanges& ranges) {
  const absl::StatusOr<RecurrentOptions> options = OptionsOf(graph, id);
  if (!options.ok()) return std::string(StdView(options.status().message()));
  if (!StateIsBounded(*options)) return "its activations do not bound the state";
  const ValueId state = graph.input(id, kRecurrentH);
  if (!state.valid()) {
    return graph.shape(graph.input(id, kRecurrentX)).has_rank()
               ? ""
               : "the rank of x is unknown, so that it cannot get a state";
  }
  if (graph.type(state) != DataType::kFloat32) return "its state is not f32";
  if (graph.IsConstant(state) || ranges.Find(graph, state) != nullptr) return "";
  return Concat("no range of '", RangeName(graph, state), "' is known");
}

StateRange StateRangeOf(const Graph& graph, NodeId id, const ValueRanges& ranges) {
  StateRange result;
  const auto include = [&](float number) {
    result.min = std::min(result.min, number);
    result.max = std::max(result.max, number);
  };
  const ValueId state = graph.input(id, kRecurrentH);
  if (!state.valid()) return result;
  if (const Tensor* constant = graph.ConstantTensor(state); constant != nullptr) {
    for (const float number : constant->ToFloats()) include(number);
  } else if (const ValueRange* range = ranges.Find(graph, state); range != nullptr) {
    include(range->min);
    include(range->max);
  }
  return result;
}

void QuantizeState(GraphEditor& edit, NodeId id, DataType type, const Quantization& quantization) {
  const Graph& graph = edit.graph();
  ValueId state = graph.input(id, kRecurrentH);
  if (!state.valid()) state = ZeroState(edit, id);
  const Tensor* constant = graph.ConstantTensor(state);
  const ValueId real = constant != nullptr
                           ? AddDequantized(edit, Quantized(*constant, type, quantization), quantization)
                           : AddQuantizePair(edit, state, type, quantization);
  std::vector<ValueId> inputs = graph.node(id).inputs;
  inputs.resize(std::max<size_t>(inputs.size(), kRecurrentH + 1), kNoValue);
  inputs[kRecurrentH] = real;
  edit.SetInputs(id, std::move(inputs));
}

absl::Status FoldRecurrentQuantization::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.TopologicalOrder()) {
    const ValueId w = Info(graph.op(id)).group == OpGroup::kRecurrent ? graph.input(id, kRecurrentW) : kNoValue;
    if (w.valid() && graph.op(w) == OpKind::kDequantizeLinear) nodes.push_back(id);
  }
  if (nodes.empty()) return absl::OkStatus();
  AnnotateIntegers(edit);
  StateFolder folder(edit, context, name());
  for (const NodeId id : nodes) folder.Run(id);
  return absl::OkStatus();
}

}  // namespace halftone
