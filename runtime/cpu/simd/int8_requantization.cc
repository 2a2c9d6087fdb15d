// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_requantization.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::simd {
namespace {

// The loops read s8 as u8, 128 more.
constexpr int32_t kShift = 128;
constexpr int64_t kLongestRow = 65792;  // 255 * 128 * 65792 is within 32 bits

// In the order of memory.
std::vector<int32_t> SumsOfColumns(const Int8RequantizationProblem& problem, const int8_t* weights) {
  std::vector<int32_t> sums(static_cast<size_t>(problem.columns));
  const bool columns_inside = problem.column_stride <= problem.depth_stride;
  const int64_t outer = columns_inside ? problem.depth : problem.columns;
  const int64_t inner = columns_inside ? problem.columns : problem.depth;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t j = 0; j < inner; ++j) {
      const int64_t k = columns_inside ? i : j, column = columns_inside ? j : i;
      sums[static_cast<size_t>(column)] += weights[k * problem.depth_stride + column * problem.column_stride];
    }
  }
  return sums;
}

}  // namespace

absl::StatusOr<Int8Requantization> MakeInt8Requantization(Int8RequantizationProblem problem, const int8_t* weights) {
  if (problem.depth > kLongestRow) return absl::UnimplementedError("sums of so many products may leave 32 bits");
  const auto columns = static_cast<size_t>(PanelCount(problem.columns) * kPanelColumns);
  Int8Requantization result{.starts = std::vector<int32_t>(columns),
                            .factors = std::move(problem.factors),
                            .offsets = std::move(problem.offsets),
                            .finish = problem.finish};
  result.factors.resize(columns);
  result.offsets.resize(columns);
  if (!problem.has_residual) result.bounds = BoundsOf(problem.finish);
  if (result.bounds.has_value()) {
    for (float& factor : result.factors) factor /= problem.finish.scale;
    for (float& offset : result.offsets) offset /= problem.finish.scale;
  }
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (!std::ranges::all_of(result.factors, is_finite) || !std::ranges::all_of(result.offsets, is_finite))
    return absl::UnimplementedError("factors beyond f32");

  const int32_t zero_point = problem.zero_point + (problem.type == DataType::kInt8 ? kShift : 0);
  if (zero_point == 0 || weights == nullptr) return result;
  const std::vector<int32_t> sums = SumsOfColumns(problem, weights);
  for (size_t j = 0; j < sums.size(); ++j) result.starts[j] = -zero_point * sums[j];
  return result;
}

}  // namespace halftone::simd
