// SPDX-License-Identifier: Apache-2.0
// einsum and det.

#include "ir/einsum.h"

#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// Strides of one operand for the indices of the equation: the sum of the strides if it has an index twice, 0 if its
// dimension is broadcast.
Dims StridesOver(const std::vector<int>& indices, const Dims& dims, int num_indices) {
  const Dims strides = RowMajorStrides(dims);
  Dims result(num_indices, 0);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1) result[indices[d]] += strides[d];
  }
  return result;
}

// Sums over all indices except those of the output, which come first. Acc is unsigned for integers: wraps around.
template <typename T, typename Acc>
std::vector<Acc> Contract(const std::vector<std::vector<T>>& operands, const std::vector<Dims>& strides,
                          const std::vector<int>& outer, const std::vector<int>& inner, const Dims& sizes) {
  const auto pick = [](const Dims& from, const std::vector<int>& which) {
    Dims result;
    for (const int i : which) result.push_back(from[i]);
    return result;
  };
  std::vector<std::vector<int64_t>> starts, steps;
  for (const Dims& s : strides) {
    starts.push_back(Offsets(pick(sizes, outer), pick(s, outer)));
    steps.push_back(Offsets(pick(sizes, inner), pick(s, inner)));
  }
  std::vector<Acc> result(starts[0].size());
  for (size_t i = 0; i < result.size(); ++i) {
    Acc sum = 0;
    for (size_t k = 0; k < steps[0].size(); ++k) {
      Acc product = static_cast<Acc>(operands[0][starts[0][i] + steps[0][k]]);
      for (size_t o = 1; o < operands.size(); ++o) {
        product *= static_cast<Acc>(operands[o][starts[o][i] + steps[o][k]]);
      }
      sum += product;
    }
    result[i] = sum;
  }
  return result;
}

// By elimination with the largest pivot of the column.
double Determinant(std::vector<double> a, int64_t n) {
  double result = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    if (a[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      for (int64_t k = 0; k < n; ++k) std::swap(a[pivot * n + k], a[column * n + k]);
      result = -result;
    }
    result *= a[column * n + column];
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / a[column * n + column];
      for (int64_t k = column; k < n; ++k) a[row * n + k] -= factor * a[column * n + k];
    }
  }
  return result;
}

}  // namespace

Outputs Einsum(const Call& call) {
  std::vector<int> ranks;
  std::vector<Shape> shapes;
  for (const Tensor& tensor : call.inputs) {
    ranks.push_back(tensor.rank());
    shapes.push_back(tensor.shape());
  }
  HALFTONE_ASSIGN_OR_RETURN(const EinsumPlan plan, ParseEinsum(call.attributes().String("equation", ""), ranks));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> known, EinsumSizes(plan, shapes));
  Dims sizes, dims;
  for (const Dim& size : known) sizes.push_back(size.value);
  std::vector<bool> kept(plan.num_indices, false);
  for (const int index : plan.output) {
    dims.push_back(sizes[index]);
    kept[index] = true;
  }
  std::vector<int> inner;
  Dims inner_dims;
  for (int index = 0; index < plan.num_indices; ++index) {
    if (kept[index]) continue;
    inner.push_back(index);
    inner_dims.push_back(sizes[index]);
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  HALFTONE_RETURN_IF_ERROR(CheckDims(inner_dims));
  std::vector<Dims> strides;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Dims& own = call.in(i).dims();
    for (size_t d = 0; d < own.size(); ++d) {
      for (size_t e = d + 1; e < own.size(); ++e) {
        if (plan.inputs[i][d] == plan.inputs[i][e] && own[d] != own[e]) {
          return Error("operand ", i, " is ", call.in(i).shape().ToString(), ": the diagonal of dimensions ", d,
                       " and ", e, " needs equal sizes");
        }
      }
    }
    strides.push_back(StridesOver(plan.inputs[i], own, plan.num_indices));
  }
  if (IsInteger(call.in(0).type())) {
    std::vector<std::vector<int64_t>> operands;
    for (const Tensor& tensor : call.inputs) operands.push_back(tensor.ToInts());
    const std::vector<uint64_t> sums = Contract<int64_t, uint64_t>(operands, strides, plan.output, inner, sizes);
    return std::vector<Tensor>{FromInts(call.type(), dims, {sums.begin(), sums.end()})};
  }
  std::vector<std::vector<double>> operands;
  for (const Tensor& tensor : call.inputs) operands.push_back(tensor.ToDoubles());
  return std::vector<Tensor>{
      FromDoubles(call.type(), dims, Contract<double, double>(operands, strides, plan.output, inner, sizes))};
}

Outputs Det(const Call& call) {
  const Dims& x = call.in(0).dims();
  if (x.size() < 2 || x[x.size() - 1] != x[x.size() - 2]) {
    return Error("x is ", call.in(0).shape().ToString(), ", need square matrices in the last two dimensions");
  }
  const Dims dims(x.begin(), x.end() - 2);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t n = x.back();
  const std::vector<double> numbers = call.in(0).ToDoubles();
  std::vector<double> y;
  for (int64_t i = 0; i < Count(dims); ++i) {
    y.push_back(Determinant({numbers.begin() + i * n * n, numbers.begin() + (i + 1) * n * n}, n));
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

}  // namespace halftone::reference
