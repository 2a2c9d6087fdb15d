// SPDX-License-Identifier: Apache-2.0
// Reductions, and ops that rearrange values or read shapes.

#include <algorithm>
#include <numeric>

#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

// A value of any type that data movement ops take.
ValueId AnyType(Maker& m, int min_rank = 0, int max_rank = 4) {
  const DataType type =
      m.Chance(75) ? DataType::kFloat32
                   : m.OneOf<DataType>({DataType::kInt64, DataType::kInt32, DataType::kUInt8, DataType::kBool});
  return m.Any({.min_rank = min_rank,
                .max_rank = max_rank,
                .low = type == DataType::kUInt8 ? 0.0 : -9.0,
                .high = 9,
                .type = type});
}

void ReduceNode(Maker& m, OpKind op) {
  Want want{.min_rank = 1};
  if (op == kReduceLogSum) want.low = 0.25;
  if (op == kReduceProd) want = {.min_rank = 1, .low = 0.5, .high = 1.25};
  if (op == kReduceL2) want.low = 0.125;
  if (op == kReduceAll || op == kReduceAny) want.type = DataType::kBool;
  const ValueId x = m.Any(want);
  Attributes attributes;
  if (m.Chance(50)) attributes.Set("keepdims", false);
  std::vector<int64_t> axes = m.Axes(x, 1);
  if (m.Chance(20)) axes = {m.Axis(x)};
  m.Add(op, m.Chance(15) ? std::vector<ValueId>{x} : std::vector<ValueId>{x, m.Ints(axes)}, attributes);
}

void ArgNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .exact = true});
  Attributes attributes;
  if (m.Chance(50)) attributes.Set("keepdims", false);
  if (m.Chance(30)) attributes.Set("select_last_index", true);
  m.Add(op, {x, m.IntScalar(m.Axis(x))}, attributes);
}

void CumulateNode(Maker& m, OpKind op) {
  const ValueId x = op == kCumProd ? m.Any({.min_rank = 1, .low = 0.5, .high = 1.25}) : m.Any({.min_rank = 1});
  Attributes attributes;
  if (m.Chance(40)) attributes.Set("exclusive", true);
  if (m.Chance(40)) attributes.Set("reverse", true);
  m.Add(op, {x, m.IntScalar(m.Axis(x))}, attributes);
}

void TopKNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .exact = true});
  const int64_t axis = m.Axis(x);
  Attributes attributes = With({{"axis", Number(axis)}});
  if (m.Chance(40)) attributes.Set("largest", false);
  m.Add(op, {x, m.Ints({m.Int(1, m.dim(x, static_cast<int>(axis)))})}, attributes,
        {DataType::kUnknown, DataType::kUnknown});
}

void ReshapeNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  const Dims& dims = m.dims(x);
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<int64_t> shape;
  switch (m.Int(0, 3)) {
    case 0:
      shape = {-1};
      break;
    case 1:
      shape = {dims[0], -1};
      break;
    case 2:
      shape = {0, count / dims[0]};
      break;
    default:
      shape = {1, -1, dims.back()};
  }
  m.Add(op, {x, m.Ints(shape)});
}

void FlattenNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  m.Add(op, {x}, m.Chance(40) ? Attributes() : With({{"axis", Number(m.Int(0, m.rank(x)))}}));
}

// Sometimes a cube, for which a permutation and its inverse give the same shape.
void TransposeNode(Maker& m, OpKind op) {
  const int64_t side = m.Int(2, 5);
  const ValueId x = m.Chance(15) ? m.Fresh(DataType::kFloat32, {side, side, side}, -4, 4) : AnyType(m, 2);
  std::vector<int64_t> perm(static_cast<size_t>(m.rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<size_t>(m.Int(0, static_cast<int64_t>(i)))]);
  m.Add(op, {x, m.Ints(perm)});
}

void UnsqueezeNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 0, 3);
  m.Add(op, {x, m.Ints(m.Chance(50) ? std::vector<int64_t>{m.Int(-m.rank(x) - 1, m.rank(x))}
                                    : std::vector<int64_t>{0, m.rank(x) + 1})});
}

void SqueezeNode(Maker& m, OpKind op) {
  Dims dims = m.RandomDims(1, 3);
  const int64_t at = m.Int(0, static_cast<int64_t>(dims.size()));
  dims.insert(dims.begin() + at, 1);
  const ValueId x = m.Fresh(DataType::kFloat32, dims, -4, 4);
  m.Add(op, m.Chance(30) ? std::vector<ValueId>{x} : std::vector<ValueId>{x, m.Ints({at})});
}

void ConcatNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  const int64_t axis = m.Axis(x);
  std::vector<ValueId> inputs = {x};
  const int64_t more = m.Int(0, 3);
  for (int64_t i = 0; i < more; ++i) {
    Dims dims = m.dims(x);
    dims[static_cast<size_t>(axis < 0 ? axis + m.rank(x) : axis)] = m.Int(1, 4);
    inputs.push_back(m.Chance(20) ? x : m.Fresh(m.type(x), dims, 0, 9));
  }
  inputs.push_back(m.IntScalar(axis));
  m.Add(op, inputs);
}

void StackNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 0, 3);
  std::vector<ValueId> inputs = {x};
  const int64_t more = m.Int(0, 2);
  for (int64_t i = 0; i < more; ++i) inputs.push_back(m.Fresh(m.type(x), m.dims(x), 0, 9));
  m.Add(op, inputs, With({{"axis", Number(m.Int(-m.rank(x) - 1, m.rank(x)))}}));
}

void UnstackNode(Maker& m, OpKind op) {
  const int64_t parts = m.Int(1, 4);
  Dims dims = m.RandomDims(1, 3);
  const size_t axis = static_cast<size_t>(m.Int(0, static_cast<int64_t>(dims.size()) - 1));
  dims[axis] = parts;
  m.Add(op, {m.Fresh(DataType::kFloat32, dims, -4, 4)}, With({{"axis", Number(static_cast<int64_t>(axis))}}),
        std::vector<DataType>(static_cast<size_t>(parts), DataType::kUnknown));
}

void SplitNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  const int64_t axis = m.Axis(x), length = m.dim(x, static_cast<int>(axis));
  const int64_t first = m.Int(0, length);
  m.Add(op, {x, m.Ints({first, length - first}), m.IntScalar(axis)}, {}, {DataType::kUnknown, DataType::kUnknown});
}

void PadNode(Maker& m, OpKind op) {
  const char* mode = m.OneOf<const char*>({"constant", "reflect", "edge", "constant"});
  const ValueId x = m.Any({.min_rank = 1});
  const bool reflect = std::string(mode) == "reflect", constant = std::string(mode) == "constant";
  std::vector<int64_t> pads;
  for (int side = 0; side < 2; ++side) {
    for (const int64_t dim : m.dims(x))
      pads.push_back(m.Int(constant && dim > 2 && m.Chance(20) ? -1 : 0, reflect ? std::min<int64_t>(dim - 1, 2) : 2));
  }
  std::vector<ValueId> inputs = {x, m.Ints(pads)};
  if (constant && m.Chance(60)) inputs.push_back(m.Constant(Tensor::Scalar(static_cast<float>(m.Int(-2, 2)))));
  m.Add(op, inputs, m.Chance(50) && constant ? Attributes() : With({{"mode", Text(mode)}}));
}

void SliceNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  const std::vector<int64_t> axes = m.Axes(x, 1);
  std::vector<int64_t> starts, ends, steps;
  for (const int64_t axis : axes) {
    const int64_t dim = m.dim(x, static_cast<int>(axis)), start = m.Int(0, dim - 1);
    const bool back = m.Chance(25);
    starts.push_back(m.Chance(20) ? start - dim : start);
    ends.push_back(back ? -dim - 1 : m.Chance(30) ? 1'000'000 : m.Int(start + 1, dim));
    steps.push_back((back ? -1 : 1) * m.Int(1, 2));
  }
  m.Add(op, {x, m.Ints(starts), m.Ints(ends), m.Ints(axes), m.Ints(steps)});
}

void StridedSliceNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  const int64_t dim = m.dim(x, 0);
  std::vector<int64_t> begin = {m.Int(0, dim - 1)}, end = {dim}, strides = {m.Int(1, 2)};
  Attributes attributes;
  if (m.Chance(30)) attributes.Set("begin_mask", Number(1));
  if (m.Chance(30)) attributes.Set("end_mask", Number(1));
  if (m.Chance(30)) {
    attributes = With({{"shrink_axis_mask", Number(1)}});
    strides = {1};
  } else if (m.Chance(30)) {
    attributes = With({{"new_axis_mask", Number(1)}});
  }
  m.Add(op, {x, m.Ints(begin), m.Ints(end), m.Ints(strides)}, attributes);
}

void ExpandNode(Maker& m, OpKind op) {
  const Dims to = m.RandomDims(1, 4);
  const ValueId x = m.Fresh(DataType::kFloat32, m.Broadcastable(to), -4, 4);
  m.Add(op, {x, m.Ints(to)});
}

void TileNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1, 3);
  std::vector<int64_t> repeats;
  for (int i = 0; i < m.rank(x); ++i) repeats.push_back(m.Int(1, 3));
  m.Add(op, {x, m.Ints(repeats)});
}

void ShapeNode(Maker& m, OpKind op) {
  Attributes attributes;
  if (op == kShape && m.Chance(40)) attributes.Set("start", Number(m.Int(-2, 1)));
  m.Add(op, {AnyType(m)}, attributes);
}

void ReverseNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 1);
  m.Add(op, {x, m.Ints(m.Axes(x, 1))});
}

void ReverseSequenceNode(Maker& m, OpKind op) {
  const int64_t batch = m.Int(1, 4), time = m.Int(2, 6);
  const ValueId x = m.Fresh(DataType::kFloat32, {time, batch, 3}, -4, 4);
  m.Add(op, {x, m.Fresh(DataType::kInt64, {batch}, 1, static_cast<double>(time))});
}

void SpaceToBatchNode(Maker& m, OpKind op) {
  const int64_t c = m.Int(1, 3);
  const ValueId block = m.Ints({2, 3});
  const ValueId pads = m.Constant(Tensor::Of<int64_t>({2, 2}, std::vector<int64_t>{0, 1, 1, 0}));
  if (op == kSpaceToBatch) {
    m.Add(op, {m.Fresh(DataType::kFloat32, {m.Int(1, 2), 5, 8, c}, -4, 4), block, pads});
  } else {
    m.Add(op, {m.Fresh(DataType::kFloat32, {6 * m.Int(1, 2), 3, 2, c}, -4, 4), block, pads});
  }
}

void CenterCropPadNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 2);
  m.Add(op, {x, m.Ints({m.Int(2, 7), m.Int(2, 7)})}, With({{"axes", List({0, 1})}}));
}

void TriluNode(Maker& m, OpKind op) {
  const ValueId x = AnyType(m, 2);
  Attributes attributes = m.Chance(50) ? Attributes() : With({{"upper", false}});
  m.Add(op, m.Chance(50) ? std::vector<ValueId>{x} : std::vector<ValueId>{x, m.IntScalar(m.Int(-2, 2))}, attributes);
}

void BandNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({.min_rank = 2}), m.IntScalar(m.Int(-1, 2)), m.IntScalar(m.Int(-1, 2))});
}

void EyeLikeNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({.min_rank = 2, .max_rank = 2})}, m.Chance(50) ? Attributes() : With({{"k", Number(m.Int(-1, 1))}}));
}

void RangeNode(Maker& m, OpKind op) {
  if (m.Chance(50)) {
    m.Add(op, {m.IntScalar(m.Int(-3, 3)), m.IntScalar(m.Int(4, 12)), m.IntScalar(m.Int(1, 3))});
    return;
  }
  const auto number = [&](double x) { return m.Constant(Tensor::Scalar(static_cast<float>(x))); };
  m.Add(op, {number(0.5), number(static_cast<double>(m.Int(2, 5))), number(0.25)});
}

void LinSpaceNode(Maker& m, OpKind op) {
  const auto number = [&](double x) { return m.Constant(Tensor::Scalar(static_cast<float>(x))); };
  m.Add(op, {number(0.5), number(static_cast<double>(m.Int(-2, 5))), m.IntScalar(m.Int(1, 9))});
}

void FillNode(Maker& m, OpKind op) {
  m.Add(op, {m.Ints(m.RandomDims(1, 3)), m.Constant(Tensor::Scalar(static_cast<float>(m.Int(-3, 3))))});
}

constexpr Generator kTable[] = {
    {kReduceMean, ReduceNode},
    {kReduceSum, ReduceNode},
    {kReduceMax, ReduceNode},
    {kReduceMin, ReduceNode},
    {kReduceProd, ReduceNode},
    {kReduceL1, ReduceNode},
    {kReduceL2, ReduceNode},
    {kReduceLogSum, ReduceNode},
    {kReduceLogSumExp, ReduceNode},
    {kReduceSumSquare, ReduceNode},
    {kReduceAll, ReduceNode},
    {kReduceAny, ReduceNode},
    {kArgMax, ArgNode},
    {kArgMin, ArgNode},
    {kCumSum, CumulateNode},
    {kCumProd, CumulateNode},
    {kTopK, TopKNode},
    {kReshape, ReshapeNode},
    {kFlatten, FlattenNode},
    {kTranspose, TransposeNode},
    {kSqueeze, SqueezeNode},
    {kUnsqueeze, UnsqueezeNode},
    {kConcat, ConcatNode},
    {kStack, StackNode},
    {kUnstack, UnstackNode},
    {kSplit, SplitNode},
    {kPad, PadNode},
    {kSlice, SliceNode},
    {kStridedSlice, StridedSliceNode},
    {kExpand, ExpandNode},
    {kTile, TileNode},
    {kShape, ShapeNode},
    {kSize, ShapeNode},
    {kRank, ShapeNode},
    {kReverse, ReverseNode},
    {kReverseSequence, ReverseSequenceNode},
    {kSpaceToBatch, SpaceToBatchNode},
    {kBatchToSpace, SpaceToBatchNode},
    {kCenterCropPad, CenterCropPadNode},
    {kTrilu, TriluNode},
    {kMatrixBandPart, BandNode},
    {kEyeLike, EyeLikeNode},
    {kRange, RangeNode},
    {kLinSpace, LinSpaceNode},
    {kFill, FillNode},
};

}  // namespace

std::span<const Generator> TensorGenerators() { return kTable; }

}  // namespace halftone::fuzz
