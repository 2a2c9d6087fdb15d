#include "formats/tensorflow/write_node.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/status.h"
#include "base/strings.h"

namespace halftone::graphdef {
namespace {

absl::Status Cannot(std::string_view what) {
  return absl::UnimplementedError(Concat(what, "; TensorFlow has no op for it"));
}

Source Int32Const(GraphWriter& out, NodeId id, std::string_view word, const std::vector<int64_t>& values) {
  return out.AddConst(Concat(out.NameOf(id), "/", word), Tensor::Ints(values, DataType::kInt32),
                      out.graph().node(id).device);
}

AttrValues OneType(DataType type) {
  AttrValues attrs;
  attrs["T"] = TypeAttr(type);
  return attrs;
}

bool HasInput(const Node& node, size_t i) { return i < node.inputs.size() && node.inputs[i].valid(); }

std::optional<int> RankOf(const Graph& graph, ValueId value) {
  const Shape& shape = graph.shape(value);
  return shape.has_rank() ? std::optional(shape.rank()) : std::nullopt;
}

absl::Status WriteMatMul(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.inputs.size() > 2 || node.attributes.has("activation")) {
    return absl::InternalError("a fused matmul; a pass must split bias, residual and activation off before export");
  }
  const OpRow* row = &SpelledRow(graph, id);
  const auto a = RankOf(graph, node.inputs[0]), b = RankOf(graph, node.inputs[1]);
  if (node.spelling != row->tf_op && (a.value_or(2) != 2 || b.value_or(2) != 2)) row = FindRow("BatchMatMulV2");
  if (a.value_or(2) < 2 || b.value_or(2) < 2) return Cannot("a matmul with a vector");
  return WriteRow(out, id, *row);
}

// alpha * a b + beta * c
absl::Status WriteGemm(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const DataType type = out.graph().type(node.outputs[0]);
  const float alpha = node.attributes.Float("alpha", 1), beta = node.attributes.Float("beta", 1);
  const bool adds = HasInput(node, 2) && beta != 0;
  const std::string name = out.NameOf(id);
  const auto name_of_step = [&](bool is_last, std::string_view word) {
    return is_last ? name : out.UniqueName(Concat(name, "/", word));
  };
  const auto scaled = [&](const Source& x, float factor, std::string_view word,
                          bool is_last) -> absl::StatusOr<Source> {
    HALFTONE_ASSIGN_OR_RETURN(const Tensor value, Tensor::Scalar(factor).ConvertTo(type));
    const Source constant = out.AddConst(Concat(name, "/", word), value, node.device);
    return out.Add("Mul", name_of_step(is_last, Concat("times_", word)), id, {x, constant}, OneType(type), type);
  };
  AttrValues attrs = OneType(type);
  attrs["transpose_a"] = BoolAttr(node.attributes.Bool("transpose_a", false));
  attrs["transpose_b"] = BoolAttr(node.attributes.Bool("transpose_b", false));
  Source y = out.Add("MatMul", name_of_step(alpha == 1 && !adds, "product"), id, {out.Input(id, 0), out.Input(id, 1)},
                     attrs, type);
  if (alpha != 1) {
    HALFTONE_ASSIGN_OR_RETURN(y, scaled(y, alpha, "alpha", /*is_last=*/!adds));
  }
  if (!adds) return absl::OkStatus();
  Source c = out.Input(id, 2);
  if (beta != 1) {
    HALFTONE_ASSIGN_OR_RETURN(c, scaled(c, beta, "beta", /*is_last=*/false));
  }
  out.Add("AddV2", name, id, {y, c}, OneType(type), type);
  return absl::OkStatus();
}

// Relu6 for 0 to 6, else minimum and maximum.
absl::Status WriteClip(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const DataType type = graph.type(node.outputs[0]);
  const Source x = out.Input(id, 0);
  const bool low = HasInput(node, 1), high = HasInput(node, 2);
  if (low && high && graph.ConstantScalar(node.inputs[1]) == 0.0 && graph.ConstantScalar(node.inputs[2]) == 6.0) {
    out.Add("Relu6", out.NameOf(id), id, {x}, OneType(type), type);
  } else if (!low && !high) {
    out.Add("Identity", out.NameOf(id), id, {x}, OneType(type), type);
  } else {
    Source y = x;
    if (high) {
      const std::string name = low ? out.UniqueName(out.NameOf(id) + "/minimum") : out.NameOf(id);
      y = out.Add("Minimum", name, id, {x, out.Input(id, 2)}, OneType(type), type);
    }
    if (low) out.Add("Maximum", out.NameOf(id), id, {y, out.Input(id, 1)}, OneType(type), type);
  }
  return absl::OkStatus();
}

absl::Status WriteDropout(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.outputs.size() > 1 && node.outputs[1].valid() && !graph.uses(node.outputs[1]).empty())
    return Cannot("the mask of a dropout");
  const DataType type = graph.type(node.outputs[0]);
  out.Add("Identity", out.NameOf(id), id, {out.Input(id, 0)}, OneType(type), type);
  return absl::OkStatus();
}

absl::Status WriteSoftmax(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const int64_t axis = node.attributes.Int("axis", -1);
  const auto rank = RankOf(out.graph(), node.inputs[0]);
  if (axis != -1 && !(rank.has_value() && axis == *rank - 1))
    return Cannot("a softmax along another dimension than the last");
  return WriteRow(out, id, SpelledRow(out.graph(), id));
}

absl::Status WriteBatchNorm(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const OpRow* row = &SpelledRow(graph, id);
  const bool mixed = graph.type(node.inputs[0]) != graph.type(node.inputs[1]);
  const bool v1 = row->tf_op == "FusedBatchNorm";  // f32 only, one type for all
  if ((v1 && (mixed || graph.type(node.inputs[0]) != DataType::kFloat32)) || node.outputs.size() > 5) {
    row = FindRow("FusedBatchNormV3");
  }
  return WriteRow(out, id, *row);
}

absl::Status WriteGlobalPool(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const auto rank = RankOf(out.graph(), node.inputs[0]);
  if (!rank.has_value()) return Cannot("a global pool of unknown rank");
  std::vector<int64_t> axes(std::max(*rank - 2, 0));
  std::iota(axes.begin(), axes.end(), node.attributes.String("layout", "NCHW") == "NHWC" ? 1 : 2);
  const Source x = out.Input(id, 0);
  AttrValues attrs = OneType(x.type);
  attrs["Tidx"] = TypeAttr(DataType::kInt32);
  attrs["keep_dims"] = BoolAttr(true);
  out.Add("Mean", out.NameOf(id), id, {x, Int32Const(out, id, "axes", axes)}, std::move(attrs), x.type);
  return absl::OkStatus();
}

absl::Status WriteReduce(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const OpRow& row = SpelledRow(graph, id);
  // No axes: all, unless the attribute says none, as TensorFlow means it.
  const bool is_given = HasInput(node, 1);
  const auto axes = is_given ? graph.ConstantInts(node.inputs[1]) : std::vector<int64_t>();
  const bool means_all = axes.has_value() && axes->empty() && !node.attributes.Bool("noop_with_empty_axes", false) &&
                         (!is_given || graph.format() != GraphFormat::kGraphDef);
  if (!means_all) {
    if (!is_given) return out.AddRow(id, row, {out.Input(id, 0), Int32Const(out, id, "axes", {})});
    return WriteRow(out, id, row);
  }
  const auto rank = RankOf(graph, node.inputs[0]);
  if (!rank.has_value()) return Cannot("a reduction over all dimensions of an unknown number");
  std::vector<int64_t> all(*rank);
  std::iota(all.begin(), all.end(), 0);
  return out.AddRow(id, row, {out.Input(id, 0), Int32Const(out, id, "axes", all)});
}

absl::Status WriteReshape(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const auto shape = graph.ConstantInts(graph.node(id).inputs[1]);
  const bool zero_copies = graph.format() == GraphFormat::kOnnx && !graph.node(id).attributes.Bool("allowzero", false);
  if (zero_copies && (!shape.has_value() || std::find(shape->begin(), shape->end(), 0) != shape->end())) {
    return Cannot("a reshape that copies dimensions where the shape has 0");
  }
  return WriteRow(out, id, SpelledRow(graph, id));
}

absl::Status WriteFlatten(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const Shape& shape = out.graph().shape(node.inputs[0]);
  const int64_t axis = node.attributes.Int("axis", 1);
  if (!shape.has_rank() || axis < -shape.rank() || axis > shape.rank()) return Cannot("a flatten of unknown rank");
  const auto middle = shape.dims().begin() + (axis < 0 ? axis + shape.rank() : axis);
  const auto before = Shape(std::vector<Dim>(shape.dims().begin(), middle)).num_elements();
  const auto behind = Shape(std::vector<Dim>(middle, shape.dims().end())).num_elements();
  if (!before.has_value() && !behind.has_value()) return Cannot("a flatten with unknown dimensions on both sides");
  const Source x = out.Input(id, 0);
  AttrValues attrs = OneType(x.type);
  attrs["Tshape"] = TypeAttr(DataType::kInt32);
  out.Add("Reshape", out.NameOf(id), id, {x, Int32Const(out, id, "shape", {before.value_or(-1), behind.value_or(-1)})},
          std::move(attrs), x.type);
  return absl::OkStatus();
}

absl::Status WriteUnsqueeze(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  std::optional<std::vector<int64_t>> axes = graph.ConstantInts(node.inputs[1]);
  if (!axes.has_value() || axes->size() == 1) return WriteRow(out, id, SpelledRow(graph, id));
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
  const OpRow* row = &SpelledRow(graph, id);
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  if (inputs.size() == 2) {  // ConcatV2 wants two at least
    out.Add("Identity", out.NameOf(id), id, {inputs[0]}, OneType(inputs[0].type), inputs[0].type);
    return absl::OkStatus();
  }
  if (row->order == InputOrder::kAxisFirst && inputs.back().type != DataType::kInt32) row = FindRow("ConcatV2");
  if (row->order == InputOrder::kAxisFirst) std::rotate(inputs.begin(), inputs.end() - 1, inputs.end());
  return out.AddRow(id, *row, inputs);
}

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

bool AllAre(const std::optional<std::vector<int64_t>>& list, bool (*holds)(int64_t)) {
  return list.has_value() && std::all_of(list->begin(), list->end(), holds);
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
  if (!has_axis && SpelledRow(graph, id).tf_op == "Gather") return out.AddRow(id, *FindRow("Gather"), inputs);
  inputs.push_back(has_axis
                       ? out.Input(id, 2)
                       : out.AddConst(out.NameOf(id) + "/axis", Tensor::IntScalar(0, DataType::kInt32), node.device));
  return out.AddRow(id, *FindRow("GatherV2"), inputs);
}

absl::Status WriteBiasAdd(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const OpRow* row = &SpelledRow(graph, id);
  if (graph.node(id).attributes.String("layout", "NCHW") != "NHWC") row = FindRow("BiasAdd");  // V1: the last dimension
  return WriteRow(out, id, *row);
}

}  // namespace

const OpRow& SpelledRow(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const OpRow* spelled = FindRow(node.spelling);
  return spelled != nullptr && spelled->kind == node.op ? *spelled : *RowsOf(node.op).front();
}

absl::Status WriteRow(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) return Cannot("an absent input");
    inputs.push_back(out.Input(id, static_cast<int>(i)));
  }
  return out.AddRow(id, row, inputs);
}

absl::Status WriteNode(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  switch (node.op) {
    case OpKind::kOpaque:
      return out.AddOpaque(id);
    case OpKind::kConstant:
      return out.AddConstant(id);
    case OpKind::kConv:
      return WriteConv(out, id);
    case OpKind::kMaxPool:
    case OpKind::kAveragePool:
      return WritePool(out, id);
    case OpKind::kMatMul:
      return WriteMatMul(out, id);
    case OpKind::kGemm:
      return WriteGemm(out, id);
    case OpKind::kBiasAdd:
      return WriteBiasAdd(out, id);
    case OpKind::kClip:
      return WriteClip(out, id);
    case OpKind::kDropout:
      return WriteDropout(out, id);
    case OpKind::kSoftmax:
      return WriteSoftmax(out, id);
    case OpKind::kBatchNorm:
      return WriteBatchNorm(out, id);
    case OpKind::kGlobalAveragePool:
      return WriteGlobalPool(out, id);
    case OpKind::kReduceMean:
    case OpKind::kReduceSum:
    case OpKind::kReduceMax:
      return WriteReduce(out, id);
    case OpKind::kReshape:
      return WriteReshape(out, id);
    case OpKind::kFlatten:
      return WriteFlatten(out, id);
    case OpKind::kSqueeze:
      return out.AddRow(id, SpelledRow(graph, id), {out.Input(id, 0)});
    case OpKind::kUnsqueeze:
      return WriteUnsqueeze(out, id);
    case OpKind::kConcat:
      return WriteConcat(out, id);
    case OpKind::kPad:
      return WritePad(out, id);
    case OpKind::kSlice:
      return WriteSlice(out, id);
    case OpKind::kGather:
      return WriteGather(out, id);
    case OpKind::kResize:
      return Cannot("ONNX's Resize");
    case OpKind::kShape:
      if (node.attributes.has("start") || node.attributes.has("end")) return Cannot("a part of a shape");
      return WriteRow(out, id, SpelledRow(graph, id));
    case OpKind::kDepthToSpace:
      if (node.attributes.String("mode", "DCR") != "DCR") return Cannot("depth to space with mode CRD");
      return WriteRow(out, id, SpelledRow(graph, id));
    default:
      if (RowsOf(node.op).empty()) return Cannot(OpName(node.op));
      return WriteRow(out, id, SpelledRow(graph, id));
  }
}

}  // namespace halftone::graphdef
