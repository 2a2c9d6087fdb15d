// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/matmul_integer_weights.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status.h"

namespace halftone::onednn {

bool IntegerWeights::symmetric() const {
  return std::ranges::all_of(zero_points, [](int32_t zero) { return zero == 0; });
}

absl::StatusOr<IntegerWeights> ReadIntegerWeights(const NodeContext& context, int zero_point) {
  const Tensor* b = context.Constant(1);
  if (b == nullptr || b->rank() != 2 || !IsInt8(b->type())) {
    return absl::UnimplementedError("for constant int8 weights of rank 2");
  }
  IntegerWeights weights{*b, {}};
  int32_t shift = 0;
  if (b->type() == DataType::kUInt8) {
    shift = 128;
    Tensor moved(DataType::kInt8, b->dims());
    const std::span<const uint8_t> from = b->data<uint8_t>();
    const std::span<int8_t> to = moved.mutable_data<int8_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<int8_t>(static_cast<int32_t>(from[i]) - shift);
    weights.tensor = std::move(moved);
  }
  std::vector<int64_t> zeros = {0};
  if (context.HasInput(zero_point)) {
    const Tensor* given = context.Constant(zero_point);
    if (given == nullptr) return absl::UnimplementedError("a computed zero point of b");
    zeros = given->ToInts();
  }
  const int64_t columns = weights.columns();
  if (zeros.size() != 1 && static_cast<int64_t>(zeros.size()) != columns) {
    return absl::UnimplementedError("zero points of b that are neither one nor one a column");
  }
  for (int64_t j = 0; j < columns; ++j) {
    weights.zero_points.push_back(static_cast<int32_t>(zeros[zeros.size() == 1 ? 0 : j]) - shift);
  }
  return weights;
}

absl::StatusOr<int64_t> RowsOfIntegers(const NodeContext& context, const IntegerWeights& weights) {
  const std::vector<int64_t> a = context.InputDims(0);
  if (!IsInt8(context.InputType(0)) || a.empty()) return absl::UnimplementedError("for int8 matrices");
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < a.size(); ++i) rows *= a[i];
  constexpr int64_t kLongestRow = 1 << 15;  // sums of 2^15 multiplications do not overflow 32 bits
  const int64_t k = weights.rows();
  if (a.back() != k || rows * k * weights.columns() == 0 || k > kLongestRow) {
    return absl::UnimplementedError("empty or very long rows");
  }
  return rows;
}

}  // namespace halftone::onednn
