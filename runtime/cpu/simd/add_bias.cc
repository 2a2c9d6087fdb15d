// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/add_bias.h"

#include <algorithm>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/round_floats.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int64_t kPiece = 2048;   // that stay in the nearest cache

// y may be x.
HALFTONE_SIMD void AddRow(const float* x, const float* bias, float* y, int64_t count) {
  HALFTONE_IVDEP
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] + bias[i];
}

}  // namespace

void AddBiasToRows(const float* sums, const float* bias, int64_t rows, int64_t channels, DataType to, void* y) {
  static const RoundFunctions functions = RoundFunctionsForThisCpu().front();
  const auto round = to == DataType::kFloat16 ? functions.to_f16 : functions.to_bf16;
  const int64_t width = std::min(channels, kPiece);
  const int64_t height = kPiece / width;
  ParallelFor(rows, std::max<int64_t>(1, kGrain / channels), [&](int64_t first, int64_t last) {
    if (to == DataType::kFloat32) {
      for (int64_t r = first; r < last; ++r)
        AddRow(sums + r * channels, bias, static_cast<float*>(y) + r * channels, channels);
      return;
    }
    // Several whole rows, or a part of one.
    alignas(64) float piece[kPiece];
    for (int64_t r = first; r < last; r += height) {
      const int64_t many = std::min(height, last - r);
      for (int64_t c = 0; c < channels; c += width) {
        const int64_t size = std::min(width, channels - c);
        for (int64_t i = 0; i < many; ++i) AddRow(sums + (r + i) * channels + c, bias + c, piece + i * size, size);
        round(piece, static_cast<uint16_t*>(y) + r * channels + c, many * size);
      }
    }
  });
}

}  // namespace halftone::simd
