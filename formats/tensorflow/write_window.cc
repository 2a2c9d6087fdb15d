// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools.
//
// Conv2D says everything but groups; pads of other ops go into a Pad node before them. Weights that stand otherwise
// than TensorFlow has them are rearranged, which needs them to be constant.

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {
namespace {

// `tensor` with its dimensions in the order of `perm`.
Tensor Permuted(const Tensor& tensor, const std::vector<int>& perm) {
  std::vector<int64_t> dims, strides(tensor.rank(), 1), steps;
  for (int i = tensor.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * tensor.dims()[i + 1];
  for (const int axis : perm) {
    dims.push_back(tensor.dims()[axis]);
    steps.push_back(strides[axis]);
  }
  Tensor result(tensor.type(), dims);
  const size_t size = ElementSize(tensor.type());
  std::vector<int64_t> index(dims.size(), 0);
  std::byte* to = result.mutable_raw();
  for (int64_t n = result.num_elements(); n > 0; --n, to += size) {
    const int64_t from = std::inner_product(index.begin(), index.end(), steps.begin(), int64_t{0});
    std::copy_n(tensor.raw() + from * size, size, to);
    for (int axis = static_cast<int>(dims.size()) - 1; axis >= 0 && ++index[axis] == dims[axis]; --axis)
      index[axis] = 0;
  }
  return result;
}

bool IsZero(const std::vector<int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](int64_t n) { return n == 0; });
}

// x with explicit pads in a node of their own, filled with `fill`.
absl::StatusOr<Source> AddPads(GraphWriter& out, NodeId id, const Source& x, const std::vector<int64_t>& pads,
                               float fill) {
  const int spatial = static_cast<int>(pads.size() / 2);
  const bool last = out.graph().node(id).attributes.String("layout", "NCHW") == "NHWC";
  Tensor paddings(DataType::kInt32, {spatial + 2, 2});
  const std::span<int32_t> cells = paddings.mutable_data<int32_t>();
  for (int i = 0; i < spatial; ++i) {
    const int axis = i + (last ? 1 : 2);
    cells[2 * axis] = static_cast<int32_t>(pads[i]);
    cells[2 * axis + 1] = static_cast<int32_t>(pads[i + spatial]);
  }
  const std::string name = out.NameOf(id);
  const std::string device = out.graph().node(id).device;
  std::vector<Source> inputs = {x, out.AddConst(name + "/paddings", paddings, device)};
  AttrValues attrs;
  attrs["T"] = TypeAttr(x.type);
  attrs["Tpaddings"] = TypeAttr(DataType::kInt32);
  if (fill == 0) return out.Add("Pad", out.UniqueName(name + "/pad"), id, inputs, std::move(attrs), x.type);
  HALFTONE_ASSIGN_OR_RETURN(const Tensor value, Tensor::Scalar(fill).ConvertTo(x.type));
  inputs.push_back(out.AddConst(name + "/pad_value", value, device));
  return out.Add("PadV2", out.UniqueName(name + "/pad"), id, inputs, std::move(attrs), x.type);
}

// What AddRow is given when pads stand in a node of their own.
Attributes WithoutPads(const Attributes& attributes) {
  Attributes result = attributes;
  result.Erase("pads");
  result.Set("auto_pad", std::string("VALID"));
  return result;
}

}  // namespace

absl::StatusOr<ConvWeights> ArrangeWeights(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const std::string layout = node.attributes.String("weights_layout", "OIHW");
  const int64_t group = node.attributes.Int("group", 1);
  if (layout == "HWCM") return ConvWeights{out.Input(id, 1), /*depthwise=*/true};
  if (layout == "HWIO" && group == 1) return ConvWeights{out.Input(id, 1)};
  const Tensor* tensor = graph.ConstantTensor(node.inputs[1]);
  if (tensor == nullptr || tensor->rank() < 3)
    return Cannot("a convolution whose weights are no constant in TensorFlow's layout");
  Tensor arranged = *tensor;
  const int rank = tensor->rank();
  if (layout == "OIHW") {
    std::vector<int> perm(rank);
    std::iota(perm.begin(), perm.end(), 2);
    perm[rank - 2] = 1;
    perm[rank - 1] = 0;
    arranged = Permuted(*tensor, perm);
  }
  if (group > 1) {  // [H, W, 1, C * M] is [H, W, C, M]
    std::vector<int64_t> dims = arranged.dims();
    if (rank != 4 || dims[2] != 1 || dims[3] % group != 0) return Cannot("a convolution in groups of several channels");
    dims[2] = group;
    dims[3] /= group;
    arranged = arranged.WithDims(dims);
  }
  return ConvWeights{out.AddConst(out.NameOf(id) + "/weights", arranged, node.device), group > 1};
}

absl::Status WriteConv(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.inputs.size() > 2 || node.attributes.has("activation")) {
    return absl::InternalError(
        "a fused convolution; a pass must split bias, residual and activation off before export");
  }
  if (node.attributes.String("auto_pad", "NOTSET") == "SAME_LOWER") return Cannot("padding SAME_LOWER");
  HALFTONE_ASSIGN_OR_RETURN(const ConvWeights weights, ArrangeWeights(out, id));
  const Shape& shape = graph.shape(node.inputs[1]);
  const OpRow* row = weights.depthwise ? FindRow("DepthwiseConv2dNative") : SpelledRow(graph, id);
  if (!weights.depthwise)
    row = FindRow(row->spatial == 3 || (shape.has_rank() && shape.rank() == 5) ? "Conv3D" : "Conv2D");
  if (shape.has_rank() && shape.rank() != row->spatial + 2) return Cannot("a convolution of this rank");

  std::vector<Source> inputs = {out.Input(id, 0), weights.source};
  const std::vector<int64_t> pads = node.attributes.Ints("pads");
  const bool by_pads = node.attributes.String("auto_pad", "NOTSET") == "NOTSET" && !pads.empty();
  const bool says_pads = row->tf_op == "Conv2D" || node.extra.Bool(kExtraExplicit, false);
  if (!by_pads || says_pads || IsZero(pads)) return out.AddRow(id, *row, inputs);
  if (static_cast<int>(pads.size()) != 2 * row->spatial)
    return absl::InternalError("'pads' does not fit the convolution");
  HALFTONE_ASSIGN_OR_RETURN(inputs[0], AddPads(out, id, inputs[0], pads, 0));
  const Attributes attributes = WithoutPads(node.attributes);
  return out.AddRow(id, *row, inputs, &attributes);
}

absl::Status WritePool(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const Attributes& attributes = node.attributes;
  const bool is_max = node.op == OpKind::kMaxPool;
  if (node.outputs.size() > 1 && node.outputs[1].valid() && !graph.uses(node.outputs[1]).empty())
    return Cannot("indices of a max pool");
  const std::vector<int64_t> dilations = attributes.Ints("dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
    return Cannot("a dilated pool");
  if (attributes.Bool("ceil_mode", false)) return Cannot("a pool with ceil_mode");
  const std::string auto_pad = attributes.String("auto_pad", "NOTSET");
  const bool counts_pads = attributes.Bool("count_include_pad", false);
  if (auto_pad == "SAME_LOWER" || (auto_pad == "SAME_UPPER" && counts_pads)) return Cannot("this padding of a pool");

  const OpRow* row = SpelledRow(graph, id);
  const size_t spatial = attributes.Ints("kernel").size();
  if (spatial == 3) row = FindRow(is_max ? "MaxPool3D" : "AvgPool3D");
  if (spatial == 2) row = FindRow(is_max ? "MaxPool" : "AvgPool");
  std::vector<Source> inputs = {out.Input(id, 0)};
  const std::vector<int64_t> pads = attributes.Ints("pads");
  const bool needs_pads = auto_pad == "NOTSET" && !IsZero(pads);
  if (!needs_pads || node.extra.Bool(kExtraExplicit, false)) return out.AddRow(id, *row, inputs);
  if (pads.size() != 2 * spatial) return absl::InternalError("'pads' does not fit the pool");
  if (!is_max && !counts_pads) return Cannot("an average pool with pads that do not count");
  if (is_max && !IsFloatingPoint(inputs[0].type)) return Cannot("a max pool of integers with pads");
  const float fill = is_max ? -std::numeric_limits<float>::infinity() : 0;
  HALFTONE_ASSIGN_OR_RETURN(inputs[0], AddPads(out, id, inputs[0], pads, fill));
  const Attributes without = WithoutPads(attributes);
  return out.AddRow(id, *row, inputs, &without);
}

}  // namespace halftone::graphdef
