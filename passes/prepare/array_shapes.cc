// SPDX-License-Identifier: Apache-2.0
#include "passes/prepare/array_shapes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/editor.h"
#include "ir/shape_inference.h"

namespace halftone::lowering {
namespace {

using enum OpKind;

constexpr int kMaxRounds = 16;

// What is the same in both.
Shape Common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape();
  Shape common = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) common.mutable_dim(i) = Dim::Unknown();
  }
  return common;
}

Shape WithoutFirst(const Shape& shape) {
  if (!shape.has_rank() || shape.rank() == 0) return Shape();
  return Shape(std::vector<Dim>(shape.dims().begin() + 1, shape.dims().end()));
}

Shape WithFirst(Dim first, const Shape& element) {
  if (!element.has_rank()) return Shape();
  std::vector<Dim> dims = {std::move(first)};
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  return Shape(std::move(dims));
}

// One pass over a copy of the graph after another, until what is guessed at its start is what comes out of it.
class Finder {
 public:
  explicit Finder(const Graph& original) : original_(original) {}

  std::map<NodeId, Shape> Find() {
    for (int round = 0; round < kMaxRounds; ++round) {
      changed_ = false;
      Graph copy = original_;
      GraphEditor edit(copy);
      written_.clear();
      for (const NodeId id : copy.TopologicalOrder()) Visit(edit, id);
      for (const NodeId id : copy.nodes()) {
        if (copy.op(id) == kMerge) FollowBack(copy, id);
      }
      for (const auto& [array, shape] : written_) Update(elements_, array, shape);
      if (!changed_) break;
    }
    return elements_;
  }

 private:
  void Visit(GraphEditor& edit, NodeId id);
  void Infer(GraphEditor& edit, NodeId id);
  Shape MergeShape(const Graph& graph, NodeId id) const;
  void FollowBack(const Graph& graph, NodeId merge);
  void Write(const Graph& graph, NodeId id, const Shape& element) {
    const NodeId array = ArrayOf(graph, graph.input(id, 0));
    if (!array.valid()) return;
    const auto [it, added] = written_.emplace(array, element);
    if (!added) it->second = Common(it->second, element);
  }
  Shape Element(const Graph& graph, NodeId id) const {
    const auto it = elements_.find(ArrayOf(graph, graph.input(id, 0)));
    return it == elements_.end() ? Shape() : it->second;
  }
  void Update(std::map<NodeId, Shape>& shapes, NodeId id, const Shape& shape) {
    const auto [it, added] = shapes.emplace(id, shape);
    if (added || it->second != shape) changed_ = true;
    it->second = shape;
  }

  const Graph& original_;
  std::map<NodeId, Shape> merges_, elements_, written_;
  bool changed_ = false;
};

void Finder::Visit(GraphEditor& edit, NodeId id) {
  const Graph& graph = edit.graph();
  const Node& node = graph.node(id);
  const auto set = [&](int output, const Shape& shape) {
    if (graph.output(id, output).valid()) edit.SetShape(graph.output(id, output), shape);
  };
  const auto shape_of = [&](int input) {
    return graph.input(id, input).valid() ? graph.shape(graph.input(id, input)) : Shape();
  };
  switch (node.op) {
    case kTensorArray: {
      const AttributeValue* declared = node.extra.find("element_shape");
      const Shape* shape = declared == nullptr ? nullptr : std::get_if<Shape>(declared);
      if (shape != nullptr && shape->fully_known()) elements_.emplace(id, *shape);
      set(1, Shape::Scalar());
      break;
    }
    case kTensorArrayWrite:
      Write(graph, id, shape_of(2));
      set(0, Shape::Scalar());
      break;
    case kTensorArrayScatter:
      Write(graph, id, WithoutFirst(shape_of(2)));
      set(0, Shape::Scalar());
      break;
    case kTensorArraySplit: {
      const auto lengths = graph.ConstantInts(graph.input(id, 2));
      const Shape rest = WithoutFirst(shape_of(1));
      const bool equal = lengths.has_value() && !lengths->empty() &&
                         std::all_of(lengths->begin(), lengths->end(), [&](int64_t n) { return n == (*lengths)[0]; });
      Write(graph, id, equal ? WithFirst(Dim::Of((*lengths)[0]), rest) : Shape());
      set(0, Shape::Scalar());
      break;
    }
    case kTensorArrayRead:
      set(0, Element(graph, id));
      break;
    case kTensorArrayGather: {
      const Shape indices = shape_of(1);
      set(0, WithFirst(indices.has_rank() && indices.rank() == 1 ? indices.dim(0) : Dim(), Element(graph, id)));
      break;
    }
    case kTensorArrayConcat:
      set(0, WithFirst(Dim::Unknown(), WithoutFirst(Element(graph, id))));
      break;
    case kTensorArraySize:
      set(0, Shape::Scalar());
      break;
    case kMerge:
      set(0, MergeShape(graph, id));
      set(1, Shape::Scalar());
      break;
    case kSwitch:
    case kEnter:
    case kExit:
    case kNextIteration:
    case kLoopCond:
      set(0, shape_of(0));
      set(1, shape_of(0));
      break;
    default:
      Infer(edit, id);
  }
}

// A guess that does not fit gives unknown shapes; it is corrected by the next round.
void Finder::Infer(GraphEditor& edit, NodeId id) {
  const Graph& graph = edit.graph();
  const absl::StatusOr<std::vector<ValueSpec>> specs = InferNode(graph, id);
  for (size_t i = 0; i < graph.node(id).outputs.size(); ++i) {
    const ValueId output = graph.node(id).outputs[i];
    if (!output.valid() || graph.op(id) == kInput || graph.op(id) == kConstant) continue;
    if (specs.ok() && (*specs)[i].type != DataType::kUnknown) edit.SetType(output, (*specs)[i].type);
    if (specs.ok() && !graph.shape(output).fully_known()) edit.SetShape(output, (*specs)[i].shape);
  }
}

Shape Finder::MergeShape(const Graph& graph, NodeId id) const {
  if (const auto it = merges_.find(id); it != merges_.end()) return it->second;
  std::optional<Shape> common;
  for (const ValueId input : graph.node(id).inputs) {
    if (!input.valid() || graph.op(input) == kNextIteration) continue;
    common = common.has_value() ? Common(*common, graph.shape(input)) : graph.shape(input);
  }
  return common.value_or(Shape());
}

// What the last iteration gave must fit what this one began with.
void Finder::FollowBack(const Graph& graph, NodeId merge) {
  for (const ValueId input : graph.node(merge).inputs) {
    if (!input.valid() || graph.op(input) != kNextIteration) continue;
    const Shape& begin = graph.shape(graph.output(merge));
    const Shape& end = graph.shape(graph.input(graph.producer(input), 0));
    if (!end.has_rank() && !merges_.contains(merge)) continue;  // perhaps not known yet
    const Shape common = Common(begin, end);
    if (common != begin) Update(merges_, merge, common);
  }
}

}  // namespace

NodeId ArrayOf(const Graph& graph, ValueId handle) {
  for (int steps = 0; handle.valid() && steps < graph.num_values(); ++steps) {
    const NodeId producer = graph.producer(handle);
    switch (graph.op(producer)) {
      case kTensorArray:
        return producer;
      case kEnter:
      case kIdentity:
      case kSwitch:
      case kMerge:
      case kExit:
      case kNextIteration:
        handle = graph.input(producer, 0);
        break;
      default:
        return kNoNode;
    }
  }
  return kNoNode;
}

std::map<NodeId, Shape> ElementShapes(const Graph& graph) { return Finder(graph).Find(); }

}  // namespace halftone::lowering
