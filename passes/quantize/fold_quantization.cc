// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/fold_quantization.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/core/memo_target.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/quantized_values.h"

namespace halftone {
namespace {

// Of integers with the same quantization and type as `like`.
ValueSpec SpecLike(const Graph& graph, ValueId like, Shape shape) {
  return {graph.type(like), std::move(shape), "", graph.value(like).quantization};
}

bool SameIntegers(const Graph& graph, ValueId a, ValueId b) {
  return graph.type(a) == graph.type(b) && graph.quantization(a) != nullptr &&
         SameQuantization(graph.quantization(a), graph.quantization(b));
}

// One graph while it is folded.
class QuantizationFolder {
 public:
  QuantizationFolder(GraphEditor& edit, PassContext& context, std::string_view pass)
      : edit_(edit), graph_(edit.graph()), context_(context), target_(context.target), pass_(pass) {}

  void Run() {
    AnnotateIntegers(edit_);
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (graph_.alive(id) && IsMover(id)) SinkDequantize(id);
    }
    std::vector<NodeId> backwards = graph_.TopologicalOrder();
    std::reverse(backwards.begin(), backwards.end());
    for (const NodeId id : backwards) {
      if (graph_.alive(id) && IsMover(id)) HoistQuantize(id);
    }
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (graph_.alive(id) && graph_.op(id) == OpKind::kQuantizeLinear) MergeWithDequantize(id);
    }
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (graph_.alive(id)) Fold(id);
    }
    edit_.RemoveDeadNodes();  // readers that have no reader stop rules which ask for one reader
    ForgetUnusedQuantizations(edit_, movers_);
  }

 private:
  bool IsMover(NodeId id) const {
    return QuantizedRoleOf(graph_, id) == QuantizedRole::kMove && !graph_.HasControlEdges(id);
  }

  // Whether there is a kernel of a node as it stands.
  bool Supports(NodeId id) { return Supports(id, graph_.node(id).inputs, graph_.output(id)); }
  bool Supports(NodeId id, std::span<const ValueId> inputs, ValueId output) {
    const absl::Status status = target_.SupportsQuantized(graph_, id, inputs, output);
    if (!status.ok() && context_.log != nullptr && context_.explains) {
      context_.log->Refused(pass_, graph_, id, StdView(status.message()));
    }
    return status.ok();
  }
  void Applied(NodeId id, std::string_view equation) {
    ++context_.matches;
    if (context_.log != nullptr) context_.log->Applied(pass_, graph_, id, equation);
  }

  // move(dequantize(x), ...) => dequantize(move(x, ...)).
  void SinkDequantize(NodeId id) {
    const std::vector<int> data = QuantizableInputs(graph_, id);
    if (data.empty()) return;
    const ValueId first = IntegersOf(graph_, graph_.input(id, data[0]));
    if (!first.valid() || !graph_.quantization(first)->per_tensor()) return;
    Node moved = graph_.node(id);
    for (const int i : data) {
      const ValueId integers = IntegersOf(graph_, graph_.input(id, i));
      if (!integers.valid() || !SameIntegers(graph_, first, integers)) return;
      moved.inputs[i] = integers;
    }
    std::vector<ValueSpec> specs;
    for (const ValueId output : moved.outputs) {
      if (!output.valid() || graph_.type(output) != DataType::kFloat32) return;
      specs.push_back(SpecLike(graph_, first, graph_.shape(output)));
    }
    const Node dequantize = graph_.producer_node(graph_.input(id, data[0]));
    const NodeId clone = edit_.AddNode(std::move(moved), std::move(specs));
    if (!Supports(clone)) return edit_.RemoveNode(clone);
    Applied(id, "move(dequantize(x)) => dequantize(move(x))");
    movers_.insert(clone);
    const std::vector<ValueId> outputs = graph_.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Node after;
      after.op = OpKind::kDequantizeLinear;
      after.inputs = dequantize.inputs;
      after.inputs[0] = graph_.output(clone, static_cast<int>(i));
      after.origin = dequantize.origin;
      const NodeId real = edit_.AddNode(std::move(after), {{DataType::kFloat32, graph_.shape(outputs[i]), ""}});
      edit_.ReplaceUses(outputs[i], graph_.output(real));
    }
    edit_.RemoveNode(id);
  }

  // An op, alive, of which a quantized form may be: what it makes may be written as integers.
  bool MayWriteIntegers(ValueId number) const {
    const OpKind op = graph_.op(number);
    return op == OpKind::kDequantizeLinear || QuantizedRoleOf(graph_, graph_.producer(number)) != QuantizedRole::kNone;
  }

  // quantize(move(y, ...)) => move(quantize(y), ...).
  void HoistQuantize(NodeId id) {
    const Node& node = graph_.node(id);
    const std::vector<int> data = QuantizableInputs(graph_, id);
    if (node.outputs.size() != 1 || data.empty()) return;
    const NodeId quantize = OnlyQuantize(graph_, node.outputs[0]);
    if (!quantize.valid()) return;
    const ValueId integers = graph_.output(quantize);
    const bool useful = std::any_of(data.begin(), data.end(), [&](int i) {
      const ValueId input = graph_.input(id, i);
      return MayWriteIntegers(input) && (graph_.HasOneUser(input) || IntegersOf(graph_, input).valid());
    });
    if (!useful) return;
    Node moved = node;
    std::vector<NodeId> added;
    for (const int i : data) {
      const ValueId number = moved.inputs[i];
      const ValueId known = IntegersOf(graph_, number);
      if (known.valid() && SameIntegers(graph_, known, integers)) {
        moved.inputs[i] = known;
        continue;
      }
      Node before;
      before.op = OpKind::kQuantizeLinear;
      before.inputs = graph_.node(quantize).inputs;
      before.inputs[0] = number;
      before.origin = graph_.node(quantize).origin;
      added.push_back(edit_.AddNode(std::move(before), {SpecLike(graph_, integers, graph_.shape(number))}));
      moved.inputs[i] = graph_.output(added.back());
    }
    const NodeId clone = edit_.AddNode(std::move(moved), {SpecLike(graph_, integers, graph_.shape(graph_.output(id)))});
    if (!Supports(clone)) {
      edit_.RemoveNode(clone);
      for (const NodeId unused : added) edit_.RemoveNode(unused);
      return;
    }
    Applied(id, "quantize(move(y)) => move(quantize(y))");
    movers_.insert(clone);
    edit_.ReplaceUses(integers, graph_.output(clone));
    edit_.RemoveNode(quantize);
    edit_.RemoveNode(id);
  }

  // quantize(dequantize(x)) => x, or from one quantization to the other.
  void MergeWithDequantize(NodeId quantize) {
    const ValueId integers = IntegersOf(graph_, graph_.input(quantize, 0));
    const ValueId result = graph_.output(quantize);
    const Quantization* wanted = graph_.quantization(result);
    if (!integers.valid() || wanted == nullptr || graph_.HasControlEdges(quantize)) return;
    const std::shared_ptr<const Quantization> said = QuantizationOf(graph_, quantize);
    if (said == nullptr || *said != *wanted) return;
    if (SameIntegers(graph_, integers, result)) {
      if (graph_.IsOutput(result) || graph_.IsCaptured(result)) return;  // its name is known
      Applied(quantize, "quantize(dequantize(x)) => x");
      edit_.SetValueName(result, "");
      edit_.ReplaceUses(result, integers);
      return edit_.RemoveNode(quantize);
    }
    Node between;
    between.op = OpKind::kIdentity;
    between.name = graph_.node(quantize).name;
    between.inputs = {integers};
    between.origin = graph_.node(quantize).origin;
    const NodeId requantize = edit_.AddNode(std::move(between), {SpecLike(graph_, result, graph_.shape(result))});
    if (!Supports(requantize)) return edit_.RemoveNode(requantize);
    Applied(quantize, "quantize(dequantize(x)) => requantize(x)");
    edit_.ReplaceUses(result, graph_.output(requantize));
    edit_.RemoveNode(quantize);
  }

  // The integers that input i may be read as, or kNoValue.
  ValueId IntegersFor(NodeId id, QuantizedRole role, int i) const {
    const ValueId integers = IntegersOf(graph_, graph_.input(id, i));
    if (!integers.valid() || graph_.type(integers) == DataType::kInt32) return kNoValue;
    const Quantization& quantization = *graph_.quantization(integers);
    if (quantization.per_tensor()) return integers;
    const bool of_channels =
        TakesWeights(role, i) && graph_.IsConstant(integers) && quantization.axis == OutputChannelAxis(graph_, id);
    return of_channels ? integers : kNoValue;
  }

  // The node reads and writes integers as far as the target has kernels.
  void Fold(NodeId id) {
    const QuantizedRole role = QuantizedRoleOf(graph_, id);
    if (role == QuantizedRole::kNone || graph_.HasControlEdges(id)) return;
    const Node& node = graph_.node(id);
    const ValueId number = node.outputs[0];
    if (!number.valid() || graph_.type(number) != DataType::kFloat32) return;
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid() && (!graph_.uses(node.outputs[i]).empty() || graph_.IsOutput(node.outputs[i])))
        return;
    }
    std::vector<std::pair<int, ValueId>> candidates;
    for (const int i : QuantizableInputs(graph_, id)) {
      const ValueId integers = IntegersFor(id, role, i);
      if (integers.valid()) candidates.push_back({i, integers});
    }
    const NodeId quantize = OnlyQuantize(graph_, number);
    const ValueId result = quantize.valid() ? graph_.output(quantize) : kNoValue;
    if (candidates.empty() && !quantize.valid()) return;
    for (const std::vector<ValueId>& inputs : Choices(node.inputs, candidates)) {
      for (const ValueId output : {result, number}) {
        if (!output.valid() || (output == number && inputs == node.inputs)) continue;
        if (!Supports(id, inputs, output)) continue;
        return Apply(id, inputs, output == number ? kNoNode : quantize);
      }
    }
  }

  // All inputs as integers first, at last none.
  static std::vector<std::vector<ValueId>> Choices(const std::vector<ValueId>& inputs,
                                                   const std::vector<std::pair<int, ValueId>>& candidates) {
    constexpr size_t kMostSubsets = 4;  // inputs of which each subset is tried; of more all or none
    const size_t count = candidates.size();
    std::vector<uint32_t> subsets;
    if (count > kMostSubsets) {
      subsets = {(uint32_t{1} << std::min<size_t>(count, 31)) - 1, 0};
    } else {
      for (uint32_t subset = 0; subset < (uint32_t{1} << count); ++subset) subsets.push_back(subset);
      std::stable_sort(subsets.begin(), subsets.end(),
                       [](uint32_t a, uint32_t b) { return std::popcount(a) > std::popcount(b); });
    }
    std::vector<std::vector<ValueId>> choices;
    for (const uint32_t subset : subsets) {
      choices.push_back(inputs);
      for (size_t c = 0; c < count; ++c) {
        if (subset != 0 && (c >= 31 || (subset >> c & 1) != 0))
          choices.back()[candidates[c].first] = candidates[c].second;
      }
    }
    return choices;
  }

  // `quantize`: what the node writes itself from now on.
  void Apply(NodeId id, const std::vector<ValueId>& inputs, NodeId quantize) {
    Applied(id, quantize.valid() ? "quantize(op(dequantize(x))) => op(x) in integers"
                                 : "op(dequantize(x)) => op(x) of integers");
    if (!quantize.valid()) return edit_.SetInputs(id, inputs);
    const ValueId integers = graph_.output(quantize);
    Node folded = graph_.node(id);
    folded.inputs = inputs;
    std::vector<ValueSpec> specs = {SpecLike(graph_, integers, graph_.shape(integers))};
    folded.outputs.resize(1);
    const NodeId clone = edit_.AddNode(std::move(folded), std::move(specs));
    edit_.ReplaceUses(integers, graph_.output(clone));
    edit_.RemoveNode(quantize);
    edit_.RemoveNode(id);
  }

  GraphEditor& edit_;
  const Graph& graph_;
  PassContext& context_;
  const MemoTarget target_;
  const std::string_view pass_;
  std::set<NodeId> movers_;  // of integers, made here
};

}  // namespace

absl::Status FoldQuantization::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  const std::vector<NodeId> nodes = graph.nodes();
  const bool quantized = std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    return graph.op(id) == OpKind::kQuantizeLinear || graph.op(id) == OpKind::kDequantizeLinear;
  });
  if (quantized) QuantizationFolder(edit, context, name()).Run();
  return absl::OkStatus();
}

}  // namespace halftone
