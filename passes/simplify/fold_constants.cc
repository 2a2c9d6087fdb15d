// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/recurrent.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "passes/core/rule_pass.h"
#include "passes/fusion/contraction.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

constexpr int64_t kLargestResult = int64_t{64} << 20;
constexpr int64_t kAlwaysSmall = 1024;
constexpr int64_t kLargestGrowth = 4;
constexpr int64_t kMaxMultiplications = int64_t{1} << 28;  // the reference functions compute, not a kernel

// The shape of a value of known shape, as the node's attributes cut it.
std::optional<Tensor> FoldShape(const Graph& graph, NodeId id) {
  const ValueId x = graph.input(id, 0);
  const DataType type = graph.type(graph.output(id));
  if (!x.valid() || !graph.shape(x).fully_known()) return std::nullopt;
  if (type != DataType::kInt64 && type != DataType::kInt32) return std::nullopt;
  const std::vector<int64_t> dims = graph.shape(x).values();
  const int64_t rank = static_cast<int64_t>(dims.size());
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(graph.node(id).attributes.Int("start", 0));
  const int64_t end = std::max(start, clamp(graph.node(id).attributes.Int("end", rank)));
  return Tensor::Ints(std::span(dims).subspan(start, end - start), type);
}

bool MayFold(const Graph& graph, NodeId id) {
  const OpGroup group = Info(graph.op(id)).group;
  if (group == OpGroup::kSource || group == OpGroup::kStructural || group == OpGroup::kOpaque) return false;
  if (graph.HasControlEdges(id)) return false;
  for (const ValueId output : graph.node(id).outputs) {
    if (output.valid() && (graph.IsOutput(output) || graph.IsCaptured(output))) return false;
  }
  return true;
}

// Bytes of all results if their shapes are known in advance, else nullopt.
std::optional<int64_t> ResultBytes(const Graph& graph, NodeId id) {
  const absl::StatusOr<std::vector<ValueSpec>> specs = InferNode(graph, id);
  if (!specs.ok()) return std::nullopt;
  int64_t bytes = 0;
  for (size_t i = 0; i < specs->size(); ++i) {
    if (!graph.output(id, static_cast<int>(i)).valid()) continue;
    const ValueSpec& spec = (*specs)[i];
    const int64_t element = static_cast<int64_t>(ElementSize(spec.type));
    const std::optional<int64_t> count = spec.shape.has_rank() ? spec.shape.num_elements() : std::nullopt;
    if (element == 0 || !count.has_value() || *count > kLargestResult / element) return std::nullopt;
    bytes += *count * element;
  }
  return bytes;
}

// Whether the contraction needs too many multiplications to fold it. The result has at most kLargestResult
// bytes.
bool IsTooMuchWork(const Graph& graph, NodeId id, int64_t result_bytes, const std::vector<Tensor>& inputs) {
  if (Info(graph.op(id)).group != OpGroup::kContraction || inputs.size() < 2) return false;
  // Multiplications per element of the result: the filter without its output channels; at most the longer side of a
  // matrix.
  const std::vector<int64_t>& dims = inputs[1].dims();
  int64_t sum = 1;
  if (graph.op(id) == OpKind::kConv) {
    const std::optional<int64_t> channels = OutputChannels(graph, id);
    sum = inputs[1].num_elements() / std::max<int64_t>(1, channels.value_or(1));
  } else {
    for (size_t i = dims.size() > 2 ? dims.size() - 2 : 0; i < dims.size(); ++i) sum = std::max(sum, dims[i]);
  }
  return sum > 0 && result_bytes / 2 > kMaxMultiplications / sum;
}

bool Dequantizes(OpKind op) { return op == OpKind::kDequantizeLinear || op == OpKind::kDequantizeRange; }

// Inputs of `op` that an int8 kernel reads as integers, of any size, or that give the quantization of its state.
bool ReadsIntegers(OpKind op, int input) {
  const OpGroup group = Info(op).group;
  if (group == OpGroup::kContraction) return input <= kWeightsInput;
  return group == OpGroup::kRecurrent && (input <= kRecurrentR || input == kRecurrentH);
}

bool AreQuantizedWeights(const Graph& graph, NodeId id) {
  if (graph.op(id) != OpKind::kDequantizeLinear) return false;
  const std::vector<Use>& uses = graph.uses(graph.output(id));
  return std::any_of(uses.begin(), uses.end(),
                     [&](const Use& use) { return ReadsIntegers(graph.op(use.node), use.index); });
}

// The results; empty if folding is not possible or not wanted.
absl::StatusOr<std::vector<Tensor>> Fold(const Graph& graph, NodeId id) {
  std::vector<Tensor> nothing;
  if (graph.op(id) == OpKind::kShape) {
    std::optional<Tensor> shape = FoldShape(graph, id);
    return shape.has_value() ? std::vector<Tensor>{*std::move(shape)} : nothing;
  }
  if (!reference::HasReference(graph.op(id)) || graph.node(id).inputs.empty()) return nothing;
  std::vector<Tensor> inputs;
  int64_t input_bytes = 0;
  for (const ValueId input : graph.node(id).inputs) {
    if (input.valid() && !graph.IsConstant(input)) return nothing;
    inputs.push_back(input.valid() ? *graph.ConstantTensor(input) : Tensor());
    if (inputs.back().type() == DataType::kString) return nothing;
    if (input.valid()) input_bytes += static_cast<int64_t>(inputs.back().byte_size());
  }
  const std::optional<int64_t> bytes = ResultBytes(graph, id);
  if (!bytes.has_value() || *bytes > kLargestResult) return nothing;
  if (*bytes > kAlwaysSmall && *bytes > kLargestGrowth * input_bytes) return nothing;
  if (*bytes > kAlwaysSmall && *bytes > input_bytes && Dequantizes(graph.op(id)))
    return nothing;  // s32 biases are folded
  if (AreQuantizedWeights(graph, id)) return nothing;
  if (IsTooMuchWork(graph, id, *bytes, inputs)) return nothing;
  absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateNode(graph, id, inputs);
  // An op that the reference functions cannot compute is not an error of the model: the node stays.
  if (!results.ok()) return nothing;
  return results;
}

}  // namespace

absl::Status FoldConstants::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.TopologicalOrder()) {
    if (context.interrupted) HALFTONE_RETURN_IF_ERROR(context.interrupted());
    if (!MayFold(graph, id)) continue;
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> results, Fold(graph, id));
    if (results.empty()) continue;
    if (context.log != nullptr)
      context.log->Applied(name(), graph, id, Concat(OpName(graph.op(id)), "(constants) => constant"));
    const Node node = graph.node(id);
    bool first = true;
    for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
      const ValueId old = node.outputs[i];
      if (!old.valid() || graph.uses(old).empty() || results[i].type() == DataType::kUnknown) continue;
      const ValueId constant = edit.AddConstant("", std::move(results[i]));
      const std::string value_name = graph.value(old).name;
      edit.ReplaceUses(old, constant);
      edit.SetValueName(old, "");
      edit.SetValueName(constant, value_name);
      if (first)
        edit.SetName(graph.producer(constant),
                     node.name);  // the first result takes over the name; the node becomes dead
      edit.SetDevice(graph.producer(constant), node.device);
      first = false;
    }
    RemoveUnused(edit, {id});
  }
  return absl::OkStatus();
}

}  // namespace halftone
