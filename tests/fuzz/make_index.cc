// SPDX-License-Identifier: Apache-2.0
// Ops that select values by index or by condition, and ops whose output shape depends on data.

#include <algorithm>
#include <numeric>

#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

// Indices in [0, dim), or in [-dim, dim).
ValueId Indices(Maker& m, const Dims& dims, int64_t dim, bool negative, DataType type = DataType::kInt64) {
  return m.Fresh(type, dims, negative ? static_cast<double>(-dim) : 0, static_cast<double>(dim - 1), 40);
}

void GatherNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  const int64_t axis = m.Axis(x);
  const DataType type = m.Chance(70) ? DataType::kInt64 : DataType::kInt32;
  const ValueId at = Indices(m, m.RandomDims(0, 2), m.dim(x, static_cast<int>(axis)), m.Chance(40), type);
  m.Add(op, {x, at, m.IntScalar(axis)});
}

// Dims of x, some of them made smaller, and any size at `axis`.
Dims Within(Maker& m, ValueId x, int64_t axis) {
  Dims dims = m.dims(x);
  for (int64_t i = 0; i < m.rank(x); ++i) {
    int64_t& dim = dims[static_cast<size_t>(i)];
    dim = i == axis ? m.Int(1, 5) : m.Chance(70) ? dim : m.Int(1, dim);
  }
  return dims;
}

void GatherElementsNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  const int64_t axis = m.Int(0, m.rank(x) - 1);
  m.Add(op, {x, Indices(m, Within(m, x, axis), m.dim(x, static_cast<int>(axis)), m.Chance(40))},
        With({{"axis", Number(axis)}}));
}

// Without a reduction the result for duplicate indices is undefined, so each index occurs once along the axis.
void ScatterElementsNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .low = -2, .high = 2});
  const int64_t axis = m.Int(0, m.rank(x) - 1), dim = m.dim(x, static_cast<int>(axis));
  Dims dims = Within(m, x, axis);
  dims[static_cast<size_t>(axis)] = m.Int(1, dim);
  const int64_t shift = m.Int(0, dim - 1);
  Tensor indices(DataType::kInt64, dims);
  const std::span<int64_t> all = indices.mutable_data<int64_t>();
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < m.rank(x); ++i) inner *= dims[static_cast<size_t>(i)];
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = (static_cast<int64_t>(i) / inner % dims[static_cast<size_t>(axis)] + shift) % dim;
  }
  const char* reduction = m.OneOf<const char*>({"none", "add", "mul", "max", "min"});
  m.Add(op, {x, m.Constant(indices), m.Fresh(DataType::kFloat32, dims, -2, 2)},
        With({{"axis", Number(axis)}, {"reduction", Text(reduction)}}));
}

void GatherNdNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 2});
  const int64_t least = *std::min_element(m.dims(x).begin(), m.dims(x).end());
  Dims dims = m.RandomDims(1, 2);
  dims.push_back(m.Int(1, m.rank(x)));
  m.Add(op, {x, Indices(m, dims, least, m.Chance(30))});
}

void ScatterNdNode(Maker& m, OpKind op) {
  const int64_t rows = m.Int(3, 6), width = m.Int(1, 5), some = m.Int(1, 3);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < some; ++i) at.push_back((i * 2 + rows - 1) % rows);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  const int64_t count = static_cast<int64_t>(at.size());
  const ValueId indices = m.Constant(Tensor::Of<int64_t>({count, 1}, at));
  const ValueId updates = m.Fresh(DataType::kFloat32, {count, width}, -2, 2);
  if (op == kScatterNdNew) {
    m.Add(op, {indices, updates, m.Ints({rows, width})});
  } else {
    m.Add(op, {m.Fresh(DataType::kFloat32, {rows, width}, -2, 2), indices, updates},
          With({{"reduction", Text(m.OneOf<const char*>({"none", "add", "mul", "max", "min"}))}}));
  }
}

void OneHotNode(Maker& m, OpKind op) {
  const int64_t depth = m.Int(2, 7);
  const ValueId at = Indices(m, m.RandomDims(1, 2), depth, m.Chance(40));
  m.Add(op, {at, m.IntScalar(depth), m.Constant(Tensor::Of<float>({2}, std::vector<float>{-0.5f, 2}))},
        With({{"axis", Number(m.Int(-1, m.rank(at)))}}));
}

void NonZeroNode(Maker& m, OpKind op) {
  m.Add(op, {m.Fresh(m.OneOf<DataType>({DataType::kBool, DataType::kInt64}), m.RandomDims(1, 3), 0, 1, 10)},
        m.Chance(60) ? Attributes() : With({{"rows", true}}));
}

void UniqueNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(m.OneOf<DataType>({DataType::kFloat32, DataType::kInt64}), {m.Int(1, 20)}, 0, 3, 10);
  m.Add(op, {x}, m.Chance(60) ? Attributes() : With({{"sorted", false}}),
        std::vector<DataType>(static_cast<size_t>(m.Int(1, 4)), DataType::kUnknown));
}

void CompressNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  const int64_t axis = m.Axis(x);
  m.Add(op, {x, m.Fresh(DataType::kBool, {m.dim(x, static_cast<int>(axis))}, 0, 1, 60)},
        With({{"axis", Number(axis)}}));
}

void DynamicStitchNode(Maker& m, OpKind op) {
  const int64_t width = m.Int(1, 4);
  const auto at = [&](std::vector<int32_t> list) {
    return m.Constant(Tensor::Of<int32_t>({static_cast<int64_t>(list.size())}, list));
  };
  const ValueId first = at({3, 0}), second = at({1, 2, 4});
  m.Add(op,
        {first, second, m.Fresh(DataType::kFloat32, {2, width}, -4, 4), m.Fresh(DataType::kFloat32, {3, width}, -4, 4)},
        {}, {DataType::kFloat32});
}

void DynamicPartitionNode(Maker& m, OpKind op) {
  const int64_t rows = m.Int(2, 8);
  const ValueId x = m.Fresh(DataType::kFloat32, {rows, m.Int(1, 4)}, -4, 4);
  m.Add(op, {x, m.Fresh(DataType::kInt32, {rows}, 0, 1, 40)}, {}, {DataType::kUnknown, DataType::kUnknown});
}

void InvertPermutationNode(Maker& m, OpKind op) {
  std::vector<int64_t> perm(static_cast<size_t>(m.Int(1, 8)));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<size_t>(m.Int(0, static_cast<int64_t>(i)))]);
  m.Add(op, {m.Ints(perm)});
}

constexpr Generator kTable[] = {
    {kGather, GatherNode},
    {kGatherElements, GatherElementsNode},
    {kScatterElements, ScatterElementsNode},
    {kGatherNd, GatherNdNode},
    {kScatterNd, ScatterNdNode},
    {kScatterNdNew, ScatterNdNode},
    {kOneHot, OneHotNode},
    {kNonZero, NonZeroNode},
    {kUnique, UniqueNode},
    {kCompress, CompressNode},
    {kDynamicStitch, DynamicStitchNode},
    {kDynamicPartition, DynamicPartitionNode},
    {kInvertPermutation, InvertPermutationNode},
};

}  // namespace

std::span<const Generator> IndexGenerators() { return kTable; }

}  // namespace halftone::fuzz
