// SPDX-License-Identifier: Apache-2.0
// Ops that move values.

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {

namespace {

// Pads of rank 1 (begins, then ends, perhaps of some axes) become the (begin, end) pairs of all dimensions.
absl::StatusOr<Source> Paddings(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const auto pads_rank = RankOf(graph, node.inputs[1]);
  if (pads_rank == 2 && !HasInput(node, 3)) return out.Input(id, 1);
  const auto pads = graph.ConstantInts(node.inputs[1]);
  const auto axes = HasInput(node, 3) ? graph.ConstantInts(node.inputs[3]) : std::vector<int64_t>();
  if (!pads.has_value() || !axes.has_value()) return Cannot("pads that are no constant");
  const auto rank = RankOf(graph, node.inputs[0]);
  const size_t count = pads->size() / 2;
  if (HasInput(node, 3) && !rank.has_value()) return Cannot("pads of some axes of a shape of unknown rank");
  const int64_t full = rank.value_or(static_cast<int>(count));
  Tensor paddings(DataType::kInt32, {full, 2});
  const std::span<int32_t> cells = paddings.mutable_data<int32_t>();
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = HasInput(node, 3) ? (i < axes->size() ? (*axes)[i] : full) : static_cast<int64_t>(i);
    if (axis < 0) axis += full;
    const int64_t begin = (*pads)[i], end = (*pads)[i + count];
    if (axis < 0 || axis >= full || begin < 0 || end < 0) return Cannot("these pads");
    cells[2 * axis] = static_cast<int32_t>(begin);
    cells[2 * axis + 1] = static_cast<int32_t>(end);
  }
  return out.AddConst(out.NameOf(id) + "/paddings", paddings, node.device);
}

bool AllAre(const std::optional<std::vector<int64_t>>& list, bool (*holds)(int64_t)) {
  return list.has_value() && std::all_of(list->begin(), list->end(), holds);
}

}  // namespace

absl::Status WriteReshape(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const auto shape = graph.ConstantInts(graph.node(id).inputs[1]);
  const bool zero_copies = !graph.node(id).attributes.Bool("allowzero", false);
  if (zero_copies && (!shape.has_value() || std::find(shape->begin(), shape->end(), 0) != shape->end())) {
    return Cannot("a reshape that copies dimensions where the shape has 0");
  }
  return WriteRow(out, id, *SpelledRow(graph, id));
}

// One that was read as none of TensorFlow's: rows and columns repeated, as fuse-resize-nearest makes it.
absl::Status WriteNewResize(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const Attributes& attributes = node.attributes;
  const bool repeats = attributes.String("mode", "nearest") == "nearest" &&
                       attributes.String("coordinate_transformation_mode", "half_pixel") == "asymmetric" &&
                       attributes.String("nearest_mode", "round_prefer_floor") == "floor";
  const bool by_sizes = !HasInput(node, 1) && !HasInput(node, 2) && HasInput(node, 3);
  if (!repeats || !by_sizes || attributes.Ints("axes") != std::vector<int64_t>{1, 2})
    return Cannot("this form of resize");
  return out.AddRow(id, *FindRow("ResizeNearestNeighbor"), {out.Input(id, 0), out.Input(id, 3)});
}

absl::Status WriteFlatten(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const Shape& shape = out.graph().shape(node.inputs[0]);
  const int64_t axis = node.attributes.Int("axis", 1);
  if (!shape.has_rank() || axis < -shape.rank() || axis > shape.rank()) return Cannot("a flatten of unknown rank");
  const auto middle = shape.dims().begin() + (axis < 0 ? axis + shape.rank() : axis);
  const auto before = Shape(std::vector<Dim>(shape.dims().begin(), middle)).num_elements();
  const auto after = Shape(std::vector<Dim>(middle, shape.dims().end())).num_elements();
  if (!before.has_value() && !after.has_value()) return Cannot("a flatten with unknown dimensions on both sides");
  const Source x = out.Input(id, 0);
  AttrValues attrs = OneType(x.type);
  attrs["Tshape"] = TypeAttr(DataType::kInt32);
  out.Add("Reshape", out.NameOf(id), id, {x, Int32Const(out, id, "shape", {before.value_or(-1), after.value_or(-1)})},
          std::move(attrs), x.type);
  return absl::OkStatus();
}

absl::Status WriteUnsqueeze(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  std::optional<std::vector<int64_t>> axes = graph.ConstantInts(node.inputs[1]);
  if (!axes.has_value() || axes->size() == 1) return WriteRow(out, id, *SpelledRow(graph, id));
  const auto rank = RankOf(graph, node.inputs[0]);
  for (int64_t& axis : *axes) {
    if (axis < 0 && !rank.has_value()) return Cannot("an unsqueeze at the end of a shape of unknown rank");
    if (axis < 0) axis += *rank + static_cast<int64_t>(axes->size());
  }
  std::sort(axes->begin(), axes->end());  // one by one from the front, each lands where it shall be in the end
  Source x = out.Input(id, 0);
  const DataType type = x.type;
  if (axes->empty()) out.Add("Identity", out.NameOf(id), id, {x}, OneType(type), type);
  for (size_t i = 0; i < axes->size(); ++i) {
    AttrValues attrs = OneType(type);
    attrs["Tdim"] = TypeAttr(DataType::kInt32);
    const std::string name = i + 1 == axes->size() ? out.NameOf(id) : out.UniqueName(out.NameOf(id) + "/expand");
    x = out.Add("ExpandDims", name, id, {x, Int32Const(out, id, "axis", {(*axes)[i]})}, std::move(attrs), type);
  }
  return absl::OkStatus();
}

absl::Status WriteConcat(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const OpRow* row = SpelledRow(graph, id);
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  if (inputs.size() == 2) {  // ConcatV2 wants two at least
    out.Add("Identity", out.NameOf(id), id, {inputs[0]}, OneType(inputs[0].type), inputs[0].type);
    return absl::OkStatus();
  }
  if (row->tf_op == "Concat" && inputs.back().type != DataType::kInt32) row = FindRow("ConcatV2");
  if (row->tf_op == "Concat") std::rotate(inputs.begin(), inputs.end() - 1, inputs.end());
  return out.AddRow(id, *row, inputs);
}

absl::Status WritePad(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const std::string mode = node.attributes.String("mode", "constant");
  std::vector<Source> inputs = {out.Input(id, 0)};
  HALFTONE_ASSIGN_OR_RETURN(const Source paddings, Paddings(out, id));
  inputs.push_back(paddings);
  if (mode == "reflect" || mode == "symmetric") return out.AddRow(id, *FindRow("MirrorPad"), inputs);
  if (mode != "constant") return Cannot("a pad with the values of the edge");
  if (!HasInput(node, 2)) return out.AddRow(id, *FindRow("Pad"), inputs);
  inputs.push_back(out.Input(id, 2));
  return out.AddRow(id, *FindRow("PadV2"), inputs);
}

absl::Status WriteSlice(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const auto starts = graph.ConstantInts(node.inputs[1]), ends = graph.ConstantInts(node.inputs[2]);
  if (HasInput(node, 3)) {  // only where the axes are the first ones, in order
    const auto axes = graph.ConstantInts(node.inputs[3]);
    std::vector<int64_t> first(axes.has_value() ? axes->size() : 0);
    std::iota(first.begin(), first.end(), 0);
    if (axes != first) return Cannot("a slice of some axes");
  }
  std::vector<Source> inputs = {out.Input(id, 0), out.Input(id, 1), out.Input(id, 2)};
  const bool from_zero =
      AllAre(starts, [](int64_t n) { return n == 0; }) && AllAre(ends, [](int64_t n) { return n >= 0; });
  if (node.spelling == "Slice" && from_zero && !HasInput(node, 4)) return out.AddRow(id, *FindRow("Slice"), inputs);
  if (HasInput(node, 4)) {
    inputs.push_back(out.Input(id, 4));
  } else {
    const auto count = graph.shape(node.inputs[1]).num_elements();
    if (!count.has_value()) return Cannot("a slice of an unknown number of axes");
    const Tensor ones = Tensor::Ints(std::vector<int64_t>(*count, 1), inputs[1].type);
    inputs.push_back(out.AddConst(out.NameOf(id) + "/strides", ones, node.device));
  }
  return out.AddRow(id, *FindRow("StridedSlice"), inputs);
}

absl::Status WriteGather(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  std::vector<Source> inputs = {out.Input(id, 0), out.Input(id, 1)};
  const bool has_axis = HasInput(node, 2);
  if (!has_axis && SpelledRow(graph, id)->tf_op == "Gather") return out.AddRow(id, *FindRow("Gather"), inputs);
  inputs.push_back(has_axis
                       ? out.Input(id, 2)
                       : out.AddConst(out.NameOf(id) + "/axis", Tensor::IntScalar(0, DataType::kInt32), node.device));
  return out.AddRow(id, *FindRow("GatherV2"), inputs);
}

}  // namespace halftone::graphdef
