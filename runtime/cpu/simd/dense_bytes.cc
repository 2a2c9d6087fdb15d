#include "runtime/cpu/simd/dense_bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/cpu/simd/dense.h"

namespace halftone::simd {
namespace {

// The loops read s8 as u8, 128 more.
constexpr int32_t kShift = 128;
constexpr int64_t kLongestRow = 65792;  // 255 * 128 * 65792 is within 32 bits

// In the order of memory.
std::vector<int32_t> SumsOfColumns(const DenseBytesProblem& problem, const int8_t* weights) {
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

absl::StatusOr<DenseBytes> MakeDenseBytes(DenseBytesProblem problem, const int8_t* weights) {
  if (problem.depth > kLongestRow) return absl::UnimplementedError("sums of so many products may leave 32 bits");
  const auto columns = static_cast<size_t>(DensePanels(problem.columns) * kPanelColumns);
  DenseBytes bytes{.starts = std::vector<int32_t>(columns),
                   .factors = std::move(problem.factors),
                   .offsets = std::move(problem.offsets),
                   .finish = problem.finish};
  bytes.factors.resize(columns);
  bytes.offsets.resize(columns);
  if (!problem.has_residual) bytes.bounds = BoundsOf(problem.finish);
  if (bytes.bounds.has_value()) {
    for (float& factor : bytes.factors) factor /= problem.finish.scale;
    for (float& offset : bytes.offsets) offset /= problem.finish.scale;
  }
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (!std::ranges::all_of(bytes.factors, is_finite) || !std::ranges::all_of(bytes.offsets, is_finite))
    return absl::UnimplementedError("factors beyond f32");

  const int32_t zero_point = problem.zero_point + (problem.type == DataType::kInt8 ? kShift : 0);
  if (zero_point == 0 || weights == nullptr) return bytes;
  const std::vector<int32_t> sums = SumsOfColumns(problem, weights);
  for (size_t j = 0; j < sums.size(); ++j) bytes.starts[j] = -zero_point * sums[j];
  return bytes;
}

}  // namespace halftone::simd
