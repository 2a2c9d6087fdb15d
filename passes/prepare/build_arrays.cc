// SPDX-License-Identifier: Apache-2.0
// TensorArrays as dense tensors [size, element...]. The "flow" that TensorFlow hands from op to op, a number without a
// meaning, becomes the tensor itself:
//   TensorArrayV3(size)         fill([size, element...], 0)
//   write(index, value, flow)   scatter_nd(flow, [[index]], [value])
//   read(index, flow)           gather(flow, index)
//   gather(indices, flow)       gather(flow, indices)
//   scatter(indices, v, flow)   scatter_nd(flow, indices[:, None], v)
//   size(flow)                  shape(flow)[0]
//   concat(flow)                reshape(flow, [-1, element[1:]...])    elements of one length
//   split(value, ..., flow)     reshape(value, [-1, element...])       into elements of one length

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/prepare/array_shapes.h"
#include "passes/prepare/build_loops.h"

namespace halftone::lowering {
namespace {

using enum OpKind;

class ArrayBuilder {
 public:
  explicit ArrayBuilder(GraphEditor& edit) : edit_(edit), graph_(edit.graph()) {}

  absl::Status Build() {
    std::vector<NodeId> ops;
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (graph_.op(id) >= kTensorArray && graph_.op(id) <= kTensorArraySplit) ops.push_back(id);
    }
    if (ops.empty()) return absl::OkStatus();
    elements_ = ElementShapes(graph_);
    for (const NodeId id : ops) HALFTONE_RETURN_IF_ERROR(BuildOne(id));
    for (const auto& [flow, type] : flows_) SpreadType(flow, type);
    return absl::OkStatus();
  }

 private:
  absl::Status BuildOne(NodeId id);
  absl::StatusOr<ValueId> Zeros(NodeId id, const Shape& element, DataType type);
  void SpreadType(ValueId flow, DataType type);

  ValueId Ints(const std::vector<int64_t>& values) {
    return edit_.AddConstant("", Tensor::Ints(values, DataType::kInt32));
  }
  ValueId Axis(int64_t axis) { return edit_.AddConstant("", Tensor::IntScalar(axis, DataType::kInt32)); }
  ValueId Add(NodeId id, OpKind op, std::vector<ValueId> inputs, DataType type) {
    Node node;
    node.op = op;
    node.origin = id;
    node.inputs = std::move(inputs);
    return graph_.output(edit_.AddNode(std::move(node), {{type, Shape(), ""}}));
  }
  void Replace(NodeId id, int output, ValueId value, bool is_flow) {
    if (is_flow) flows_.emplace_back(value, graph_.type(value));
    edit_.ReplaceUses(graph_.output(id, output), value);
  }

  GraphEditor& edit_;
  const Graph& graph_;
  std::map<NodeId, Shape> elements_;
  std::vector<std::pair<ValueId, DataType>> flows_;
};

absl::StatusOr<ValueId> ArrayBuilder::Zeros(NodeId id, const Shape& element, DataType type) {
  std::vector<ValueId> parts = {Add(id, kReshape, {graph_.input(id, 0), Ints({1})}, DataType::kInt32)};
  if (element.rank() > 0) parts.push_back(Ints(element.values()));
  ValueId shape = parts[0];
  if (parts.size() > 1) {
    parts.push_back(Axis(0));
    shape = Add(id, kConcat, parts, DataType::kInt32);
  }
  return Add(id, kFill, {shape, edit_.AddConstant("", Tensor(type, {}))}, type);
}

absl::Status ArrayBuilder::BuildOne(NodeId id) {
  const OpKind op = graph_.op(id);
  const NodeId array = op == kTensorArray ? id : ArrayOf(graph_, graph_.input(id, 0));
  const auto error = [&](auto... parts) {
    return absl::UnimplementedError(Concat("node '", graph_.Label(id), "' (", OpName(op), "): ", parts...));
  };
  if (!array.valid()) return error("its TensorArray cannot be seen");
  const DataType type = graph_.node(array).extra.Type("dtype", DataType::kUnknown);
  if (ElementSize(type) == 0) return error("a TensorArray of type ", DataTypeName(type));
  const auto it = elements_.find(array);
  const Shape element = it == elements_.end() ? Shape() : it->second;
  const auto input = [&](int i) { return graph_.input(id, i); };
  switch (op) {
    case kTensorArray: {
      if (!element.fully_known()) {
        return error("the shape of its elements is not known before it runs; found: ", element.ToString());
      }
      HALFTONE_ASSIGN_OR_RETURN(const ValueId zeros, Zeros(id, element, type));
      if (graph_.output(id, 1).valid()) Replace(id, 1, zeros, /*is_flow=*/true);
      return absl::OkStatus();
    }
    case kTensorArrayWrite: {
      const ValueId index = Add(id, kReshape, {input(1), Ints({1, 1})}, graph_.type(input(1)));
      const ValueId value = Add(id, kUnsqueeze, {input(2), Ints({0})}, type);
      Replace(id, 0, Add(id, kScatterNd, {input(3), index, value}, type), /*is_flow=*/true);
      return absl::OkStatus();
    }
    case kTensorArrayScatter: {
      const ValueId indices = Add(id, kUnsqueeze, {input(1), Ints({1})}, graph_.type(input(1)));
      Replace(id, 0, Add(id, kScatterNd, {input(3), indices, input(2)}, type), /*is_flow=*/true);
      return absl::OkStatus();
    }
    case kTensorArrayRead:
    case kTensorArrayGather:
      Replace(id, 0, Add(id, kGather, {input(2), input(1), Axis(0)}, type), /*is_flow=*/false);
      return absl::OkStatus();
    case kTensorArraySize: {
      const ValueId shape = Add(id, kShape, {input(1)}, DataType::kInt32);
      Replace(id, 0, Add(id, kGather, {shape, Axis(0), Axis(0)}, DataType::kInt32), /*is_flow=*/false);
      return absl::OkStatus();
    }
    case kTensorArrayConcat: {
      if (!element.fully_known() || element.rank() == 0) return error("its elements have no known first dimension");
      std::vector<int64_t> dims = element.values();
      const ValueId shape = Add(id, kShape, {input(1)}, DataType::kInt64);
      const ValueId count = Add(id, kSlice, {shape, Ints({0}), Ints({1})}, DataType::kInt64);
      const ValueId length = edit_.AddConstant("", Tensor::IntScalar(dims[0], DataType::kInt64));
      if (graph_.output(id, 1).valid())
        Replace(id, 1, Add(id, kFill, {count, length}, DataType::kInt64), /*is_flow=*/false);
      dims[0] = -1;
      Replace(id, 0, Add(id, kReshape, {input(1), Ints(dims)}, type), /*is_flow=*/false);
      return absl::OkStatus();
    }
    case kTensorArraySplit: {
      if (!element.fully_known()) return error("its lengths are not constant and equal");
      std::vector<int64_t> dims = element.values();
      dims.insert(dims.begin(), -1);
      Replace(id, 0, Add(id, kReshape, {input(1), Ints(dims)}, type), /*is_flow=*/true);
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

// What hands the flow on has the type of the array now.
void ArrayBuilder::SpreadType(ValueId flow, DataType type) {
  std::set<ValueId> seen = {flow};
  std::vector<ValueId> work = {flow};
  while (!work.empty()) {
    const ValueId value = work.back();
    work.pop_back();
    for (const Use& use : graph_.uses(value)) {
      const OpKind op = graph_.op(use.node);
      const bool hands_on = op == kIdentity || op == kEnter || op == kExit || op == kNextIteration || (op == kMerge) ||
                            (op == kSwitch && use.index == 0);
      if (!hands_on) continue;
      for (size_t i = 0; i < graph_.node(use.node).outputs.size(); ++i) {
        const ValueId output = graph_.node(use.node).outputs[i];
        if (!output.valid() || (op == kMerge && i > 0) || !seen.insert(output).second) continue;
        edit_.SetType(output, type);
        edit_.SetShape(output, Shape());
        work.push_back(output);
      }
    }
  }
}

}  // namespace

absl::Status BuildArrays(GraphEditor& edit) { return ArrayBuilder(edit).Build(); }

}  // namespace halftone::lowering
