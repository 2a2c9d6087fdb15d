// SPDX-License-Identifier: Apache-2.0
// Ops of networks: convolutions and matmuls, normalizations, pools, resizing, sampling, regions of interest.

#include <algorithm>

#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

// An image batch: [n, c, spatial...] or, for NHWC, [n, spatial..., c].
ValueId Image(Maker& m, int spatial, int64_t channels, bool last, int64_t least = 4) {
  Dims dims = {m.Int(1, 2)};
  if (!last) dims.push_back(channels);
  for (int i = 0; i < spatial; ++i) dims.push_back(m.Int(least, 9));
  if (last) dims.push_back(channels);
  return m.Fresh(DataType::kFloat32, dims, -2, 2, 5);
}

// An existing value of this rank if its spatial dimensions are at least `least`, else a new one.
ValueId ImageOfAny(Maker& m, int spatial, int64_t least) {
  const ValueId x = m.Any({.min_rank = spatial + 2, .max_rank = spatial + 2});
  for (int i = 0; i < spatial; ++i) {
    if (m.dim(x, 2 + i) < least || m.dim(x, 1 + i) < least) return Image(m, spatial, m.Int(1, 9), false, least);
  }
  return x;
}

std::vector<int64_t> Many(Maker& m, int count, int64_t low, int64_t high) {
  std::vector<int64_t> list(static_cast<size_t>(count));
  for (int64_t& each : list) each = m.Int(low, high);
  return list;
}

void ConvNode(Maker& m, OpKind op) {
  const int spatial = m.Chance(70) ? 2 : m.Chance(60) ? 1 : 3;
  const bool last = m.Chance(30);
  const ValueId x = last           ? Image(m, spatial, m.Int(1, 4) * 2, true)
                    : m.Chance(15) ? Image(m, spatial, m.OneOf<int64_t>({16, 24, 32}), false)
                                   : ImageOfAny(m, spatial, 4);
  const int64_t channels = m.dim(x, last ? -1 : 1);
  const int64_t group = m.Chance(70) ? 1 : m.Chance(50) ? channels : channels % 2 == 0 ? 2 : 1;
  const int64_t filters = group * (m.Chance(15) && group <= 2 ? 16 : m.Int(1, group > 2 ? 2 : 6));
  Dims kernel = Many(m, spatial, 1, 3);
  Dims dims = {filters, channels / group};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  Attributes attributes = With({{"group", Number(group)}, {"strides", List(Many(m, spatial, 1, 2))}});
  if (m.Chance(25)) {
    attributes.Set("auto_pad", m.Chance(50) ? Text("SAME_UPPER") : Text("SAME_LOWER"));
  } else {
    attributes.Set("dilations", List(Many(m, spatial, 1, 2)));
    attributes.Set("pads", List(Many(m, 2 * spatial, 1, 2)));
  }
  if (last) attributes.Set("layout", Text("NHWC"));
  std::vector<ValueId> inputs = {x, m.Weights(dims)};
  if (m.Chance(60)) inputs.push_back(m.Weights({filters}));
  Activate(m, attributes);
  AddContraction(m, op, inputs, attributes);
}

void ConvTransposeNode(Maker& m, OpKind op) {
  const ValueId x = Image(m, 2, 4, false);
  const int64_t group = m.Chance(70) ? 1 : 2, filters = m.Int(1, 4);
  const Dims strides = Many(m, 2, 1, 3);
  Attributes attributes =
      With({{"group", Number(group)}, {"strides", List(strides)}, {"pads", List(Many(m, 4, 0, 1))}});
  if (m.Chance(30)) attributes.Set("output_padding", List({strides[0] - 1, 0}));
  std::vector<ValueId> inputs = {x, m.Weights({4, filters, m.Int(2, 3), m.Int(2, 3)})};
  if (m.Chance(50)) inputs.push_back(m.Weights({filters * group}));
  m.Add(op, inputs, attributes);
}

void DeformConvNode(Maker& m, OpKind op) {
  const ValueId x = Image(m, 2, 4, false, 5);
  const int64_t n = m.dim(x, 0), h = m.dim(x, 2) - 2, w = m.dim(x, 3) - 1;
  const ValueId offset = m.Fresh(DataType::kFloat32, {n, 2 * 3 * 2, h, w}, -0.75, 0.75);
  std::vector<ValueId> inputs = {x, m.Weights({3, 4, 3, 2}), offset};
  if (m.Chance(50)) inputs.push_back(m.Weights({3}));
  if (inputs.size() == 4 && m.Chance(50)) inputs.push_back(m.Fresh(DataType::kFloat32, {n, 6, h, w}, 0, 1));
  m.Add(op, inputs);
}

void MatMulNode(Maker& m, OpKind op) {
  const ValueId a = m.Any({.min_rank = 2});
  const bool transpose_a = m.Chance(20), transpose_b = m.Chance(40);
  const int64_t k = m.dim(a, transpose_a ? -2 : -1), n = m.Int(1, 18);
  Dims dims = transpose_b ? Dims{n, k} : Dims{k, n};
  if (m.rank(a) > 2 && m.Chance(40)) {
    const Dims lead(m.dims(a).begin(), m.dims(a).end() - 2);
    const Dims some = m.Broadcastable(lead);
    dims.insert(dims.begin(), some.begin(), some.end());
  }
  Attributes attributes;
  if (transpose_a) attributes.Set("transpose_a", true);
  if (transpose_b) attributes.Set("transpose_b", true);
  std::vector<ValueId> inputs = {a, m.Weights(dims)};
  if (m.Chance(40)) {
    inputs.push_back(m.Weights({n}));
    Activate(m, attributes);
  }
  AddContraction(m, op, inputs, attributes);
}

void GemmNode(Maker& m, OpKind op) {
  const ValueId a = m.Any({.min_rank = 2, .max_rank = 2});
  const bool transpose_a = m.Chance(30), transpose_b = m.Chance(50);
  const int64_t k = m.dim(a, transpose_a ? 0 : 1), rows = m.dim(a, transpose_a ? 1 : 0), n = m.Int(1, 18);
  Attributes attributes;
  if (transpose_a) attributes.Set("transpose_a", true);
  if (transpose_b) attributes.Set("transpose_b", true);
  if (m.Chance(40)) attributes.Set("alpha", Real(0.5));
  if (m.Chance(40)) attributes.Set("beta", Real(1.5));
  std::vector<ValueId> inputs = {a, m.Weights(transpose_b ? Dims{n, k} : Dims{k, n})};
  if (m.Chance(70)) inputs.push_back(m.Weights(m.OneOf<Dims>({{n}, {1, n}, {rows, n}, {rows, 1}, {}})));
  m.Add(op, inputs, attributes);
}

void EinsumNode(Maker& m, OpKind op) {
  const int64_t i = m.Int(2, 5), j = m.Int(2, 5), k = m.Int(2, 5), b = m.Int(1, 3);
  const ValueId left = m.Fresh(DataType::kFloat32, {b, i, j}, -2, 2);
  switch (m.Int(0, 3)) {
    case 0:
      m.Add(op, {left, m.Weights({b, j, k})}, With({{"equation", Text("bij,bjk->bik")}}));
      return;
    case 1:
      m.Add(op, {left, m.Weights({k, j})}, With({{"equation", Text("bij,kj->kib")}}));
      return;
    case 2:
      m.Add(op, {left}, With({{"equation", Text("bij->ji")}}));
      return;
    default:
      m.Add(op, {left, m.Weights({b, i, j})}, With({{"equation", Text("...ij,...ij->...i")}}));
  }
}

void DetNode(Maker& m, OpKind op) {
  const int64_t n = m.Int(1, 4);
  m.Add(op, {m.Fresh(DataType::kFloat32, {m.Int(1, 3), n, n}, -2, 2)});
}

void Pool(Maker& m, OpKind op) {
  const int spatial = m.Chance(70) ? 2 : m.Chance(60) ? 1 : 3;
  const bool last = m.Chance(25);
  const bool indices = op == kMaxPool && !last && m.Chance(25);
  const ValueId x = last || indices ? Image(m, spatial, m.Int(1, 9), last) : ImageOfAny(m, spatial, 4);
  const Dims kernel = Many(m, spatial, 2, 3);
  Attributes attributes = With({{"kernel", List(kernel)}, {"strides", List(Many(m, spatial, 1, 3))}});
  if (m.Chance(25)) {
    attributes.Set("auto_pad", m.Chance(50) ? Text("SAME_UPPER") : Text("SAME_LOWER"));
  } else {
    attributes.Set("pads", List(Many(m, 2 * spatial, 0, 1)));
    if (m.Chance(30)) attributes.Set("ceil_mode", true);
  }
  if (op == kAveragePool && m.Chance(40)) attributes.Set("count_include_pad", true);
  if (op == kLpPool) attributes.Set("p", Number(m.Int(1, 3)));
  if (last) attributes.Set("layout", Text("NHWC"));
  m.Add(op, {x}, attributes, std::vector<DataType>(indices ? 2 : 1, DataType::kUnknown));
}

void GlobalPool(Maker& m, OpKind op) {
  const bool last = m.Chance(30);
  Attributes attributes;
  if (last) attributes.Set("layout", Text("NHWC"));
  if (op == kGlobalLpPool) attributes.Set("p", Number(m.Int(1, 3)));
  m.Add(op, {m.Any({.min_rank = 3})}, attributes);
}

void MaxUnpoolNode(Maker& m, OpKind op) {
  const int64_t h = m.Int(2, 4), w = m.Int(2, 4), c = m.Int(1, 3);
  std::vector<int64_t> indices;
  for (int64_t p = 0; p < c; ++p) {
    for (int64_t i = 0; i < h; ++i) {
      for (int64_t j = 0; j < w; ++j)
        indices.push_back(p * 4 * h * w + (2 * i + m.Int(0, 1)) * 2 * w + 2 * j + m.Int(0, 1));
    }
  }
  const ValueId at = m.Constant(Tensor::Of<int64_t>({1, c, h, w}, indices));
  m.Add(op, {m.Fresh(DataType::kFloat32, {1, c, h, w}, -4, 4), at},
        With({{"kernel", List({2, 2})}, {"strides", List({2, 2})}}));
}

void SoftmaxNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .exact = op == kHardmax});
  Attributes attributes = With({{"axis", Number(m.Axis(x))}});
  if (m.Chance(20)) attributes = With({{"axis", Number(m.Int(0, m.rank(x) - 1))}, {"flatten", true}});
  m.Add(op, {x}, attributes);
}

void BatchNormNode(Maker& m, OpKind op) {
  const bool last = m.Chance(30);
  const ValueId x = m.Any({.min_rank = 2});
  const Dims c = {m.dim(x, last ? -1 : 1)};
  Attributes attributes = last ? With({{"layout", Text("NHWC")}}) : Attributes();
  if (m.Chance(50)) attributes.Set("epsilon", Real(0.01));
  const int constants = m.Chance(80) ? 100 : 0;
  const auto vector = [&](double low, double high) { return m.Fresh(DataType::kFloat32, c, low, high, constants); };
  const ValueId scale = vector(0.5, 2), offset = vector(-1, 1), mean = vector(-1, 1), variance = vector(0.5, 2);
  m.Add(op, {x, scale, offset, mean, variance}, attributes);
}

void LayerNormNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 2});
  const int64_t axis = m.Chance(60) ? -1 : -2;
  const Dims dims(m.dims(x).end() + axis, m.dims(x).end());
  std::vector<ValueId> inputs = {x, m.Weights(dims, 0.5, 1.5)};
  if (op == kLayerNorm && m.Chance(70)) inputs.push_back(m.Weights(dims));
  m.Add(op, inputs, With({{"axis", Number(axis)}, {"epsilon", Real(0.01)}}));
}

void SkipLayerNormNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {m.Int(1, 2), m.Int(2, 5), m.Int(4, 18)}, -2, 2);
  const Dims last = {m.dim(x, -1)};
  m.Add(op, {x, m.Fresh(DataType::kFloat32, m.dims(x), -2, 2), m.Weights(last, 0.5, 1.5), m.Weights(last)},
        With({{"epsilon", Real(0.01)}}));
}

void ChannelNorm(Maker& m, OpKind op) {
  const bool last = m.Chance(30);
  const ValueId x = Image(m, 2, 6, last);
  Attributes attributes = With({{"epsilon", Real(0.01)}});
  if (last) attributes.Set("layout", Text("NHWC"));
  if (op == kGroupNorm) attributes.Set("num_groups", Number(m.OneOf<int64_t>({1, 2, 3, 6})));
  if (op == kInstanceNorm) Activate(m, attributes);
  m.Add(op, {x, m.Weights({6}, 0.5, 1.5), m.Weights({6})}, attributes);
}

void LpNormNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .low = 0.25});
  m.Add(op, {x}, With({{"axis", Number(m.Axis(x))}, {"p", Number(m.Int(1, 2))}}));
}

void LrnNode(Maker& m, OpKind op) {
  const bool last = m.Chance(30);
  Attributes attributes = With({{"size", Number(m.OneOf<int64_t>({1, 3, 5}))}, {"alpha", Real(0.5)}});
  if (last) attributes.Set("layout", Text("NHWC"));
  m.Add(op, {m.Any({.min_rank = 4})}, attributes);
}

void MeanVarianceNode(Maker& m, OpKind op) { m.Add(op, {Image(m, 2, m.Int(1, 5), false)}); }

void ResizeNode(Maker& m, OpKind op) {
  const ValueId x = Image(m, 2, m.Int(1, 4), false, 3);
  const char* mode = m.OneOf<const char*>({"nearest", "linear", "cubic"});
  Attributes attributes = With({{"mode", Text(mode)}});
  attributes.Set("coordinate_transformation_mode",
                 Text(m.OneOf<const char*>({"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})));
  if (std::string(mode) == "nearest")
    attributes.Set("nearest_mode",
                   Text(m.OneOf<const char*>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})));
  if (m.Chance(50)) {
    const std::vector<float> scales = {1, 1, m.OneOf<float>({0.5f, 1, 2, 1.5f}), m.OneOf<float>({1, 2, 3})};
    m.Add(op, {x, kNoValue, m.Constant(Tensor::Of<float>({4}, scales))}, attributes);
    return;
  }
  m.Add(op, {x, kNoValue, kNoValue, m.Ints({m.dim(x, 0), m.dim(x, 1), m.Int(2, 9), m.Int(2, 9)})}, attributes);
}

void DepthToSpaceNode(Maker& m, OpKind op) {
  const bool last = m.Chance(30), deep = op == kDepthToSpace;
  const int64_t n = m.Int(1, 2), c = m.Int(1, 3) * (deep ? 4 : 1), h = m.Int(1, 4) * (deep ? 1 : 2),
                w = m.Int(1, 4) * (deep ? 1 : 2);
  Attributes attributes = With({{"block_size", Number(2)}});
  if (last) attributes.Set("layout", Text("NHWC"));
  if (deep && !last && m.Chance(50)) attributes.Set("mode", Text("CRD"));
  m.Add(op, {m.Fresh(DataType::kFloat32, last ? Dims{n, h, w, c} : Dims{n, c, h, w}, -4, 4)}, attributes);
}

void Col2ImNode(Maker& m, OpKind op) {
  const int64_t h = m.Int(3, 6), w = m.Int(3, 6);
  const ValueId x = m.Fresh(DataType::kFloat32, {m.Int(1, 2), 2 * 2 * 3, (h - 1) * (w - 2)}, -2, 2);
  m.Add(op, {x, m.Ints({h, w}), m.Ints({2, 3})});
}

void GridSampleNode(Maker& m, OpKind op) {
  const ValueId x = Image(m, 2, m.Int(1, 3), false, 3);
  const ValueId grid = m.Fresh(DataType::kFloat32, {m.dim(x, 0), m.Int(2, 5), m.Int(2, 5), 2}, -1.25, 1.25);
  Attributes attributes = With({{"mode", Text(m.OneOf<const char*>({"linear", "cubic"}))}});
  attributes.Set("padding_mode", Text(m.OneOf<const char*>({"zeros", "border", "reflection"})));
  if (m.Chance(50)) attributes.Set("align_corners", true);
  m.Add(op, {x, grid}, attributes);
}

void AffineGridNode(Maker& m, OpKind op) {
  const int64_t n = m.Int(1, 2);
  m.Add(op, {m.Fresh(DataType::kFloat32, {n, 2, 3}, -1, 1), m.Ints({n, 3, m.Int(2, 5), m.Int(2, 5)})},
        m.Chance(50) ? With({{"align_corners", true}}) : Attributes());
}

void RoiAlignNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {2, m.Int(1, 3), 8, 9}, -2, 2);
  const ValueId rois = m.Constant(Tensor::Of<float>({2, 4}, std::vector<float>{0.5f, 1, 6, 7, 2, 0, 5, 5.5f}));
  const ValueId batch = m.Constant(Tensor::Of<int64_t>({2}, std::vector<int64_t>{1, 0}));
  m.Add(op, {x, rois, batch},
        With({{"output_height", Number(m.Int(1, 3))},
              {"output_width", Number(m.Int(1, 3))},
              {"sampling_ratio", Number(m.Int(0, 2))}}));
}

void MaxRoiPoolNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {2, m.Int(1, 3), 8, 9}, -2, 2);
  const ValueId rois = m.Constant(Tensor::Of<float>({2, 5}, std::vector<float>{1, 0, 1, 6, 7, 0, 2, 0, 5, 5}));
  m.Add(op, {x, rois}, With({{"pooled_shape", List({m.Int(1, 3), m.Int(1, 3)})}}));
}

void CropAndResizeNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {2, 8, 9, m.Int(1, 3)}, -2, 2);
  const ValueId boxes =
      m.Constant(Tensor::Of<float>({2, 4}, std::vector<float>{0.1f, 0, 0.9f, 1, 0.5f, 0.25f, 1.25f, 0.75f}));
  const ValueId of = m.Constant(Tensor::Of<int32_t>({2}, std::vector<int32_t>{1, 0}));
  const ValueId size = m.Constant(Tensor::Of<int32_t>({2}, std::vector<int32_t>{static_cast<int32_t>(m.Int(2, 5)), 3}));
  m.Add(op, {x, boxes, of, size}, m.Chance(50) ? Attributes() : With({{"extrapolation_value", Real(0.5)}}));
}

void NonMaxSuppressionNode(Maker& m, OpKind op) {
  const int64_t n = m.Int(2, 8);
  std::vector<float> boxes;
  for (int64_t i = 0; i < n; ++i) {
    const float y = static_cast<float>(m.Int(0, 6)), x = static_cast<float>(m.Int(0, 6));
    boxes.insert(boxes.end(), {y, x, y + static_cast<float>(m.Int(1, 4)), x + static_cast<float>(m.Int(1, 4))});
  }
  const ValueId kept = m.Constant(Tensor::IntScalar(m.Int(1, 4)));
  m.Add(op, {m.Constant(Tensor::Of<float>({1, n, 4}, boxes)), m.Fresh(DataType::kFloat32, {1, 2, n}, 0, 1, 0), kept,
             m.Constant(Tensor::Scalar(0.4f))});
}

constexpr Generator kTable[] = {
    {kConv, ConvNode},
    {kMatMul, MatMulNode},
    {kGemm, GemmNode},
    {kSoftmax, SoftmaxNode},
    {kBatchNorm, BatchNormNode},
    {kMaxPool, Pool},
    {kAveragePool, Pool},
    {kGlobalAveragePool, GlobalPool},
    {kResize, ResizeNode},
    {kDepthToSpace, DepthToSpaceNode},
    {kSpaceToDepth, DepthToSpaceNode},
    {kLogSoftmax, SoftmaxNode},
    {kHardmax, SoftmaxNode},
    {kLayerNorm, LayerNormNode},
    {kRmsNorm, LayerNormNode},
    {kSkipLayerNorm, SkipLayerNormNode},
    {kInstanceNorm, ChannelNorm},
    {kGroupNorm, ChannelNorm},
    {kLpNorm, LpNormNode},
    {kLrn, LrnNode},
    {kMeanVarianceNorm, MeanVarianceNode},
    {kConvTranspose, ConvTransposeNode},
    {kDeformConv, DeformConvNode},
    {kEinsum, EinsumNode},
    {kDet, DetNode},
    {kCol2Im, Col2ImNode},
    {kLpPool, Pool},
    {kGlobalMaxPool, GlobalPool},
    {kGlobalLpPool, GlobalPool},
    {kMaxUnpool, MaxUnpoolNode},
    {kGridSample, GridSampleNode},
    {kAffineGrid, AffineGridNode},
    {kRoiAlign, RoiAlignNode},
    {kMaxRoiPool, MaxRoiPoolNode},
    {kCropAndResize, CropAndResizeNode},
    {kNonMaxSuppression, NonMaxSuppressionNode},
};

}  // namespace

std::span<const Generator> NetworkGenerators() { return kTable; }

}  // namespace halftone::fuzz
