// Sum, mean and maximum over some dimensions.

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
  // No axes are all axes, unless the attribute says none; in TensorFlow an empty list is none.
  const bool none = call.attributes().Bool("noop_with_empty_axes", false) ||
                    (call.has(1) && call.graph.format() == GraphFormat::kGraphDef);
  return std::vector<bool>(rank, !none);
}

// Folds every element of x into the result at into[i].
template <typename T, typename Combine>
std::vector<T> Fold(const std::vector<T>& x, const std::vector<int64_t>& into, int64_t size, T start, Combine combine) {
  std::vector<T> y(size, start);
  for (size_t i = 0; i < x.size(); ++i) y[into[i]] = combine(y[into[i]], x[i]);
  return y;
}

int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

Outputs Reduce(const Call& call) {
  const Tensor& x = call.in(0);
  const OpKind op = call.node.op;
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(call));
  Dims kept = x.dims(), dims;  // with ones for the reduced; as the attribute keepdims wants
  for (int i = 0; i < x.rank(); ++i) {
    if (reduced[i]) kept[i] = 1;
    if (!reduced[i] || call.attributes().Bool("keepdims", true)) dims.push_back(kept[i]);
  }
  const std::vector<int64_t> into = Offsets(x.dims(), BroadcastStrides(kept, x.dims()));
  const int64_t size = Count(kept);
  const int64_t per_result = size == 0 ? 0 : x.num_elements() / size;
  if (IsInteger(x.type()) && x.type() != DataType::kUInt64) {
    if (per_result == 0 && op != OpKind::kReduceSum && size > 0) return Error("the mean or maximum of no integers");
    const std::vector<int64_t> elements = x.ToInts();
    std::vector<int64_t> y = op == OpKind::kReduceMax
                                 ? Fold<int64_t>(elements, into, size, std::numeric_limits<int64_t>::min(),
                                                 [](int64_t a, int64_t b) { return std::max(a, b); })
                                 : Fold<int64_t>(elements, into, size, 0, WrappingAdd);
    if (op == OpKind::kReduceMean) {
      for (int64_t& sum : y) sum /= per_result;
    }
    return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
  }
  const std::vector<double> elements = x.ToDoubles();
  std::vector<double> y = op == OpKind::kReduceMax
                              ? Fold<double>(elements, into, size, -std::numeric_limits<double>::infinity(),
                                             [](double a, double b) { return std::isnan(a) || a > b ? a : b; })
                              : Fold<double>(elements, into, size, 0, [](double a, double b) { return a + b; });
  if (op == OpKind::kReduceMean) {
    for (double& sum : y) sum /= static_cast<double>(per_result);
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
