// SPDX-License-Identifier: Apache-2.0
// The node alone, with the values that it would read and write, is shown to the kernels of its op.
#include "runtime/cpu/quantized_support.h"

#include <algorithm>

#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "runtime/cpu/backend.h"
#include "runtime/plan/quantized_node.h"

namespace halftone {
namespace {

// One node whose inputs are constants and inputs of a graph, all plain.
class Question final : public NodeContext {
 public:
  Question(const Graph& graph, NodeId node) : graph_(graph), node_(node) {}

  const Graph& graph() const override { return graph_; }
  NodeId id() const override { return node_; }
  int threads() const override { return 1; }
  Placement InputPlacement(int i) const override { return Placement{InputType(i)}; }
  bool DiesHere(int) const override { return false; }
  const Tensor* Constant(int i) const override { return graph_.ConstantTensor(graph_.input(node_, i)); }
  std::vector<int64_t> InputDims(int i) const override { return graph_.shape(graph_.input(node_, i)).values(); }
  std::vector<int64_t> OutputDims(int i) const override { return graph_.shape(graph_.output(node_, i)).values(); }
  bool only_asks() const override { return true; }

 private:
  const Graph& graph_;
  const NodeId node_;
};

// Unknown dimensions get some size: kernels exist for all sizes or for none.
Shape KnownShape(const Shape& shape) {
  constexpr int64_t kSomeSize = 64;
  std::vector<int64_t> dims = shape.values();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) dims[i] = i == 0 ? 1 : kSomeSize;
  }
  return Shape::Of(dims);
}

// Ops that move elements into several results: their kernels take any type.
bool HasManyResults(OpKind op) { return op == OpKind::kSplit || op == OpKind::kUnstack; }

}  // namespace

absl::Status SupportsQuantizedNode(const Graph& graph, NodeId id, std::span<const ValueId> inputs, ValueId output) {
  const Node& node = graph.node(id);
  Graph alone;
  GraphEditor edit(alone);
  std::vector<ValueId> copies;
  for (const ValueId input : inputs) {
    if (!input.valid()) {
      copies.push_back(kNoValue);
      continue;
    }
    const Value& value = graph.value(input);
    const Tensor* constant = graph.ConstantTensor(input);
    if (constant == nullptr && !value.shape.has_rank())
      return absl::UnimplementedError("the rank of an input is unknown");
    const ValueId copy = constant != nullptr
                             ? edit.AddConstant("", *constant)
                             : edit.AddInput(Concat("x", copies.size()), value.type, KnownShape(value.shape));
    edit.SetQuantization(copy, value.quantization);
    copies.push_back(copy);
  }
  const Value& result = graph.value(output);
  const NodeId only =
      edit.Add(node.op, "y", copies, {.type = result.type, .shape = Shape(), .quantization = result.quantization},
               node.attributes);
  edit.AddGraphOutput("y", alone.output(only));
  if (const absl::Status inferred = InferShapes(edit); !inferred.ok())
    return absl::UnimplementedError(inferred.message());
  const ValueId written = alone.output(only);
  if (!alone.shape(written).has_rank() || !alone.shape(written).fully_known()) {
    if (!result.shape.has_rank()) return absl::UnimplementedError("the rank of the result is unknown");
    edit.SetShape(written, KnownShape(result.shape));
  }
  const NodeValues values = ValuesOf(alone, only);
  if (values == NodeValues::kPlain) return absl::UnimplementedError("none of its values is quantized");
  if (values == NodeValues::kMoved && HasManyResults(node.op)) return absl::OkStatus();

  const Question question(alone, only);
  const DataType type = question.num_inputs() > 0 && question.HasInput(0) ? question.InputType(0) : DataType::kUnknown;
  const std::span<const KernelRow> rows = CpuBackend().Kernels(node.op);
  std::string reasons;
  for (size_t i = 0; i + 1 < rows.size(); ++i) {  // the last one is the reference
    if (!rows[i].facts->values.Has(values)) continue;
    std::string why(WhyNotAsked(rows[i], values, type));
    if (why.empty()) {
      const absl::StatusOr<Prepared> prepared = rows[i].kernel->Prepare(question);
      if (prepared.ok()) return absl::OkStatus();
      why = std::string(prepared.status().message());
    }
    reasons += Concat(reasons.empty() ? "" : "; ", why);
  }
  return absl::UnimplementedError(reasons.empty() ? Concat("no int8 kernel of ", OpName(node.op)) : reasons);
}

}  // namespace halftone
