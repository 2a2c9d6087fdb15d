// SPDX-License-Identifier: Apache-2.0
// Arithmetic: matmuls, reductions, and ops that TensorFlow has under other names.

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {

absl::Status WriteMatMul(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.inputs.size() > 2 || node.attributes.has("activation") || node.attributes.Float("scale", 1) != 1) {
    return absl::InternalError(
        "a fused matmul; a pass must split scale, bias, residual and activation off before export");
  }
  const OpRow* row = SpelledRow(graph, id);
  if (row->write != nullptr) row = FindRow("MatMul");  // it was read as a fused op
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
  if (low && high && node.spelling == "ClipByValue") return WriteRow(out, id, *FindRow("ClipByValue"));
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
  return WriteRow(out, id, *SpelledRow(out.graph(), id));
}

absl::Status WriteBatchNorm(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.attributes.has("activation"))
    return absl::InternalError("a fused batch norm; a pass must split the activation off before export");
  const bool moves = node.attributes.Bool("is_training", false) && node.attributes.String("statistics", "") != "batch";
  for (size_t i = 1; i < node.outputs.size() && moves; ++i) {
    if (node.outputs[i].valid() && !graph.uses(node.outputs[i]).empty())
      return Cannot("a batch norm that moves running statistics");
  }
  const OpRow* row = SpelledRow(graph, id);
  if (row->write != nullptr) row = FindRow("FusedBatchNormV3");  // it was read as a fused op
  const bool mixed = graph.type(node.inputs[0]) != graph.type(node.inputs[1]);
  const bool v1 = row->types.size() == 1;  // one type for all, f32 or of old
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
  const OpRow& row = *SpelledRow(graph, id);
  // No axes: all, unless the attribute says none, as TensorFlow means it.
  const bool is_given = HasInput(node, 1);
  const auto axes = is_given ? graph.ConstantInts(node.inputs[1]) : std::vector<int64_t>();
  const bool none_is_all = !node.attributes.Bool("noop_with_empty_axes", false);
  if (none_is_all && !axes.has_value()) return Cannot("a reduction of all dimensions where the computed axes are none");
  const bool means_all = none_is_all && axes->empty();
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

absl::Status WriteBiasAdd(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const OpRow* row = SpelledRow(graph, id);
  if (graph.node(id).attributes.String("layout", "NCHW") != "NHWC") row = FindRow("BiasAdd");  // V1: the last dimension
  return WriteRow(out, id, *row);
}

}  // namespace halftone::graphdef
