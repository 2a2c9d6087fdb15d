// SPDX-License-Identifier: Apache-2.0
// Ops that compare or accumulate along one axis: arg_max, arg_min, cum_sum, cum_prod, top_k.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// x as [outer, size, inner] around one axis.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;

  Lines(const Dims& dims, int axis) {
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
      (i < axis ? outer : i == axis ? size : inner) *= dims[i];
    }
  }
  int64_t count() const { return outer * inner; }
  // Position of the first element of line `i`; the next ones follow with stride `inner`.
  int64_t begin(int64_t i) const { return i / inner * size * inner + i % inner; }
};

absl::StatusOr<int64_t> OneInt(const Call& call, size_t input, int64_t otherwise, std::string_view name) {
  if (!call.has(input)) return otherwise;
  const std::vector<int64_t> values = call.in(input).ToInts();
  if (values.size() != 1) return Error(name, " holds ", values.size(), " numbers, need one");
  return values[0];
}

// Orders numbers; NaN counts as the largest, so that the order is total.
bool Before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool Before(int64_t a, int64_t b) { return a < b; }
bool Before(uint64_t a, uint64_t b) { return a < b; }

// Calls `work` with the elements as double, int64_t or uint64_t, whichever represents them exactly.
template <typename Work>
auto WithElements(const Tensor& x, Work work) {
  if (IsFloatingPoint(x.type())) return work(x.ToDoubles());
  const std::vector<int64_t> integers = x.ToInts();
  if (x.type() == DataType::kUInt64) return work(std::vector<uint64_t>(integers.begin(), integers.end()));
  return work(integers);
}

}  // namespace

Outputs ArgMaxMin(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int64_t written, OneInt(call, 1, 0, "axis"));
  // A scalar counts as a vector of one element.
  const Dims from = x.rank() == 0 ? Dims{1} : x.dims();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, static_cast<int>(from.size())));
  const bool largest = call.node.op == OpKind::kArgMax;
  const bool last = call.attributes().Bool("select_last_index", false);
  Dims dims = x.dims();
  if (x.rank() > 0) {
    dims[axis] = 1;
    if (!call.attributes().Bool("keepdims", true)) dims.erase(dims.begin() + axis);
  }
  const Lines lines(from, axis);
  if (lines.size == 0 && lines.count() > 0) return Error("axis ", axis, " of x ", x.shape().ToString(), " is empty");
  const std::vector<int64_t> y = WithElements(x, [&](const auto& elements) {
    std::vector<int64_t> found(lines.count(), 0);
    for (int64_t line = 0; line < lines.count(); ++line) {
      const auto at = [&](int64_t i) { return elements[lines.begin(line) + i * lines.inner]; };
      int64_t best = 0;
      for (int64_t i = 1; i < lines.size; ++i) {
        const bool better = largest ? Before(at(best), at(i)) : Before(at(i), at(best));
        const bool worse = largest ? Before(at(i), at(best)) : Before(at(best), at(i));
        if (better || (last && !worse)) best = i;
      }
      found[line] = best;
    }
    return found;
  });
  return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
}

Outputs Cumulate(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int64_t written, OneInt(call, 1, 0, "axis"));
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, x.rank()));
  const bool product = call.node.op == OpKind::kCumProd;
  const bool exclusive = call.attributes().Bool("exclusive", false);
  const bool reverse = call.attributes().Bool("reverse", false);
  const Lines lines(x.dims(), axis);
  const auto run = [&]<typename T>(const std::vector<T>& elements) {
    std::vector<T> y(elements.size());
    for (int64_t line = 0; line < lines.count(); ++line) {
      T total = product ? T{1} : T{0};
      for (int64_t step = 0; step < lines.size; ++step) {
        const int64_t i = lines.begin(line) + (reverse ? lines.size - 1 - step : step) * lines.inner;
        if (exclusive) y[i] = total;
        total = product ? total * elements[i] : total + elements[i];
        if (!exclusive) y[i] = total;
      }
    }
    return y;
  };
  if (IsFloatingPoint(x.type())) {
    return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), run(x.ToDoubles()))};
  }
  const std::vector<int64_t> integers = x.ToInts();  // unsigned, so that they may wrap around
  const std::vector<uint64_t> y = run(std::vector<uint64_t>(integers.begin(), integers.end()));
  return std::vector<Tensor>{FromInts(call.type(), x.dims(), {y.begin(), y.end()})};
}

Outputs TopK(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", -1), x.rank()));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t k, OneInt(call, 1, 0, "k"));
  if (k < 0 || k > x.dims()[axis]) {
    return Error("k is ", k, ", need 0 to ", x.dims()[axis], ", the length of axis ", axis, " of x ",
                 x.shape().ToString());
  }
  const bool largest = call.attributes().Bool("largest", true);
  Dims dims = x.dims();
  dims[axis] = k;
  const Lines lines(x.dims(), axis), kept(dims, axis);
  std::vector<int64_t> offsets(kept.count() * k), indices(kept.count() * k);
  WithElements(x, [&](const auto& elements) {
    std::vector<int64_t> order(lines.size);
    for (int64_t line = 0; line < lines.count(); ++line) {
      const auto at = [&](int64_t i) { return elements[lines.begin(line) + i * lines.inner]; };
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        const bool first = largest ? Before(at(b), at(a)) : Before(at(a), at(b));
        const bool second = largest ? Before(at(a), at(b)) : Before(at(b), at(a));
        return first || (!second && a < b);
      });
      for (int64_t i = 0; i < k; ++i) {
        indices[kept.begin(line) + i * kept.inner] = order[i];
        offsets[kept.begin(line) + i * kept.inner] = lines.begin(line) + order[i] * lines.inner;
      }
    }
    return 0;
  });
  std::vector<Tensor> outputs{TakeElements(x, dims, offsets)};
  if (call.wants(1)) outputs.push_back(FromInts(call.types[1], dims, indices));
  return outputs;
}

}  // namespace halftone::reference
