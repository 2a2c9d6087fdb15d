// SPDX-License-Identifier: Apache-2.0
// Reductions over some dimensions: sum, mean, maximum, norms and the like. An empty set gives the initial value.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

absl::StatusOr<std::vector<bool>> ReducedAxes(const Call& call) {
  const int rank = call.in(0).rank();
  std::vector<int64_t> axes;
  if (call.has(1)) axes = call.in(1).ToInts();
  if (!axes.empty()) return AxisMarks(axes, rank);
  // No axes mean all axes, unless noop_with_empty_axes is set.
  return std::vector<bool>(rank, !call.attributes().Bool("noop_with_empty_axes", false));
}

// Accumulates every element of x into the result at into[i].
template <typename T, typename Combine>
std::vector<T> Fold(const std::vector<T>& x, const std::vector<int64_t>& into, int64_t size, T start, Combine combine) {
  std::vector<T> y(size, start);
  for (size_t i = 0; i < x.size(); ++i) y[into[i]] = combine(y[into[i]], x[i]);
  return y;
}

double Larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double Smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// log(sum(exp(x))), with the maximum subtracted first, so that nothing overflows.
std::vector<double> LogSumExp(const std::vector<double>& x, const std::vector<int64_t>& into, int64_t size) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> largest = Fold<double>(x, into, size, -kInfinity, Larger);
  std::vector<double> y(size, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const double shift = std::isfinite(largest[into[i]]) ? largest[into[i]] : 0;
    y[into[i]] += std::exp(x[i] - shift);
  }
  for (int64_t i = 0; i < size; ++i) y[i] = std::log(y[i]) + (std::isfinite(largest[i]) ? largest[i] : 0);
  return y;
}

std::vector<double> ReduceReals(OpKind op, const std::vector<double>& x, const std::vector<int64_t>& into, int64_t size,
                                int64_t per_result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto fold = [&](double start, auto combine) { return Fold<double>(x, into, size, start, combine); };
  const auto finish = [](std::vector<double> y, auto function) {
    for (double& element : y) element = function(element);
    return y;
  };
  const auto add = [](double a, double b) { return a + b; };
  const auto add_square = [](double a, double b) { return a + b * b; };
  if (op == OpKind::kReduceMax) return fold(-kInfinity, Larger);
  if (op == OpKind::kReduceMin) return fold(kInfinity, Smaller);
  if (op == OpKind::kReduceProd) return fold(1, [](double a, double b) { return a * b; });
  if (op == OpKind::kReduceL1) return fold(0, [](double a, double b) { return a + std::abs(b); });
  if (op == OpKind::kReduceL2) return finish(fold(0, add_square), [](double v) { return std::sqrt(v); });
  if (op == OpKind::kReduceSumSquare) return fold(0, add_square);
  if (op == OpKind::kReduceLogSum) return finish(fold(0, add), [](double v) { return std::log(v); });
  if (op == OpKind::kReduceLogSumExp) return LogSumExp(x, into, size);
  if (op == OpKind::kReduceMean) {
    return finish(fold(0, add), [per_result](double v) { return v / static_cast<double>(per_result); });
  }
  return fold(0, add);
}

// Sums and products wrap around (two's complement). T is uint64_t for u64, else int64_t.
template <typename T>
std::vector<int64_t> ReduceIntegers(OpKind op, const std::vector<int64_t>& x, const std::vector<int64_t>& into,
                                    int64_t size, int64_t per_result) {
  const std::vector<T> elements(x.begin(), x.end());
  std::vector<T> y;
  const auto add = [](T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); };
  const auto mul = [](T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); };
  if (op == OpKind::kReduceMax) {
    y = Fold<T>(elements, into, size, std::numeric_limits<T>::min(), [](T a, T b) { return std::max(a, b); });
  } else if (op == OpKind::kReduceMin) {
    y = Fold<T>(elements, into, size, std::numeric_limits<T>::max(), [](T a, T b) { return std::min(a, b); });
  } else if (op == OpKind::kReduceProd) {
    y = Fold<T>(elements, into, size, 1, mul);
  } else if (op == OpKind::kReduceL1) {
    y = Fold<T>(elements, into, size, 0,
                [&](T a, T b) { return add(a, b < T{0} ? static_cast<T>(0 - static_cast<uint64_t>(b)) : b); });
  } else if (op == OpKind::kReduceSumSquare) {
    y = Fold<T>(elements, into, size, 0, [&](T a, T b) { return add(a, mul(b, b)); });
  } else {
    y = Fold<T>(elements, into, size, 0, add);
    for (T& sum : y) sum = op == OpKind::kReduceMean ? sum / static_cast<T>(per_result) : sum;
  }
  return {y.begin(), y.end()};
}

bool NeedsReals(OpKind op) {
  return op == OpKind::kReduceL2 || op == OpKind::kReduceLogSum || op == OpKind::kReduceLogSumExp;
}

// The maximum (minimum) of an empty set is the least (greatest) number of the type.
int64_t OfNothing(OpKind op, DataType type) {
  if (type == DataType::kBool) return op == OpKind::kReduceMin;
  const int bits = static_cast<int>(ElementSize(type)) * 8;
  const bool is_signed =
      type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 || type == DataType::kInt64;
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  if (op == OpKind::kReduceMin) return static_cast<int64_t>(is_signed ? ones >> 1 : ones);
  return is_signed ? -static_cast<int64_t>(ones >> 1) - 1 : 0;
}

}  // namespace

Outputs Reduce(const Call& call) {
  const Tensor& x = call.in(0);
  OpKind op = call.node.op;
  if (op == OpKind::kReduceAll) op = OpKind::kReduceMin;  // of bools
  if (op == OpKind::kReduceAny) op = OpKind::kReduceMax;
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(call));
  Dims kept = x.dims(), dims;  // with 1 for reduced dimensions; and as keepdims requires
  for (int i = 0; i < x.rank(); ++i) {
    if (reduced[i]) kept[i] = 1;
    if (!reduced[i] || call.attributes().Bool("keepdims", true)) dims.push_back(kept[i]);
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<int64_t> into = Offsets(x.dims(), BroadcastStrides(kept, x.dims()));
  const int64_t size = Count(kept);
  const int64_t per_result = size == 0 ? 0 : x.num_elements() / size;
  if (IsFloatingPoint(x.type()) || NeedsReals(op)) {
    return std::vector<Tensor>{
        FromDoubles(call.type(), std::move(dims), ReduceReals(op, x.ToDoubles(), into, size, per_result))};
  }
  if (per_result == 0 && op == OpKind::kReduceMean && size > 0) return Error("the mean of no integers");
  if (per_result == 0 && (op == OpKind::kReduceMax || op == OpKind::kReduceMin)) {
    const std::vector<int64_t> y(size, OfNothing(op, x.type()));
    return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
  }
  const std::vector<int64_t> y = x.type() == DataType::kUInt64
                                     ? ReduceIntegers<uint64_t>(op, x.ToInts(), into, size, per_result)
                                     : ReduceIntegers<int64_t>(op, x.ToInts(), into, size, per_result);
  return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
